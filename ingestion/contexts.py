"""What a part of a block needs from further up to be understood: its table's header, the items above a nested item."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ingestion.types import Block, ParsedDocument
from ingestion.units import CountTokens, Unit, measure

_DELIMITER_ROW = re.compile(r"[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*\Z")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_ITEM = re.compile(r"^([ \t]*)((?:[-*+\u2022]|\d{1,9}[.)])[ \t]+\S.*)$", re.MULTILINE)
_MAX_HEADER_SHARE = 0.5
"""A header may take this share of a chunk; of a larger one the first columns are kept."""


@dataclass(frozen=True, slots=True)
class TableHeader:
    """The header row of a table; ``char_end`` is the end of its delimiter row, ``size`` its length in tokens."""

    text: str
    size: int
    char_end: int


def table_headers(
    text: str, blocks: Sequence[Block], sizes: Sequence[int], limits: Sequence[int], count_tokens: CountTokens
) -> dict[int, TableHeader]:
    """Headers, by block, of the Markdown tables that are too large for one chunk."""
    found = {
        index: rows
        for index, block in enumerate(blocks)
        if block.kind == "table" and sizes[index] > limits[index] and (rows := _header_rows(text, block))
    }
    spans = [(start, end) for start, end, _ in found.values()]
    counted = dict(zip(found, measure(text, spans, count_tokens), strict=True))
    headers: dict[int, TableHeader] = {}
    for index, (start, end, char_end) in found.items():
        header, size = text[start:end].strip(), counted[index]
        room = int(limits[index] * _MAX_HEADER_SHARE)
        while header and size > room:
            header = _first_columns(header, room / size)
            size = measure(header, [(0, len(header))], count_tokens)[0] if header else 0
        if header:
            headers[index] = TableHeader(header, size, char_end)
    return headers


def with_contexts(
    document: ParsedDocument,
    units: Sequence[Unit],
    *,
    headers: Mapping[int, TableHeader],
    limit: int,
    count_tokens: CountTokens,
) -> list[Unit]:
    """The units with the context that a chunk needs which begins with them, where both fit the limit in tokens."""
    text, blocks = document.text, document.blocks
    ancestors: dict[int, _ListOutline] = {}
    contexts: list[str] = []
    for unit in units:
        block, header = blocks[unit.block], headers.get(unit.block)
        if header is not None and unit.char_start >= header.char_end:
            contexts.append(header.text)
        elif block.kind == "list" and unit.char_start > block.char_start:
            outline = ancestors.get(unit.block) or _outline(text, block)
            ancestors[unit.block] = outline
            contexts.append(outline.above(unit.char_start))
        else:
            contexts.append("")
    distinct = sorted({context for context in contexts if context})
    sizes = dict(zip(distinct, count_tokens(distinct) if distinct else [], strict=True))
    return [
        replace(unit, context=context, context_size=sizes[context])
        if context and unit.size + sizes[context] <= limit
        else unit
        for unit, context in zip(units, contexts, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _ListOutline:
    """Items of a list by their place, with the first lines of the items that they are nested in."""

    starts: Sequence[int]
    ancestors: Sequence[str]

    def above(self, char_start: int) -> str:
        """First lines of the items above the place; empty for items of the outermost level."""
        index = bisect_right(self.starts, char_start) - 1
        return self.ancestors[index] if index >= 0 else ""


def _outline(text: str, block: Block) -> _ListOutline:
    starts: list[int] = []
    ancestors: list[str] = []
    path: list[tuple[int, str]] = []
    for match in _ITEM.finditer(text, block.char_start, block.char_end):
        indent = len(match[1].expandtabs(4))
        path = [entry for entry in path if entry[0] < indent]
        starts.append(match.start())
        ancestors.append("\n".join(line for _, line in path))
        path.append((indent, match[1] + match[2].rstrip()))
    return _ListOutline(starts, ancestors)


def _header_rows(text: str, block: Block) -> tuple[int, int, int] | None:
    """Start and end of the header row and end of the delimiter row; None for a table of another form."""
    first_end = text.find("\n", block.char_start, block.char_end)
    if first_end < 0:
        return None
    second_end = text.find("\n", first_end + 1, block.char_end)
    if second_end < 0 or not _DELIMITER_ROW.match(text, first_end + 1, second_end):
        return None
    return (block.char_start, first_end, second_end) if text[block.char_start : first_end].strip(" |\t>") else None


def _first_columns(header: str, share: float) -> str:
    """About this share of a header row, whole cells; always fewer than before, and empty when none is left."""
    borders = [match.end() for match in _CELL_BORDER.finditer(header)]
    keep = min(int(len(borders) * share), len(borders) - 1)
    return header[: borders[keep - 1]] if keep > 1 else ""
