"""A table of a passage by its cells: which column and row a value stands in, and which ones a claim names. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from agents.proof.alignment import agree
from agents.proof.evidence import NOUN_OF, Evidence, mask_markup
from agents.proof.figures import dimensions
from agents.proof.segments import BORDER, column_at
from agents.proof.tokens import CONTENT_KINDS, Token, tokenise
from agents.proof.windows import Window, figure_places

VALUE_WORDS = 4
"""Words of a cell that is a value; a longer one describes something."""
_RULE = re.compile(r"\s*\|?[\s:|-]*--[\s:|-]*")

Cells = tuple[tuple[Token, ...], ...]
"""What a row says, by column."""


@dataclass(frozen=True, slots=True)
class Table:
    """Cells of a table with a header; what stands beyond its last title is left out."""

    titles: tuple[str, ...]
    """Text of each cell of the header."""
    header: Cells
    rows: tuple[Cells, ...]

    def against(self, token: Token, row: int, column: int, clause: Collection[Token], claim: Collection[Token]) -> str:
        """What speaks against a figure or word of a claim being the one in this cell; empty where nothing does.

        Args:
            token: Of the claim.
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
            return f"the passage has {token.text!r} in the row of {own!r}, not of {other!r}"
        columns = _named(self.header, clause) or _named(self.header, claim)
        cells = self.rows[row]
        for rival in () if column in columns else columns:
            whole = _keys(self.header[rival]) <= _keys(claim)
            if _stands_for(token, cells[column], cells[rival], (token, *claim), whole=whole):
                return f"the passage has {token.text!r} under {self.titles[column]!r}, not {self.titles[rival]!r}"
        return ""


def misplaced(claim: Sequence[Token], window: Window, evidence: Evidence) -> Iterator[str]:
    """What speaks against each value of a claim that stands in rows of tables alone, in none of them as claimed."""
    numbers = {number for number, column in zip(window.unit_of, window.columns, strict=True) if column >= 0}
    tables = {number: table_of(number, evidence) for number in numbers}
    if not tables:
        return
    titles = _keys(word for found in tables.values() if found for cell in found[0].header for word in cell)
    for number, token in enumerate(claim):
        places = _places(token, window, titles, evidence)
        placed = [(place, tables.get(window.unit_of[place])) for place in places]
        others = [other for i, other in enumerate(claim) if i != number]
        clause = [other for other in others if other.clause == token.clause]
        against = [
            found[0].against(token, found[1], window.columns[place], clause, others) if found else ""
            for place, found in placed
        ]
        if against and all(against):
            yield against[0]


def _places(token: Token, window: Window, titles: Collection[str], evidence: Evidence) -> list[int]:
    """Where a span holds a figure, or a word that neither titles nor headings have."""
    if token.kind == "figure":
        return figure_places(token, window)
    if token.kind not in CONTENT_KINDS or token.key in titles or token.key in evidence.heading_keys[window.passage]:
        return []
    return [place for place, other in enumerate(window.tokens) if agree(token, other)]


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
    bare = header.strip().removeprefix("|").removesuffix("|")
    titles = tuple(part.strip() for part in BORDER.split(bare))
    width = len(titles)
    if width < 2:
        return None
    return Table(titles, _cells(header, width), tuple(_cells(line, width) for line in lines))


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
    """Which of these cells some words name: by a key that no other cell has, or by all of its keys.

    ``Backup owner`` does not name ``Owner`` as well.
    """
    said = _keys(words)
    keys = [_keys(cell) for cell in cells]
    counts = Counter(key for cell in keys for key in cell)
    whole = [cell for cell in keys if cell and cell <= said]
    return [
        number
        for number, cell in enumerate(keys)
        if any(counts[key] == 1 for key in cell & said) or (cell in whole and not any(cell < other for other in whole))
    ]


def _keys(tokens: Iterable[Token]) -> frozenset[str]:
    """Keys, those of ``the maximum of`` and its like as the noun that a title has."""
    return frozenset(NOUN_OF.get(token.key, token.key) for token in tokens)


def _stands_for(
    token: Token, own: Sequence[Token], other: Sequence[Token], said: Collection[Token], *, whole: bool
) -> bool:
    """Whether a claim gives the value of one cell where it means another one, of which it says nothing.

    A claim that has the ``whole`` title of the other cell means that one, whatever kind of figure it holds.
    """
    if token.kind == "figure":
        values = [value for value in other if value.kind == "figure"]
        unsaid = not any(agree(value, word) for value in values for word in said)
        return unsaid and any(whole or _comparable(token, value) for value in values)
    if not own or not other or max(len(own), len(other)) > VALUE_WORDS or any(value.forms for value in other):
        return False
    return _keys(own) <= _keys(said) and not _keys(other) & _keys(said)


def _comparable(figure: Token, value: Token) -> bool:
    """Whether one may be meant in place of the other; a table may hold bare numbers and name the unit in its header."""
    return bool(dimensions(figure.forms) & dimensions(value.forms)) or value.text.isdigit()


def _text(cell: Sequence[Token]) -> str:
    return " ".join(token.text for token in cell)
