"""Tables that are drawn with lines on a PDF page: lines to a grid, the letters inside its cells to rows.

Tables without ruled lines are left to the running text, as guesses about columns put words into wrong cells. Every
function here is called with ``pdf_open.PDFIUM`` held.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.loaders.grid import Cell, lay_out, render
from ingestion.loaders.pdf_layout import Line
from ingestion.loaders.pdf_rules import Rule, rules_of

_MEET = 3.0
"""Points by which lines that meet may miss each other."""
_MAX_RULES = 1500
_MAX_CELLS = 20_000
_MIN_FILLED = 0.3
"""Share of cells with text; fewer are a chart's grid or a drawing."""
_MAX_CELL_CHARACTERS = 1500
"""A cell with more is a frame around the page's text."""


class _Letter(NamedTuple):
    x: float
    y: float
    text: str


@dataclass(frozen=True, slots=True)
class RuledTable:
    """A table as Markdown and where it stands, in points of the page's own space."""

    left: float
    bottom: float
    right: float
    top: float
    columns: tuple[float, ...]
    markdown: str

    def holds(self, x: float, y: float) -> bool:
        """Whether a point lies inside."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top


def ruled_tables(paths: Sequence[pdfium.PdfObject], text_page: pdfium.PdfTextPage) -> list[RuledTable]:
    """Tables with two rows and columns at least.

    Args:
        paths: What is drawn on the page beside text and pictures.
        text_page: Its text.
    """
    rules = rules_of(paths)
    if not 4 <= len(rules) <= _MAX_RULES:
        return []
    grids = [grid for group in _connected(rules) if (grid := _Grid.of(group)) is not None]
    if not grids:
        return []
    letters = list(_letters(text_page))
    tables = (grid.table(letters) for grid in grids)
    return [table for table in tables if table is not None]


def with_tables(lines: Sequence[Line], tables: Sequence[RuledTable]) -> tuple[Line, ...]:
    """Lines of a page with each table in the place of the first line inside it.

    A table is left to the running text when a line runs across its edge, as that line has words of both sides.
    """
    inside = {table: [line for line in lines if table.holds(line.left, line.top)] for table in tables}
    whole = {
        table: members
        for table, members in inside.items()
        if members and all(table.holds(line.right, line.bottom) for line in members)
    }
    firsts = {id(members[0]): table for table, members in whole.items()}
    replaced = {id(line) for members in whole.values() for line in members}
    kept: list[Line] = []
    for line in lines:
        table = firsts.get(id(line))
        if table is not None:
            kept.append(replace(line, text=table.markdown, bold=False, bottom=table.bottom, columns=table.columns))
        elif id(line) not in replaced:
            kept.append(line)
    return tuple(kept)


def _connected(rules: Sequence[Rule]) -> list[list[Rule]]:
    """Lines in groups that touch one another."""
    group = list(range(len(rules)))

    def root(index: int) -> int:
        while group[index] != index:
            group[index] = group[group[index]]
            index = group[index]
        return index

    level = [index for index, rule in enumerate(rules) if rule.level]
    upright = [index for index, rule in enumerate(rules) if not rule.level]
    for first in level:
        for second in upright:
            if _crosses(rules[first], rules[second]):
                group[root(first)] = root(second)
    groups: dict[int, list[Rule]] = {}
    for index, rule in enumerate(rules):
        groups.setdefault(root(index), []).append(rule)
    return list(groups.values())


def _crosses(level: Rule, upright: Rule) -> bool:
    return (
        level.start - _MEET <= upright.at <= level.end + _MEET
        and upright.start - _MEET <= level.at <= upright.end + _MEET
    )


@dataclass(frozen=True, slots=True)
class _Grid:
    """Lines of one table. ``xs`` and ``ys`` are where they stand, ascending."""

    rules: Sequence[Rule]
    xs: tuple[float, ...]
    ys: tuple[float, ...]

    @classmethod
    def of(cls, rules: Sequence[Rule]) -> _Grid | None:
        xs = _distinct(rule.at for rule in rules if not rule.level)
        ys = _distinct(rule.at for rule in rules if rule.level)
        fits = len(xs) > 2 and len(ys) > 2 and (len(xs) - 1) * (len(ys) - 1) <= _MAX_CELLS
        return cls(rules, xs, ys) if fits else None

    def table(self, letters: Iterable[_Letter]) -> RuledTable | None:
        """The table with its text; None where it is no table after all."""
        columns, rows = len(self.xs) - 1, len(self.ys) - 1
        texts: dict[tuple[int, int], list[str]] = {}
        heads = self._heads()
        for letter in letters:
            place = self._place(letter)
            if place is not None:
                texts.setdefault(heads[place], []).append(letter.text)
        if any(len(text) > _MAX_CELL_CHARACTERS for text in texts.values()):
            return None
        spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
        for place, head in heads.items():
            spans.setdefault(head, []).append(place)
        if len(texts) < _MIN_FILLED * len(spans) or len(spans) < 4:
            return None
        lines = [
            [_cell(head, spans[head], texts) for column in range(columns) if (head := (row, column)) in spans]
            for row in range(rows)
        ]
        markdown = render(lay_out(lines))
        return RuledTable(self.xs[0], self.ys[0], self.xs[-1], self.ys[-1], self.xs, markdown) if markdown else None

    def _place(self, letter: _Letter) -> tuple[int, int] | None:
        """Row from the top and column."""
        column, row = bisect_right(self.xs, letter.x) - 1, bisect_right(self.ys, letter.y) - 1
        if not (0 <= column < len(self.xs) - 1 and 0 <= row < len(self.ys) - 1):
            return None
        return len(self.ys) - 2 - row, column

    def _heads(self) -> dict[tuple[int, int], tuple[int, int]]:
        """For each place the first place, row before column, of the cell that covers it."""
        columns, rows = len(self.xs) - 1, len(self.ys) - 1
        walls = _Walls.of(self)
        heads: dict[tuple[int, int], tuple[int, int]] = {}
        for row in range(rows):
            for column in range(columns):
                if (row, column) in heads:
                    continue
                right = column + 1
                while right < columns and (row, right) not in heads and not walls.beside(row, right):
                    right += 1
                below = row + 1
                while below < rows and not any(walls.above(below, place) for place in range(column, right)):
                    below += 1
                for place in ((r, c) for r in range(row, below) for c in range(column, right)):
                    heads[place] = (row, column)
        return heads


@dataclass(frozen=True, slots=True)
class _Walls:
    """Which neighbours a line parts."""

    upright: frozenset[tuple[int, int]]
    level: frozenset[tuple[int, int]]

    @classmethod
    def of(cls, grid: _Grid) -> _Walls:
        rows = len(grid.ys) - 1
        upright: set[tuple[int, int]] = set()
        level: set[tuple[int, int]] = set()
        for rule in grid.rules:
            across = grid.ys if rule.level else grid.xs
            at = min(range(len(across)), key=lambda index: abs(across[index] - rule.at))
            along = grid.xs if rule.level else grid.ys
            for place in range(len(along) - 1):
                if not rule.start - _MEET <= (along[place] + along[place + 1]) / 2 <= rule.end + _MEET:
                    continue
                if rule.level:
                    level.add((rows - at, place))
                else:
                    upright.add((rows - 1 - place, at))
        return cls(frozenset(upright), frozenset(level))

    def beside(self, row: int, column: int) -> bool:
        """Whether a line stands left of a place."""
        return (row, column) in self.upright

    def above(self, row: int, column: int) -> bool:
        """Whether a line lies above a place."""
        return (row, column) in self.level


def _cell(head: tuple[int, int], places: Sequence[tuple[int, int]], texts: dict[tuple[int, int], list[str]]) -> Cell:
    rows, columns = {row for row, _ in places}, {column for _, column in places}
    return Cell("".join(texts.get(head, ())), len(columns), len(rows))


def _distinct(values: Iterable[float]) -> tuple[float, ...]:
    """Places in ascending order, those of the same line once."""
    kept: list[float] = []
    for value in sorted(values):
        if not kept or value - kept[-1] > _MEET:
            kept.append(value)
    return tuple(kept)


def _letters(text_page: pdfium.PdfTextPage) -> Iterator[_Letter]:
    """Characters in PDFium's order with the middle of each; blanks stand where the one before them stands."""
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    handle = cast("object", text_page.raw)
    x = y = 0.0
    for index in range(cast("int", text_page.count_chars())):
        text = chr(cast("int", pdfium_c.FPDFText_GetUnicode(handle, index)))
        if text.isspace():
            yield _Letter(x, y, " ")
            continue
        pdfium_c.FPDFText_GetCharBox(handle, index, left, right, bottom, top)
        x, y = (left.value + right.value) / 2, (bottom.value + top.value) / 2
        yield _Letter(x, y, text)
