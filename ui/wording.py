"""Words and figures for people."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from agents.answer import Claim, Usage, Verdict

VERDICTS: Final[dict[Verdict, str]] = {
    "verified": "Verified",
    "partial": "Partly supported",
    "unsupported": "Not supported",
}
GLYPHS: Final[dict[Verdict, str]] = {"verified": "✓", "partial": "≈", "unsupported": "!"}
_WRAPPED = re.compile(r"^[^\s|#].{59,}[^\\\n]\n$")
"""A line of prose so long that it was wrapped by whoever wrote it, not ended."""
_PROSE = re.compile(r"[^\W\d]|[\"'`(*\d](?![.)\-*`])")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+\-.!|~$:^=])")


def literal(text: str) -> str:
    """The text for a place that reads Markdown, such as a label: every sign in it stands for itself."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def shorten(text: str, length: int) -> str:
    """The text on one line of at most ``length`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def reflowed(text: str) -> str:
    """The text with the line breaks of wrapped prose turned into spaces; every character keeps its place."""
    pieces: list[str] = []
    is_code = False
    for line in text.splitlines(keepends=True):
        is_code ^= line.lstrip().startswith(("```", "~~~"))
        continues = bool(pieces) and not is_code and _PROSE.match(line) and _WRAPPED.search(pieces[-1])
        if continues:
            pieces[-1] = pieces[-1][:-1] + " "
        pieces.append(line)
    return "".join(pieces)


def place(title: str, page: int | None, section: str) -> str:
    """Where a passage stands: title, page and section, as far as they are known and differ."""
    below = section.removeprefix(title).strip(" >")
    parts = [title, "" if page is None else f"page {page}", below]
    return " · ".join(part for part in parts if part)


def plural(count: int, one: str, many: str = "") -> str:
    """``1 passage``, ``3 passages``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def seconds(milliseconds: float) -> str:
    """A duration as people read it."""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


def size(size_bytes: int) -> str:
    """A size in the largest unit that leaves a whole figure."""
    value = float(size_bytes)
    for unit in ("B", "kB", "MB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} GB"


def claims_summary(claims: tuple[Claim, ...]) -> str:
    """How many claims have which verdict: ``3 verified, 1 not supported``."""
    counts = Counter(claim.verdict for claim in claims)
    return ", ".join(f"{counts[verdict]} {label.lower()}" for verdict, label in VERDICTS.items() if counts[verdict])


def tokens(usage: Usage) -> str:
    """Token counts of an answer."""
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return f"{usage.prompt_tokens:,} tokens read{cached}, {usage.completion_tokens:,} written"
