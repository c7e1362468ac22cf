"""How far the filled cells of a workbook reach, found before a library lays them out as a rectangle in memory."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from functools import cache

from ingestion.errors import LoadFailed
from ingestion.loaders.office_package import OfficePackage

MAX_CELLS = 10_000_000
"""Most cells of one sheet's rectangle, empty ones counted; the reader takes 32 bytes for each."""
_FILLED_CELL = re.compile(rb'<(?:\w+:)?c\s[^>]*?\br="([A-Z]{1,3})(\d{1,7})"[^>]*(?<!/)>')
_COUNT = re.compile(rb'\b(?:count|uniqueCount)="(\d+)"')
_XML_SHEET = re.compile(r"xl/worksheets/[^/]+\.xml\Z")
_BINARY_PART = re.compile(r"xl/(?:worksheets/[^/]+|sharedStrings)\.bin\Z")
_ROW_RECORD = 0
_COUNTED_RECORDS = {159: 2, 177: 1}
"""``BrtBeginSst`` and ``BrtBeginMergeCells``: how many counts they begin with."""
_CELL_RECORDS = range(1, 12)
"""``BrtRowHdr`` and ``BrtCellBlank`` to ``BrtFmlaError`` ([MS-XLSB] 2.3)."""


def refuse_oversized(package: OfficePackage) -> None:
    """Raises for a workbook for which its reader would ask for more memory than there is.

    Raises:
        LoadFailed: ``too_large`` for filled cells that lie too far apart, ``corrupt`` for false counts of entries.
    """
    for name in sorted(package.names):
        if name == "content.xml" or (name.startswith("xl/") and name.endswith(".xml")):
            _refuse_false_counts(package.chunks(name), name)
        rows = columns = 0
        if _XML_SHEET.match(name):
            rows, columns = _xml_extent(package.chunks(name))
        elif _BINARY_PART.match(name):
            rows, columns = _binary_extent(package.read(name), name)
        if rows * columns > MAX_CELLS:
            raise LoadFailed(
                "too_large",
                f"A sheet spans {rows} rows and {columns} columns; delete the cells far from its data and save it.",
            )


def _refuse_false_counts(pieces: Iterable[bytes], name: str) -> None:
    """A part that says that it holds more entries than it has bytes."""
    size = largest = 0
    for window in _whole_tags(pieces):
        size += len(window)
        largest = max([largest, *(int(count[:20]) for count in _COUNT.findall(window))])
    if largest > size:
        raise LoadFailed("corrupt", f"The workbook's part {name!r} claims to hold more than it does.")


def _xml_extent(pieces: Iterable[bytes]) -> tuple[int, int]:
    first_row = last_row = 0
    names: set[bytes] = set()
    for window in _whole_tags(pieces):
        cells = _FILLED_CELL.findall(window)
        if not cells:
            continue
        names.update(column for column, _ in cells)
        rows = [int(row) for _, row in cells]
        first_row = min(rows) if not first_row else min(first_row, min(rows))
        last_row = max(last_row, max(rows))
    columns = [_column(name) for name in names]
    return (last_row - first_row + 1, max(columns) - min(columns) + 1) if columns else (0, 0)


def _whole_tags(pieces: Iterable[bytes]) -> Iterator[bytes]:
    tail = b""
    for piece in pieces:
        window = tail + piece
        cut = window.rfind(b"<")
        yield window[:cut]
        tail = window[cut:] if cut >= 0 else b""
    yield tail


@cache
def _column(name: bytes) -> int:
    number = 0
    for letter in name:
        number = number * 26 + letter - 64
    return number


def _binary_extent(data: bytes, name: str) -> tuple[int, int]:
    """Extent of a part of an .xlsb file, nothing for one without cells: records of a type, a size, and a body."""
    rows: list[int] = []
    columns: list[int] = []
    position = row = 0
    while position < len(data):
        kind, position = _variable(data, position, 2)
        size, position = _variable(data, position, 4)
        if kind == _ROW_RECORD and position + 4 <= len(data):
            (row,) = struct.unpack_from("<I", data, position)
        elif kind in _CELL_RECORDS and kind > 1 and position + 4 <= len(data):
            columns.append(struct.unpack_from("<I", data, position)[0])
            rows.append(row)
        elif kind in _COUNTED_RECORDS and position + 8 <= len(data):
            counts = struct.unpack_from(f"<{_COUNTED_RECORDS[kind]}I", data, position)
            if max(counts) > len(data):
                raise LoadFailed("corrupt", f"The workbook's part {name!r} claims to hold more than it does.")
        position += size
    return (max(rows) - min(rows) + 1, max(columns) - min(columns) + 1) if rows else (0, 0)


def _variable(data: bytes, position: int, most: int) -> tuple[int, int]:
    """A number of seven bits a byte, least first ([MS-XLSB] 2.1.4), and the position behind it."""
    value = 0
    for place in range(most):
        byte = data[position] if position < len(data) else 0
        position += 1
        value |= (byte & 0x7F) << (7 * place)
        if not byte & 0x80:
            break
    return value, position
