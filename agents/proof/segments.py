"""Text into its smallest quotable parts: sentences, list items, table rows, lines of code. Offsets are true."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

SegmentKind: TypeAlias = Literal["sentence", "item", "row", "code", "heading", "rule"]


class Segment(NamedTuple):
    """A part of a text; ``block`` numbers paragraphs, lists, tables and code blocks in order.

    ``lead`` is the index of the segment that introduces this one (the sentence before a list, the header of a table,
    the first sentence of a list item), or -1.
    """

    kind: SegmentKind
    start: int
    end: int
    block: int
    lead: int = -1


BORDER = re.compile(r"(?<!\\)\||\t")
"""Between two cells of a table row."""
_FENCE = re.compile(r"[ \t]*(?:>[ \t]*)*(`{3,}|~{3,})")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+\S")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)]|\([a-z\d]\))[ \t]+(?=\S)")
_ROW = re.compile(r"[ \t]*\|.*|[^|\n]*\S[ \t]\|[ \t]\S.*\|.*|[^\t\n]+\t[^\t\n]+.*")
_RULE = re.compile(r"[\s|:+=*_-]+")
_SHORT = (
    "e.g|i.e|etc|vs|cf|fig|figs|no|nos|dr|mr|mrs|ms|prof|st|approx|resp|inc|ltd|co|jr|sr|vol|pp|ed|eds|al|dept|est|"
    "jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|max|min|incl|excl|ca|u.s|a.m|p.m"
)
_STOP = re.compile(
    r"(?P<mark>[.!?…]+|[。！？]+)(?P<close>[\"'”’)\]*_`»]*)(?=(?P<gap>\s+|$)|(?<=[。！？])|(?<=[。！？][”’」])|(?=\[\d))"
)
_ABBREVIATION = re.compile(rf"(?:^|[\s(\[*_])(?:{_SHORT}|[A-Z])$", re.IGNORECASE)


def segment(text: str) -> list[Segment]:
    """Segments in order, without overlap; blank text gives none."""
    segments: list[Segment] = []
    paragraph: list[tuple[int, int]] = []
    fence, block = "", 0
    for start, end in _lines(text):
        line = text[start:end]
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            elif line.strip():
                segments.append(Segment("code", *_trim(text, start, end), block))
            continue
        kind = _line_kind(line, mark)
        if kind == "text":
            paragraph.append((start, end))
            continue
        block = _flush(text, paragraph, segments, block)
        if kind == "fence":
            fence, block = str(mark and mark[1]), block + 1
        elif kind == "item":
            paragraph.append((start, end))
        elif kind != "blank":
            last = segments[-1] if segments else None
            same = kind in ("row", "rule") and last is not None and last.kind in ("row", "rule")
            same = same and not text[last.end : start].strip("\n\r \t|") if last else False
            block += not same
            segments.append(Segment(kind, *_trim(text, start, end), block))
    _flush(text, paragraph, segments, block)
    return _with_leads(text, segments)


def _line_kind(line: str, mark: re.Match[str] | None) -> Literal["blank", "fence", "text"] | SegmentKind:
    if not line.strip():
        return "blank"
    if mark:
        return "fence"
    if _HEADING.match(line):
        return "heading"
    if _RULE.fullmatch(line) and len(line.strip()) > 2:
        return "rule"
    if _ROW.fullmatch(line.rstrip("\r")):
        return "row"
    return "item" if _ITEM.match(line) else "text"


def column_at(row: str, place: int) -> int:
    """The column, from 0, of a character of a table row."""
    return max(0, bisect_left(_borders(row), place) - row.lstrip().startswith("|"))


@lru_cache(maxsize=1024)
def _borders(row: str) -> tuple[int, ...]:
    return tuple(match.start() for match in BORDER.finditer(row))


def split_sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Offsets of the sentences in a slice of a text; abbreviations, decimals and dotted names do not end one."""
    sentences: list[tuple[int, int]] = []
    begin = start
    for match in _STOP.finditer(text, start, end):
        if not _ends_sentence(text, begin, match, end):
            continue
        stop = match.end("close")
        sentences.append(_trim(text, begin, stop))
        begin = stop
    if text[begin:end].strip():
        sentences.append(_trim(text, begin, end))
    return [(a, b) for a, b in sentences if b > a]


def _ends_sentence(text: str, begin: int, match: re.Match[str], end: int) -> bool:
    if match["mark"][0] in "。！？":
        return True
    if not (match["gap"] is None or match.end("close") + len(match["gap"]) <= end or match.end("close") >= end):
        return False
    if match["mark"] != ".":
        return True
    if _ABBREVIATION.search(text, max(begin, match.start() - 12), match.start()):
        return False
    if re.fullmatch(r"[\s>*_-]*\(?\d{1,3}", text[begin : match.start()]):
        return False
    following = text[match.end() : match.end() + 3].lstrip()
    return not (following[:1].islower() and "`" not in match["close"])


def _flush(text: str, paragraph: list[tuple[int, int]], segments: list[Segment], block: int) -> int:
    if not paragraph:
        return block
    start, end = paragraph[0][0], paragraph[-1][1]
    item = _ITEM.match(text, start, end)
    body = item.end() if item else start
    first = len(segments)
    for number, (a, b) in enumerate(split_sentences(text, body, end)):
        lead = first if item and number else -1
        segments.append(Segment("item" if item else "sentence", a, b, block + 1, lead))
    paragraph.clear()
    return block + 1


def _with_leads(text: str, segments: list[Segment]) -> list[Segment]:
    """Give list items and code the sentence that introduces them, table rows their header."""
    result: list[Segment] = []
    lead, header, header_block = -1, -1, -1
    for number, part in enumerate(segments):
        if part.kind in ("sentence", "heading"):
            ends_open = text[part.end - 1] in ":：" or text[part.start : part.end].rstrip("*_`").endswith(":")
            lead = number if ends_open else -1
        if part.kind == "row" and part.block != header_block:
            header, header_block = number, part.block
            result.append(part)
        elif part.kind == "row":
            result.append(part._replace(lead=header))
        elif part.kind in ("item", "code") and part.lead < 0:
            result.append(part._replace(lead=lead))
        else:
            result.append(part)
    return result


def _lines(text: str) -> list[tuple[int, int]]:
    lines: list[tuple[int, int]] = []
    start = 0
    for line in text.splitlines(keepends=True):
        lines.append((start, start + len(line.rstrip("\r\n"))))
        start += len(line)
    return lines


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
