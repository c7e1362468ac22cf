"""Claims about cells of tables with labels by construction: a figure under its title and in its row, or in another one.

What a table says of a cell is put into one plain sentence; the false ones take the figure from another column of the
row, or from another row of the column. See ``evals.seeded_faults`` for sentences.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evals.seeded_faults import Case, Corpus, passages_beside, plain

_TABLE = re.compile(r"(?m)^\|.+\|[ \t]*\n\|[ :|-]+\|[ \t]*\n(?:\|.+\|[ \t]*(?:\n|\Z))+")
_BORDER = re.compile(r"(?<!\\)\|")
_FIGURE = re.compile(r"[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?%|\s?[A-Za-z]+(?:\s[a-z]+){0,2})?")
"""A number with up to three words of a unit, nothing else."""


class Cell(NamedTuple):
    """A figure in a table, what its column is called, and what its row is."""

    title: str
    label: str
    value: str
    others_of_row: tuple[str, ...]
    """Figures under other titles."""
    others_of_column: tuple[str, ...]
    """Figures of other rows under the same title, none of which its own row has."""


def table_cases(corpus: Corpus, documents: Iterable[str], *, seed: int, per_document: int = 3) -> list[Case]:
    """Cases from the tables of these documents; none from a document without a table that holds figures."""
    generator = random.Random(seed)
    cases: list[Case] = []
    for document in sorted(set(documents) & set(corpus.passages)):
        found = [(place, cell) for place, text in enumerate(corpus.passages[document]) for cell in cells_of(text)]
        for place, cell in generator.sample(found, min(per_document, len(found))):
            passages = passages_beside(document, place, generator, corpus)
            true = _claim(cell, cell.value)
            cases.append(Case(true, true, passages, True, "cell", document))
            if cell.others_of_row:
                false = _claim(cell, generator.choice(cell.others_of_row))
                cases.append(Case(false, true, passages, False, "column", document))
            if cell.others_of_column:
                false = _claim(cell, generator.choice(cell.others_of_column))
                cases.append(Case(false, true, passages, False, "row", document))
    return cases


def cells_of(passage: str) -> Iterator[Cell]:
    """Cells of the passage's tables that hold one figure, of rows and columns that have names of their own."""
    for table in _TABLE.finditer(passage):
        titles, _, *rows = [_split(line) for line in table.group().strip().splitlines()]
        rows = [row for row in rows if len(row) == len(titles)]
        for number, row in enumerate(rows):
            others = [other for place, other in enumerate(rows) if place != number]
            if not row[0] or any(other[0] == row[0] for other in others):
                continue
            for column in range(1, len(titles)):
                if not _is_title(titles[column], titles) or not _is_figure(row[column]):
                    continue
                yield Cell(
                    title=titles[column],
                    label=row[0],
                    value=row[column],
                    others_of_row=tuple(
                        cell
                        for place, cell in enumerate(row)
                        if place not in (0, column) and _is_figure(cell) and cell != row[column]
                    ),
                    others_of_column=tuple(
                        other[column] for other in others if _is_figure(other[column]) and other[column] not in row
                    ),
                )


def _claim(cell: Cell, value: str) -> str:
    title = cell.title if cell.title[1:2].isupper() else f"{cell.title[:1].lower()}{cell.title[1:]}"
    return f"The {title} of {cell.label} is {value}."


def _split(line: str) -> list[str]:
    return [plain(cell) for cell in _BORDER.split(line.strip().removeprefix("|").removesuffix("|"))]


def _is_title(title: str, titles: list[str]) -> bool:
    return bool(re.fullmatch(r"[A-Za-z][A-Za-z ()-]{2,30}", title)) and titles.count(title) == 1


def _is_figure(cell: str) -> bool:
    return _FIGURE.fullmatch(cell) is not None
