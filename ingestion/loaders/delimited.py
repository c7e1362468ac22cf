"""Tables in text, cells apart by commas, semicolons, tabs or bars: one Markdown table, header first.

The delimiter is the one that gives the most rows of equal width. A first row that is data gets numbered columns as its
header; lines above the table that hold one cell each are its caption.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import islice

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.grid import render
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import normalise
from ingestion.loaders.text import load_text
from ingestion.types import ParsedDocument

_ENDINGS = frozenset((".csv", ".tsv", ".tab", ".psv"))
_DELIMITERS = (",", ";", "\t", "|")
_SNIFFED_ROWS = 200
_SNIFFED_CHARACTERS = 256 * 1024
_FIGURE = re.compile(r"[-+(]?[$€£¥]?\s*\d[\d.,' ]*\s*[%€$]?\)?")
_MAX_FIGURE_CHARACTERS = 40
_YEAR = re.compile(r"(?:19|20)\d\d")
_TITLE = "Column"


def load_delimited(source: str, *, name: str) -> ParsedDocument:
    """The document of a delimited table; text that is no table becomes paragraphs.

    Raises:
        LoadFailed: ``empty`` when there is no text, ``corrupt`` for cells that cannot be told apart.
    """
    text = normalise(source)
    delimiter = _delimiter(text)
    if not delimiter:
        return load_text(text, name=name)
    rows = [row for row in _rows(text, delimiter) if any(cell.strip() for cell in row)]
    width = _usual_width(rows)
    assembly = DocumentAssembly()
    while len(rows) > 1 and width > 1 and sum(1 for cell in rows[0] if cell.strip()) == 1:
        assembly.add("paragraph", "".join(rows.pop(0)))
    if not _has_header(rows):
        rows.insert(0, [f"{_TITLE} {number + 1}" for number in range(width)])
    assembly.add("table", render(rows))
    media_type = "text/tab-separated-values" if delimiter == "\t" else "text/csv"
    return assembly.finish(title=title_from_name(name), media_type=media_type, metadata={"rows": len(rows)})


def _rows(text: str, delimiter: str) -> list[list[str]]:
    csv.field_size_limit(sys.maxsize)
    try:
        return list(csv.reader(text.splitlines(keepends=True), delimiter=delimiter, skipinitialspace=delimiter != "\t"))
    except csv.Error as error:
        raise LoadFailed("corrupt", "The table's cells cannot be told apart; check its quotes.") from error


def _delimiter(text: str) -> str:
    """The delimiter under which most rows are equally wide; empty when none gives two columns."""
    lines = text[:_SNIFFED_CHARACTERS].splitlines(keepends=True)
    if len(text) > _SNIFFED_CHARACTERS and len(lines) > 1:
        lines.pop()
    scores: dict[str, tuple[float, int]] = {}
    for delimiter in _DELIMITERS:
        try:
            rows = [row for row in islice(csv.reader(lines, delimiter=delimiter), _SNIFFED_ROWS) if row]
        except csv.Error:
            continue
        width = _usual_width(rows)
        if width > 1:
            scores[delimiter] = (sum(len(row) == width for row in rows) / len(rows), width)
    return max(scores, key=lambda delimiter: scores[delimiter], default="")


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    return Counter(len(row) for row in rows).most_common(1)[0][0] if rows else 0


def _has_header(rows: Sequence[Sequence[str]]) -> bool:
    """False where the columns of figures begin with figures; years are headings all the same."""
    sample = rows[1:_SNIFFED_ROWS]
    if not sample:
        return True
    like_data = 0
    for column, first in enumerate(rows[0]):
        cells = [row[column].strip() for row in sample if column < len(row) and row[column].strip()]
        if cells and all(_is_figure(cell) for cell in cells):
            if not _is_figure(first.strip()) or _is_year_heading(first, cells):
                return True
            like_data += 1
    return like_data == 0


def _is_figure(cell: str) -> bool:
    return len(cell) <= _MAX_FIGURE_CHARACTERS and _FIGURE.fullmatch(cell) is not None


def _is_year_heading(first: str, cells: Sequence[str]) -> bool:
    return bool(_YEAR.fullmatch(first.strip())) and not all(_YEAR.fullmatch(cell) for cell in cells)


def _certainty(sample: Sample) -> Certainty:
    """By the ending alone: prose has commas too."""
    return 1 if sample.ending in _ENDINGS else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_delimited(decode(data).text, name=name)


LOADER = Loader("delimited tables", _ENDINGS, _certainty, _load)
