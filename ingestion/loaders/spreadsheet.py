"""Workbooks (xlsx, xlsm, xlsb, xls, ods): each sheet under its name, captions and tables, values as last calculated.

Values come from calamine; comments and embedded files, which it does not give, from the package. Number formats are
not applied: a cell shown as 12 % is 0.12.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.loader import Certainty, ChildFile, Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.office_embedded import embedded_files
from ingestion.loaders.office_package import ENCRYPTED, OLE_MAGIC, OfficePackage, is_package, open_package
from ingestion.loaders.opendocument import refuse_encrypted
from ingestion.loaders.sheet_comments import comments_by_sheet
from ingestion.loaders.sheet_extent import refuse_oversized
from ingestion.loaders.sheet_tables import CellValue, sheet_parts
from retrieval.types import MetadataValue

if TYPE_CHECKING:
    from python_calamine import CalamineSheet, CalamineWorkbook

_MEDIA_TYPES = {
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "xls": "application/vnd.ms-excel",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
}
_WORKBOOK_STREAMS = tuple(name.encode("utf-16-le") for name in ("Workbook\0", "Book\0"))
_UNREADABLE = "The workbook cannot be read: it is damaged, or its cells lie too far apart."
_MAX_MERGED_CELLS = 200_000
"""Cells of a sheet that are filled because a merged range covers them."""


def load_workbook(data: bytes, name: str, options: LoadOptions) -> Loaded:
    """The document of a workbook, and the files embedded in it.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``unsafe_archive``, ``too_large`` or ``empty``.
    """
    package = _package(data)
    kind = _kind(package)
    assembly = DocumentAssembly()
    comments = comments_by_sheet(package) if package is not None else dict[str, Sequence[str]]()
    for sheet_name, is_hidden, rows in _sheets(data):
        _add_sheet(
            assembly, f"{sheet_name} (hidden sheet)" if is_hidden else sheet_name, rows, comments.get(sheet_name)
        )
    properties = package.core_properties() if package is not None else {}
    metadata: dict[str, MetadataValue] = {key: value for key, value in properties.items() if key != "title"}
    title = properties.get("title") or title_from_name(name)
    document = assembly.finish(title=title, media_type=_MEDIA_TYPES[kind], metadata=metadata)
    return Loaded(document, _children(package, options))


def _package(data: bytes) -> OfficePackage | None:
    """The opened container, checked before a library reads it; None for an old binary workbook."""
    if data.startswith(OLE_MAGIC) and any(stream in data for stream in _WORKBOOK_STREAMS):
        return None
    package = open_package(data)
    refuse_encrypted(package)
    refuse_oversized(package)
    return package


def _kind(package: OfficePackage | None) -> str:
    if package is None:
        return "xls"
    if "content.xml" in package.names:
        return "ods"
    return "xlsb" if "xl/workbook.bin" in package.names else "xlsx"


def _add_sheet(
    assembly: DocumentAssembly, heading: str, rows: Sequence[Sequence[CellValue]], comments: Sequence[str] | None
) -> None:
    parts = sheet_parts(rows)
    if not parts and not comments:
        return
    assembly.heading(heading, level=1)
    for part in parts:
        assembly.add("table" if part.is_table else "paragraph", part.text)
    for comment in comments or ():
        assembly.add("paragraph", comment)


def _children(package: OfficePackage | None, options: LoadOptions) -> tuple[ChildFile, ...]:
    if package is None:
        return ()
    sheets = sorted(name for name in package.names if name.startswith("xl/worksheets/"))
    return embedded_files(package, sheets, options)


def _sheets(data: bytes) -> Iterator[tuple[str, bool, list[list[CellValue]]]]:
    """Name, whether it is hidden, and rows of each sheet that can hold cells."""
    from python_calamine import CalamineError, PasswordError, SheetTypeEnum, SheetVisibleEnum

    try:
        workbook = _open(data)
        for sheet in workbook.sheets_metadata:
            if sheet.typ in (SheetTypeEnum.WorkSheet, SheetTypeEnum.MacroSheet):
                rows = _rows(workbook.get_sheet_by_name(sheet.name))
                yield sheet.name, sheet.visible != SheetVisibleEnum.Visible, rows
    except PasswordError as error:
        raise LoadFailed("encrypted", ENCRYPTED) from error
    except (CalamineError, OSError, ValueError) as error:
        raise LoadFailed("corrupt", _UNREADABLE) from error
    except BaseException as error:
        # A bug in the library's native code surfaces as an exception that is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise LoadFailed("corrupt", _UNREADABLE) from error


def _open(data: bytes) -> CalamineWorkbook:
    from python_calamine import CalamineWorkbook

    return CalamineWorkbook.from_filelike(io.BytesIO(data))


def _rows(sheet: CalamineSheet) -> list[list[CellValue]]:
    """Rows of a sheet with merged cells filled, so that each row reads alone."""
    if sheet.start is None:
        return []
    rows: list[list[CellValue]] = sheet.to_python()
    first_row, first_column = sheet.start
    left = _MAX_MERGED_CELLS
    for (top, start), (bottom, end) in sheet.merged_cell_ranges or ():
        top, bottom = max(top - first_row, 0), min(bottom - first_row, len(rows) - 1)
        start, end = start - first_column, end - first_column
        if top > bottom or start < 0 or start >= len(rows[top]) or rows[top][start] == "":
            continue
        left -= (bottom - top + 1) * (end - start + 1)
        if left < 0:
            break
        for row in rows[top : bottom + 1]:
            for column in range(start, min(end + 1, len(row))):
                row[column] = rows[top][start] if row[column] == "" else row[column]
    return rows


def _certainty(sample: Sample) -> Certainty:
    names = sample.zip_names
    if any(name.startswith("xl/") for name in names) or ("content.xml" in names and _is_ods(sample)):
        return 3
    if sample.data.startswith(OLE_MAGIC):
        return 3 if any(stream in sample.data for stream in _WORKBOOK_STREAMS) else 2
    return 2 if is_package(sample.data) and not names else 0


def _is_ods(sample: Sample) -> bool:
    return b"opendocument.spreadsheet" in sample.head or sample.ending in (".ods", ".ots")


LOADER = Loader(
    "workbook",
    frozenset((".xlsx", ".xlsm", ".xltx", ".xltm", ".xlsb", ".xls", ".xlt", ".ods", ".ots")),
    _certainty,
    load_workbook,
)
