"""Tables drawn with characters, as reStructuredText has them, to rows of cells."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingestion.loaders.normalise import collapse

GRID_LINE = re.compile(r"\s*\+(?:[-=]+\+)+\s*\Z")
"""The border of a grid table."""
SIMPLE_LINE = re.compile(r"\s*={2,}(?:\s+={2,})+\s*\Z")
"""The border of a simple table."""


def grid_rows(lines: Sequence[str]) -> list[list[str]]:
    """Rows of a grid table; a cell over several columns stands in each."""
    edges = [match.start() for match in re.finditer(r"\+", lines[0])]
    rows: list[list[str]] = []
    group: list[str] = []
    for line in lines:
        if GRID_LINE.match(line):
            if group:
                rows.append(_grid_cells(group, edges))
            group = []
        else:
            group.append(line)
    if group:
        rows.append(_grid_cells(group, edges))
    return rows


def _grid_cells(group: Sequence[str], edges: Sequence[int]) -> list[str]:
    cells: list[str] = []
    start = 0
    for index in range(1, len(edges)):
        if index < len(edges) - 1 and any(line[edges[index] : edges[index] + 1] not in ("|", "+") for line in group):
            continue
        text = collapse(" ".join(line[edges[start] + 1 : edges[index]] for line in group))
        cells.extend([text] * (index - start))
        start = index
    return cells


def simple_rows(lines: Sequence[str]) -> list[list[str]]:
    """Rows of a simple table; a line without text in its first column goes on with the row above."""
    columns = [match.start() for match in re.finditer(r"=+", lines[0])]
    rows: list[list[str]] = []
    for line in lines:
        if not line.strip() or SIMPLE_LINE.match(line) or re.fullmatch(r"[\s-]+", line):
            continue
        cells = [line[start:end].strip() for start, end in zip(columns, [*columns[1:], None], strict=True)]
        if rows and not cells[0]:
            rows[-1] = [collapse(f"{above} {cell}") for above, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows
