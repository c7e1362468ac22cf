"""What became of the documents and texts that a receipt quotes, and where in a text a quote stands now. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.receipts.report import Against, DocumentState

LogState: TypeAlias = Literal["same", "changed", "gone"]
_TELLING_LINE = 24
"""Shortest line, in characters, that tells where a passage stands now."""
_MARGIN = 400
"""Characters on each side of a passage that has moved: what introduces it may have moved by as much."""


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A document of a receipt as it is now; ``text`` is None where it is gone or cannot be read."""

    state: DocumentState
    text: str | None = None
    found: str = ""
    sha256: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class FoundSources:
    """Everything that a receipt is compared with.

    Attributes:
        against: Where it was looked for.
        documents: One for each document of the receipt.
        texts: One for each text of the receipt, as it is stored now; None where it is gone, or only the receipt has it.
        log: What became of the run's log; None where there is no log to compare with.
    """

    against: Against
    documents: tuple[FoundDocument, ...]
    texts: tuple[str | None, ...] = ()
    log: LogState | None = None


def find_quote(text: str, quote: str, expected: int) -> tuple[int, int] | None:
    """Where a text holds a quote: at its old place, else at the nearest one, else with other white space."""
    if text[expected : expected + len(quote)] == quote:
        return expected, expected + len(quote)
    places = [match.start() for match in re.finditer(re.escape(quote), text)]
    if places:
        nearest = min(places, key=lambda place: abs(place - expected))
        return nearest, nearest + len(quote)
    words = quote.split()
    if not words:
        return None
    spans = [match.span() for match in re.finditer(r"\s+".join(re.escape(word) for word in words), text)]
    return min(spans, key=lambda span: abs(span[0] - expected), default=None)


def passage_now(text: str, passage: str, start: int) -> str:
    """The stretch of a text where a passage stands, or where its lines point to; as it was where nothing has moved."""
    if text[start : start + len(passage)] == passage:
        return passage
    offset = 0
    for line in passage.splitlines(keepends=True):
        words = line.strip()
        if len(words) >= _TELLING_LINE and (place := find_quote(text, words, start + offset)):
            start = place[0] - offset - (len(line) - len(line.lstrip()))
            break
        offset += len(line)
    return text[max(0, start - _MARGIN) : max(0, start + len(passage) + _MARGIN)]
