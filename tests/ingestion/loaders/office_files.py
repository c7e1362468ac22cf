"""Small office files made part by part, for tests of their loaders."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import Loaded, LoadOptions
from ingestion.loaders.office_package import OLE_MAGIC
from ingestion.types import ParsedDocument

OFFICE_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET_NAMESPACE = f'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{OFFICE_RELATIONS}"'
LoadFunction = Callable[[bytes, str, LoadOptions], ParsedDocument | Loaded]


def zip_of(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip of these parts in this order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return buffer.getvalue()


def relations(*targets: tuple[str, str]) -> str:
    """A part of relations: pairs of the last word of the type and the target, with ids ``r1``, ``r2``, ..."""
    lines = [
        f'<Relationship Id="r{number}" Type="{OFFICE_RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, start=1)
    ]
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f"{''.join(lines)}</Relationships>"
    )


def workbook(*sheets: tuple[str, str], hidden: str = "", extra: Mapping[str, str | bytes] | None = None) -> bytes:
    """An .xlsx file of sheets: pairs of name and the XML of what stands in ``worksheet``."""
    states = ("visible", "hidden")
    listed = "".join(
        f'<sheet name="{name}" sheetId="{number}" r:id="r{number}" state="{states[name == hidden]}"/>'
        for number, (name, _) in enumerate(sheets, start=1)
    )
    links = [("worksheet", f"worksheets/sheet{number}.xml") for number, _ in enumerate(sheets, start=1)]
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f"<workbook {SHEET_NAMESPACE}><sheets>{listed}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(*links, ("styles", "styles.xml")),
        "xl/styles.xml": f"<styleSheet {SHEET_NAMESPACE}><cellXfs>"
        '<xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>',
        **{
            f"xl/worksheets/sheet{number}.xml": f"<worksheet {SHEET_NAMESPACE}>{body}</worksheet>"
            for number, (_, body) in enumerate(sheets, start=1)
        },
    }
    return zip_of(parts | dict(extra or {}))


def sheet_rows(*rows: tuple[str | float | None, ...]) -> str:
    """Rows from A1 on; None leaves a cell out."""
    lines = [
        "".join(_cell(value, number, column) for column, value in enumerate(row) if value is not None)
        for number, row in enumerate(rows, start=1)
    ]
    lines = [f'<row r="{number}">{line}</row>' for number, line in enumerate(lines, start=1)]
    return f"<sheetData>{''.join(lines)}</sheetData>"


def _cell(value: str | float, row: int, column: int) -> str:
    place = f"{chr(65 + column)}{row}"
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}"><v>{value}</v></c>'


def document_of(load: LoadFunction, data: bytes, name: str) -> ParsedDocument:
    """The document that a loader makes of a file."""
    loaded = load(data, name, LoadOptions())
    document = loaded.document if isinstance(loaded, Loaded) else loaded
    assert document is not None
    return document


def blocks_of(document: ParsedDocument) -> list[tuple[str, str]]:
    """Kind and text of each block."""
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def reason_of(load: LoadFunction, data: bytes, name: str) -> str:
    """The reason for which a loader refuses a file; empty when it reads it."""
    try:
        load(data, name, LoadOptions())
    except LoadFailed as failure:
        return failure.reason
    return ""


def ole_of(streams: Mapping[str, bytes]) -> bytes:
    """An OLE container ([MS-CFB] version 3) of a few streams, each padded to the size from which they stand alone."""
    sector = 512
    bodies = [content.ljust(max(4096, -(-len(content) // sector) * sector), b"\0") for content in streams.values()]
    fat, starts = [0xFFFFFFFD, 0xFFFFFFFE], list[int]()
    for body in bodies:
        starts.append(len(fat))
        count = len(body) // sector
        fat += [len(fat) + place + 1 for place in range(count - 1)] + [0xFFFFFFFE]
    names = list(streams)
    entries = [_ole_entry("Root Entry", 5, 0xFFFFFFFE, 0, child=1)]
    for number, (name, body, start) in enumerate(zip(names, bodies, starts, strict=True), start=1):
        entries.append(_ole_entry(name, 2, start, len(body), right=number + 1 if number < len(names) else 0xFFFFFFFF))
    header = struct.pack(
        "<8s16xHHHHH6x10I",
        *(OLE_MAGIC, 0x3E, 3, 0xFFFE, 9, 6),
        *(0, 1, 1, 0, 4096, 0xFFFFFFFE, 0, 0xFFFFFFFE, 0, 0),
    )
    table = struct.pack("<128I", *fat, *[0xFFFFFFFF] * (128 - len(fat)))
    directory = b"".join(entries).ljust(sector, b"\0")
    return header.ljust(sector, b"\xff") + table + directory + b"".join(bodies)


def _ole_entry(name: str, kind: int, start: int, size: int, child: int = 0xFFFFFFFF, right: int = 0xFFFFFFFF) -> bytes:
    encoded = name.encode("utf-16-le")
    return struct.pack("<64sHBBIII36xIQ", encoded, len(encoded) + 2, kind, 1, 0xFFFFFFFF, right, child, start, size)
