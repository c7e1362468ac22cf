from __future__ import annotations

import struct
from pathlib import Path

import pytest

from ingestion.loaders.loader import LoadOptions, Sample
from ingestion.loaders.spreadsheet import LOADER, load_workbook
from ingestion.types import ParsedDocument
from tests.ingestion.loaders.office_files import (
    SHEET_NAMESPACE,
    blocks_of,
    document_of,
    reason_of,
    relations,
    sheet_rows,
    workbook,
    zip_of,
)

FIRST_ROW = '<row r="1"><c r="A1"><v>1</v></c></row>'
FILES = Path(__file__).parent / "files"


def read(data: bytes, name: str = "a.xlsx") -> ParsedDocument:
    return document_of(load_workbook, data, name)


def opendocument(rows: str, manifest: str = "") -> bytes:
    names = " ".join(
        f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"'
        for prefix in ("office", "table", "text", "manifest")
    )
    media = "application/vnd.oasis.opendocument.spreadsheet"
    entry = f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{media}"/>'
    body = f'<table:table table:name="Shifts">{rows}</table:table>'
    return zip_of(
        {
            "mimetype": media,
            "META-INF/manifest.xml": f"<manifest:manifest {names}>{entry}{manifest}</manifest:manifest>",
            "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet>{body}"
            "</office:spreadsheet></office:body></office:document-content>",
        }
    )


def test_sheets_are_sections_and_hidden_ones_say_so() -> None:
    data = workbook(
        ("Limits", sheet_rows(("Name", "Value"), ("memory", 512), ("share", 0.1 + 0.2))),
        ("Old", sheet_rows(("gone",))),
        hidden="Old",
    )

    document = read(data)

    assert blocks_of(document) == [
        ("heading", "Limits"),
        ("table", "| Name | Value |\n| --- | --- |\n| memory | 512 |\n| share | 0.3 |"),
        ("heading", "Old (hidden sheet)"),
        ("paragraph", "gone"),
    ]
    assert document.blocks[1].heading_path == ("Limits",)
    assert document.title == "a"


def test_formulas_give_their_last_value_and_dates_are_readable() -> None:
    rows = (
        '<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>day</t></is></c>'
        '<c r="B1" t="inlineStr"><is><t>sum</t></is></c></row><row r="2"><c r="A2" s="1"><v>32874</v></c>'
        '<c r="B2"><f>SUM(1,2)</f><v>3</v></c></row></sheetData>'
    )

    assert "| 1990-01-01 | 3 |" in read(workbook(("S", rows))).text


def test_merged_cells_stand_in_each_place_they_cover() -> None:
    rows = sheet_rows(("Zone", "Sales", None), ("North", 1, 2), (None, 3, 4))
    merged = '<mergeCells count="2"><mergeCell ref="B1:C1"/><mergeCell ref="A2:A3"/></mergeCells>'

    assert blocks_of(read(workbook(("S", rows + merged))))[1] == (
        "table",
        "| Zone | Sales | Sales |\n| --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |",
    )


def test_merged_cells_of_a_sheet_that_begins_elsewhere_are_filled_in_their_place() -> None:
    rows = (
        '<sheetData><row r="5"><c r="D5" t="inlineStr"><is><t>Zone</t></is></c><c r="E5" t="inlineStr"><is><t>Sales</t>'
        '</is></c></row><row r="6"><c r="D6" t="inlineStr"><is><t>North</t></is></c><c r="E6"><v>1</v></c></row>'
        '<row r="7"><c r="E7"><v>2</v></c></row></sheetData><mergeCells><mergeCell ref="D6:D7"/></mergeCells>'
    )

    assert "| North | 1 |\n| North | 2 |" in read(workbook(("S", rows))).text


def test_comments_stand_under_their_sheet() -> None:
    comments = (
        f"<comments {SHEET_NAMESPACE}><authors><author>Ann</author></authors><commentList>"
        '<comment ref="B2" authorId="0"><text><r><t>Ann:</t></r>'
        '<r><t xml:space="preserve">\nToo low?</t></r></text></comment>'
        "</commentList></comments>"
    )
    extra = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(("comments", "../comments1.xml")),
        "xl/comments1.xml": comments,
    }

    document = read(workbook(("S", sheet_rows(("a", "b"), ("c", 1))), extra=extra))

    assert blocks_of(document)[-1] == ("paragraph", "Comment on B2 by Ann: Too low?")


def test_embedded_file_is_a_child() -> None:
    extra = {
        "xl/worksheets/_rels/sheet1.xml.rels": relations(("package", "../embeddings/plan.docx")),
        "xl/embeddings/plan.docx": b"PK\x03\x04...",
    }

    loaded = load_workbook(workbook(("S", sheet_rows(("a",))), extra=extra), "a.xlsx", LoadOptions())

    assert [(child.name, child.data) for child in loaded.children] == [("plan.docx", b"PK\x03\x04...")]


def test_old_binary_workbook_is_read() -> None:
    document = read((FILES / "shifts.xls").read_bytes(), "shifts.xls")

    assert "| Monday | Ann |" in document.text
    assert document.media_type == "application/vnd.ms-excel"


def test_opendocument_sheet_is_read() -> None:
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = "".join(
        f"<table:table-row>{''.join(cell.format(text) for text in row)}</table:table-row>"
        for row in (("Day", "Who"), ("Monday", "Ann"))
    )

    document = read(opendocument(rows), "a.ods")

    assert blocks_of(document) == [
        ("heading", "Shifts"),
        ("table", "| Day | Who |\n| --- | --- |\n| Monday | Ann |"),
    ]


def test_encrypted_opendocument_file_says_so() -> None:
    assert reason_of(load_workbook, opendocument("", "<manifest:encryption-data/>"), "a.ods") == "encrypted"


def test_sheet_that_spans_more_than_memory_holds_is_refused_before_it_is_laid_out() -> None:
    rows = f'<sheetData>{FIRST_ROW}<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'

    assert reason_of(load_workbook, workbook(("S", rows)), "a.xlsx") == "too_large"


def test_empty_cells_with_a_style_do_not_count_as_far_away_data() -> None:
    rows = (
        '<sheetData><row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576" s="1"/></row></sheetData>'
    )

    assert blocks_of(read(workbook(("S", rows))))[-1] == ("paragraph", "1")


def test_binary_sheet_that_spans_more_than_memory_holds_is_refused() -> None:
    def record(kind: int, body: bytes) -> bytes:
        return bytes((kind, len(body))) + body

    cells = [
        record(0, struct.pack("<I", row)) + record(5, struct.pack("<IId", row // 64, 0, 1.0)) for row in (0, 1_000_000)
    ]
    data = zip_of({"xl/workbook.bin": b"", "xl/worksheets/sheet1.bin": b"".join(cells)})

    assert reason_of(load_workbook, data, "a.xlsb") == "too_large"


@pytest.mark.parametrize("part", ["xl/sharedStrings.xml", "xl/styles.xml"])
def test_part_that_claims_more_entries_than_it_has_bytes_is_corrupt(part: str) -> None:
    body = f'<x {SHEET_NAMESPACE} count="1" uniqueCount="2147483648"/>'

    assert reason_of(load_workbook, workbook(("S", sheet_rows(("a",))), extra={part: body}), "a.xlsx") == "corrupt"


@pytest.mark.timeout(30)
def test_many_merged_ranges_that_overlap_are_bounded() -> None:
    rows = sheet_rows(("a", "b"), *[(number, number) for number in range(2000)])
    merged = "<mergeCells>" + '<mergeCell ref="A1:B2001"/>' * 20_000 + "</mergeCells>"

    assert "| 1999 | 1999 |" in read(workbook(("S", rows + merged))).text


def test_broken_workbook_is_corrupt() -> None:
    whole = workbook(("S", sheet_rows(("a",))))

    assert reason_of(load_workbook, whole[:-200], "a.xlsx") == "corrupt"
    assert reason_of(load_workbook, workbook(("S", "<sheetData><row>")), "a.xlsx") == "corrupt"
    assert (
        reason_of(load_workbook, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook\0".encode("utf-16-le"), "a.xls")
        == "corrupt"
    )


def test_binary_parts_that_are_no_sheets_are_left_alone() -> None:
    extra = {"xl/printerSettings/printerSettings1.bin": struct.pack("<BBIBBIBBI", 0, 4, 0, 5, 4, 0, 5, 4, 0xFFFFFF)}

    assert "a" in read(workbook(("S", sheet_rows(("a",))), extra=extra)).text


@pytest.mark.parametrize("part", ["xl/worksheets/sheet1.xml", "content.xml"])
def test_zip_bomb_is_refused_also_when_it_lies_about_its_size(part: str) -> None:
    bomb = zip_of({"xl/workbook.xml": "<x/>", part: "<x>" + " " * 30_000_000})
    size, small = struct.pack("<I", 30_000_003), struct.pack("<I", 1000)

    assert reason_of(load_workbook, bomb, "a.xlsx") == "unsafe_archive"
    assert reason_of(load_workbook, bomb.replace(size, small), "a.xlsx") == "corrupt"


def test_workbook_without_text_is_empty() -> None:
    assert reason_of(load_workbook, workbook(("S", "<sheetData/>")), "a.xlsx") == "empty"


def test_workbooks_are_known_by_their_content() -> None:
    assert LOADER.certainty(Sample(workbook(("S", "")), "a.zip")) == 3
    assert LOADER.certainty(Sample((FILES / "shifts.xls").read_bytes(), "a.doc")) == 3
    assert LOADER.certainty(Sample(zip_of({"word/document.xml": ""}), "a.xlsx")) == 0
    assert LOADER.certainty(Sample(b"a,b\n1,2\n", "a.xls")) == 0
