"""Tables as Markdown: one line a row, the first row is the header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.loaders.normalise import collapse

_MAX_SPAN = 1000
_MAX_CELLS = 500_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell and how many columns and rows it covers."""

    text: str
    columns: int = 1
    rows: int = 1


def lay_out(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """Rectangular rows; a spanning cell's text stands in every place it covers, so that each row reads alone.

    A cell that is alone in its row is a caption of what follows: its text stands once.
    """
    grid: list[list[str]] = []
    carried: dict[int, tuple[str, int]] = {}
    total = 0
    for row in rows:
        line: list[str] = []
        following: dict[int, tuple[str, int]] = {}
        cells = iter(row)
        cell = next(cells, None)
        while cell is not None or any(column >= len(line) for column in carried):
            column = len(line)
            if column in carried:
                text, left = carried[column]
                line.append(text)
                if left > 1:
                    following[column] = (text, left - 1)
            elif cell is None:
                line.append("")
            else:
                for offset in range(min(max(cell.columns, 1), _MAX_SPAN)):
                    line.append("" if offset and len(row) == 1 else cell.text)
                    if cell.rows > 1:
                        following[column + offset] = (cell.text, min(cell.rows, _MAX_SPAN) - 1)
                cell = next(cells, None)
        carried = following
        total += len(line)
        grid.append(line)
        if total > _MAX_CELLS:
            break
    return grid


def render(grid: Sequence[Sequence[str]], *, keep_empty_header: bool = False) -> str:
    """A Markdown table without rows that hold no text, save such a header if asked; empty for a grid without text."""
    rows = [[_escape(text) for text in row] for row in grid]
    rows = [row for number, row in enumerate(rows) if any(row) or (number == 0 and keep_empty_header)]
    if not any(map(any, rows)):
        return ""
    width = max(len(row) for row in rows)
    lines = [_line([*row, *[""] * (width - len(row))]) for row in rows]
    return "\n".join([lines[0], _line(["---"] * width), *lines[1:]])


def _escape(text: str) -> str:
    return collapse(text).replace("|", "\\|")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
