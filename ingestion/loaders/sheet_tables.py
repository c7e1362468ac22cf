"""The cells of a sheet as captions and tables, each table with the header that its rows need. Knows no file format."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ingestion.loaders.grid import render
from ingestion.loaders.normalise import collapse

CellValue: TypeAlias = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta
_MAX_HEADER_ROWS = 4
_YEARS = range(1900, 2101)
"""Whole numbers that may head a column."""
_EXACT_DIGITS = 1e15
"""Spreadsheets keep 15 significant digits."""


@dataclass(frozen=True, slots=True)
class SheetPart:
    """A caption or note (``is_table`` false), or a Markdown table."""

    text: str
    is_table: bool


def sheet_parts(rows: Sequence[Sequence[CellValue]]) -> list[SheetPart]:
    """Parts of a sheet in order.

    Blank rows alone end no table: a new one begins where a row without figures follows, or a caption and such a row.
    Rows with one text are captions outside tables. Several rows of headings become one.
    """
    parts: list[SheetPart] = []
    table: list[Sequence[CellValue]] = []
    for stretch in _stretches(rows):
        captions, body = _captions(stretch)
        starts = not table or not body or (_is_header(body[0]) and (len(table) > _MAX_HEADER_ROWS or _has_data(table)))
        if not starts:
            table.extend([*captions, *body])
            continue
        _finish(table, parts)
        if captions:
            text = "\n".join(collapse(_only_text(row)) for row in captions)
            parts.append(SheetPart(text, is_table=False))
        table = list(body)
    _finish(table, parts)
    return parts


def cell_text(value: CellValue) -> str:
    """A cell as text: figures without false digits, dates and times in ISO form."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            whole = value.is_integer() and abs(value) < _EXACT_DIGITS
            return str(int(value)) if whole else f"{value:.15g}"
        case datetime.datetime():
            value = value.replace(microsecond=0)
            return str(value.date()) if value.time() == datetime.time() else value.isoformat(" ")
        case datetime.timedelta():
            return str(datetime.timedelta(seconds=round(value.total_seconds())))
        case datetime.time():
            return value.replace(microsecond=0).isoformat()
        case _:
            return str(value)


def _stretches(rows: Sequence[Sequence[CellValue]]) -> Iterator[list[Sequence[CellValue]]]:
    """Runs of rows between blank ones."""
    run: list[Sequence[CellValue]] = []
    for row in rows:
        if any(_is_filled(value) for value in row):
            run.append(row)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _captions(
    stretch: Sequence[Sequence[CellValue]],
) -> tuple[Sequence[Sequence[CellValue]], Sequence[Sequence[CellValue]]]:
    """Leading rows that hold one text each, and the rows after them."""
    count = next((place for place, row in enumerate(stretch) if not _only_text(row)), len(stretch))
    return stretch[:count], stretch[count:]


def _only_text(row: Sequence[CellValue]) -> str:
    """The text of a row that holds one, also where a merged cell repeats it; else empty."""
    texts = {cell_text(value) for value in row if _is_filled(value)}
    return texts.pop() if len(texts) == 1 else ""


def _is_filled(value: CellValue) -> bool:
    return not isinstance(value, str) or bool(value.strip())


def _is_header(row: Sequence[CellValue]) -> bool:
    """Whether a row may head columns: at least one text, and no figures but years and dates."""
    filled = [value for value in row if _is_filled(value)]
    return any(isinstance(value, str) for value in filled) and all(_may_head_a_column(value) for value in filled)


def _may_head_a_column(value: CellValue) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return value in _YEARS
    return isinstance(value, str | datetime.date)


def _has_data(rows: Sequence[Sequence[CellValue]]) -> bool:
    return any(not _is_header(row) and not _only_text(row) for row in rows)


def _finish(table: Sequence[Sequence[CellValue]], parts: list[SheetPart]) -> None:
    """Add the table as Markdown; one without a header gets an empty one, so that no row of data passes for it."""
    if not table:
        return
    columns = [column for column in range(max(map(len, table))) if any(_filled_at(row, column) for row in table)]
    lines = [[cell_text(row[column]) if column < len(row) else "" for column in columns] for row in table]
    count = _header_rows(table, lines)
    if count == 0 and len(lines) > 1:
        lines.insert(0, [""] * len(columns))
        parts.append(SheetPart(render(lines, keep_empty_header=True), is_table=True))
        return
    header = [_joined(column) for column in zip(*lines[:count], strict=True)]
    parts.append(SheetPart(render([header, *lines[count:]] if count else lines), is_table=True))


def _joined(headings: Sequence[str]) -> str:
    """Headings of one column from several rows as one."""
    return " / ".join(dict.fromkeys(heading for heading in map(collapse, headings) if heading))


def _filled_at(row: Sequence[CellValue], column: int) -> bool:
    return column < len(row) and _is_filled(row[column])


def _header_rows(table: Sequence[Sequence[CellValue]], lines: Sequence[Sequence[str]]) -> int:
    """Rows that head the columns: none, one, or as many as stand above the figures where the first one has gaps."""
    if not _is_header(table[0]):
        return 0
    leading = next((place for place, row in enumerate(table) if not _is_header(row)), 1)
    complete = all(lines[0]) and len(set(lines[0])) == len(lines[0])
    return 1 if complete else max(1, min(leading, _MAX_HEADER_ROWS))
