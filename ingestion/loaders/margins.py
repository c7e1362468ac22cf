"""Headers and footers of documents that store them apart: each once, labelled, and not those that only number pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ingestion.loaders.normalise import collapse

_PAGE_NUMBER = re.compile(
    r"[\W\d]*(?:page|seite|p|s|стр|página|pagina)?[\W\d]*(?:of|von|de|di|sur|из)?[\W\d]*", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_RULE = re.compile(r"_{3,}")
"""A line drawn with underscores."""


def margin_lines(label: str, texts: Iterable[str]) -> list[str]:
    """Lines such as ``Header: Runbook``; of texts that differ in figures alone, as page numbers do, the first."""
    found: dict[str, str] = {}
    for text in texts:
        line = collapse(_RULE.sub(" ", text))
        if not _PAGE_NUMBER.fullmatch(line):
            found.setdefault(_DIGITS.sub("", line), f"{label}: {line}")
    return list(found.values())
