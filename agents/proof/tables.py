"""A table of a passage by its cells: which column and row a figure stands in, and which ones a claim names. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from agents.proof.alignment import agree
from agents.proof.evidence import Evidence, mask_markup
from agents.proof.figures import dimensions
from agents.proof.segments import BORDER, column_at
from agents.proof.tokens import Token, tokenise
from agents.proof.windows import NOUN_OF, Window, figure_places

_RULE = re.compile(r"\s*\|?[\s:|-]*--[\s:|-]*")

Cells = tuple[tuple[Token, ...], ...]
"""What a row says, by column."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of a table with a header; rows of another width than the header have none."""

    titles: tuple[str, ...]
    """Text of each cell of the header."""
    header: Cells
    rows: tuple[Cells, ...]

    def against(self, figure: Token, row: int, column: int, clause: Collection[Token], claim: Collection[Token]) -> str:
        """What speaks against a figure of a claim being the one in this cell; empty where nothing does.

        Args:
            figure: Of the claim.
            row: Where it stands.
            column: Where it stands in the row; the first one names the row.
            clause: Words and figures beside it; where they name no row or no column, those of the whole claim count.
            claim: All others of the claim.
        """
        if not 0 < column < len(self.header):
            return ""
        labels = [cells[0] for cells in self.rows]
        rows = _named(labels, clause) or _named(labels, claim)
        if rows and row not in rows:
            own, other = _text(labels[row]), _text(labels[rows[0]])
            return f"the passage has {figure.text!r} in the row of {own!r}, not of {other!r}"
        columns = _named(self.header, clause) or _named(self.header, claim)
        for rival in () if column in columns else columns:
            values = [token for token in self.rows[row][rival] if token.kind == "figure"]
            said = any(agree(value, token) for value in values for token in (figure, *claim))
            if not said and any(_comparable(figure, value) for value in values):
                return f"the passage has {figure.text!r} under {self.titles[column]!r}, not {self.titles[rival]!r}"
        return ""


def misplaced(claim: Sequence[Token], window: Window, evidence: Evidence) -> Iterator[str]:
    """What speaks against each figure of a claim that stands in rows of tables alone, in none of them as claimed."""
    for number, figure in enumerate(claim):
        places = figure_places(figure, window) if figure.kind == "figure" else []
        tables = [table_of(window.unit_of[place], evidence) for place in places]
        if not tables or None in tables:
            continue
        others = [other for i, other in enumerate(claim) if i != number]
        clause = [other for other in others if other.clause == figure.clause]
        against = [
            table.against(figure, row, window.columns[place], clause, others)
            for place, (table, row) in zip(places, filter(None, tables), strict=True)
        ]
        if all(against):
            yield against[0]


def table_of(number: int, evidence: Evidence) -> tuple[Table, int] | None:
    """The table that a unit is a row of, and which one; None for a unit that is none, and a table without a header."""
    unit = evidence.units[number]
    if unit.kind != "row":
        return None
    first = unit.lead if unit.lead >= 0 else number
    behind = (evidence.units[other] for other in range(first + 1, len(evidence.units)))
    rows = [evidence.units[first], *takewhile(lambda other: other.lead == first and other.kind == "row", behind)]
    chunk = evidence.chunks[unit.passage]
    text = chunk.text
    after = text[rows[0].end :].lstrip().split("\n", 1)[0]
    lines = tuple(text[row.start : row.end] for row in rows)
    if _RULE.fullmatch(after):
        return (found, number - first - 1) if number > first and (found := _table(lines[0], lines[1:])) else None
    # A table that was cut: its header stands in what explains the passage.
    above = [line for line in chunk.context.splitlines() if BORDER.search(line) and not _RULE.fullmatch(line)]
    return (found, number - first) if above and (found := _table(above[-1], lines)) else None


@lru_cache(maxsize=256)
def _table(header: str, lines: tuple[str, ...]) -> Table | None:
    """None where the header has one cell, and so names nothing."""
    titles = tuple(part.strip() for part in BORDER.split(header.strip().strip("|")))
    width = len(titles)
    rows = tuple(_cells(line, width) for line in lines)
    return Table(titles, _cells(header, width), rows) if width > 1 and len(_cells(header, width)) == width else None


def _cells(line: str, width: int) -> Cells:
    masked = mask_markup(line)
    cells: list[list[Token]] = [[] for _ in range(width)]
    for token in tokenise(masked):
        if token.kind == "stop":
            continue
        column = column_at(masked, token.start)
        if column < width:
            cells[column].append(token)
    return tuple(map(tuple, cells))


def _named(cells: Sequence[Sequence[Token]], words: Collection[Token]) -> list[int]:
    """Which of these cells some words name: by a key that no other cell has, or by all of its keys."""
    said = _keys(words)
    keys = [_keys(cell) for cell in cells]
    counts = Counter(key for cell in keys for key in cell)
    return [
        number
        for number, cell in enumerate(keys)
        if cell and (cell <= said or any(counts[key] == 1 for key in cell & said))
    ]


def _keys(tokens: Iterable[Token]) -> frozenset[str]:
    """Keys, those of ``the maximum of`` and its like as the noun that a title has."""
    return frozenset(NOUN_OF.get(token.key, token.key) for token in tokens)


def _comparable(figure: Token, value: Token) -> bool:
    """Whether one may be meant in place of the other; a table may hold bare numbers and name the unit in its header."""
    return bool(dimensions(figure.forms) & dimensions(value.forms)) or value.text.isdigit()


def _text(cell: Sequence[Token]) -> str:
    return " ".join(token.text for token in cell)
