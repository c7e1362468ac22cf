"""Paragraphs, lists and tables of a document that is read as one flow, gathered until a block is whole."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from ingestion.loaders.assembly import DocumentAssembly
from ingestion.loaders.grid import Cell, lay_out, render
from ingestion.loaders.normalise import collapse

_NEAR_TWIPS = 40
"""Cell borders that lie closer than this (0.7 mm) are one border."""
_MAX_LEVEL = 8


@dataclass(frozen=True, slots=True)
class CellBorder:
    """Right border of a cell in twips, and whether the cell continues the one on its left or above it."""

    right: int
    continues_left: bool = False
    continues_above: bool = False


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """What a paragraph's properties say of it: heading level from 1, 0 for body text."""

    level: int = 0
    is_title: bool = False
    list_level: int = 0


@dataclass(slots=True)
class FlowBlocks:
    """Adds blocks to a document in reading order; notes and boxes follow the block they are anchored in."""

    assembly: DocumentAssembly = field(default_factory=DocumentAssembly)
    title: str = ""
    _items: list[str] = field(default_factory=list[str])
    _cells: list[str] = field(default_factory=list[str])
    _rows: list[tuple[list[str], tuple[CellBorder, ...]]] = field(
        default_factory=list[tuple[list[str], tuple[CellBorder, ...]]]
    )
    _anchored: list[str] = field(default_factory=list[str])

    def anchor(self, text: str) -> None:
        """Keep a note, comment or box for behind the current block."""
        if text.strip():
            self._anchored.append(text)

    def paragraph(self, text: str, style: ParagraphStyle, marker: str) -> None:
        """End a paragraph outside tables; ``marker`` is the number or bullet that it was shown with."""
        self._end_table()
        if not text.strip():
            return
        if style.level or style.is_title:
            self._end_list()
            self.title = self.title or (collapse(text) if style.is_title else "")
            self.assembly.heading(text, level=max(style.level, 1))
        elif marker:
            label = marker if any(letter.isalnum() for letter in marker) else "-"
            indentation = "  " * min(style.list_level, _MAX_LEVEL)
            self._items.append(f"{indentation}{label} {collapse(text)}")
            return
        else:
            self._end_list()
            self.assembly.add("paragraph", text.strip())
        self._add_anchored()

    def cell(self, text: str) -> None:
        """End a cell of a table row."""
        self._cells.append(text)

    def row(self, borders: Sequence[CellBorder]) -> None:
        """End a table row."""
        self._end_list()
        if self._cells:
            self._rows.append((self._cells, tuple(borders)))
            self._cells = []

    def end(self) -> None:
        """Add what is not yet in the document."""
        self._end_table()
        self._end_list()

    def _end_list(self) -> None:
        if self._items:
            self.assembly.add("list", "\n".join(self._items))
            self._items.clear()
            self._add_anchored()

    def _end_table(self) -> None:
        if self._cells:
            self.row(())
        if not self._rows:
            return
        rows, self._rows = self._rows, []
        if all(len(cells) == 1 for cells, _ in rows):
            for cells, _ in rows:
                self.assembly.add("paragraph", cells[0].strip())
        else:
            self.assembly.add("table", render(_grid(rows)))
        self._add_anchored()

    def _add_anchored(self) -> None:
        for text in self._anchored:
            self.assembly.add("paragraph", text.strip())
        self._anchored.clear()


def _grid(rows: Sequence[tuple[Sequence[str], Sequence[CellBorder]]]) -> list[list[str]]:
    """Texts of the cells in rectangular rows; a merged cell's text stands in each place it covers."""
    columns = _columns([border.right for _, borders in rows for border in borders])
    grid: list[list[str]] = []
    for cells, borders in rows:
        line: list[Cell] = []
        place = 0
        for number, text in enumerate(cells):
            border = borders[number] if number < len(borders) else None
            span = max(1, bisect_right(columns, border.right + _NEAR_TWIPS) - place) if border else 1
            if border and border.continues_above and grid and place < len(grid[-1]):
                text = grid[-1][place]
            elif border and border.continues_left and line:
                text = line[-1].text
            line.append(Cell(text, span))
            place += span
        grid.extend(lay_out([line]))
    return grid


def _columns(borders: Sequence[int]) -> list[int]:
    """Distinct right borders from left to right; those close together are one."""
    columns: list[int] = []
    for border in sorted(set(borders)):
        if bisect_left(columns, border - _NEAR_TWIPS) == len(columns):
            columns.append(border)
    return columns
