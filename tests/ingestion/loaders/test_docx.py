from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import docx
import pytest
from docx.document import Document

from ingestion.errors import LoadFailed
from ingestion.loaders.docx import load_docx
from ingestion.loaders.loader import LoadOptions
from ingestion.loaders.office_package import OLE_MAGIC
from ingestion.types import ParsedDocument
from tests.ingestion.loaders.office_files import ole_of, relations, zip_of

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
STRICT = "http://purl.oclc.org/ooxml/wordprocessingml/main"


def package(body: str, **parts: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", content)
    return buffer.getvalue()


def parts_of(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def read(data: bytes) -> ParsedDocument:
    document = load_docx(data, "a.docx", LoadOptions()).document
    assert document is not None
    return document


def reason(data: bytes) -> str:
    with pytest.raises(LoadFailed) as raised:
        read(data)
    return raised.value.reason


def written(write: Callable[[Document], object]) -> bytes:
    document, buffer = docx.Document(), io.BytesIO()
    write(document)
    document.save(buffer)
    return buffer.getvalue()


def test_headings_lists_and_tables_of_a_word_file() -> None:
    def write(document: Document) -> None:
        document.add_heading("Runbook", 1)
        document.add_paragraph("Before you start.")
        document.add_heading("Steps", 2)
        document.add_paragraph("Drain", style="List Number")
        document.add_paragraph("Reboot", style="List Number")
        document.add_paragraph("Note", style="List Bullet")
        table = document.add_table(2, 2)
        table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Code", "Meaning"
        table.rows[1].cells[0].text, table.rows[1].cells[1].text = "137", "killed"

    document = read(written(write))

    assert parts_of(document) == [
        ("heading", "Runbook"),
        ("paragraph", "Before you start."),
        ("heading", "Steps"),
        ("list", "1. Drain\n2. Reboot\n- Note"),
        ("table", "| Code | Meaning |\n| --- | --- |\n| 137 | killed |"),
    ]
    assert document.blocks[-1].heading_path == ("Runbook", "Steps")
    assert document.title == "Runbook"


def test_insertions_are_text_and_deletions_are_not() -> None:
    body = (
        "<w:p><w:r><w:t xml:space='preserve'>Now </w:t></w:r><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>"
    )

    assert read(package(body)).text == "Now new"


def test_notes_and_comments_stand_behind_their_paragraph() -> None:
    body = (
        "<w:p><w:r><w:t>Fact</w:t><w:footnoteReference w:id='2'/><w:commentReference w:id='0'/></w:r></w:p>"
        "<w:p><w:r><w:t>Next.</w:t></w:r></w:p>"
    )
    notes = f"<w:footnotes {W}><w:footnote w:id='2'><w:p><w:r><w:t>Proof.</w:t></w:r></w:p></w:footnote></w:footnotes>"
    comments = (
        f"<w:comments {W}><w:comment w:id='0' w:author='Ann'><w:p>"
        "<w:r><w:t>Sure?</w:t></w:r></w:p></w:comment></w:comments>"
    )

    document = read(package(body, footnotes=notes, comments=comments))

    assert document.text.split("\n\n") == ["Fact[^2]", "[^2]: Proof.", "Comment by Ann: Sure?", "Next."]


def test_headers_and_footers_stand_once_and_page_numbers_not_at_all() -> None:
    def write(document: Document) -> None:
        document.add_paragraph("Text.")
        for _ in range(2):
            section = document.add_section()
            section.header.is_linked_to_previous = False
            section.header.paragraphs[0].text = "Runbook, version 3"
            section.footer.is_linked_to_previous = False
            section.footer.paragraphs[0].text = "Page 1 of 9"

    assert read(written(write)).text == "Header: Runbook, version 3\n\nText."


def test_strict_open_xml_is_read() -> None:
    strict = W.replace("http://schemas.openxmlformats.org/wordprocessingml/2006/main", STRICT)
    body = f"<w:document {strict}><w:body><w:p><w:r><w:t>Strict.</w:t></w:r></w:p></w:body></w:document>"

    assert read(zip_of({"word/document.xml": body})).text == "Strict."


def test_main_part_may_have_another_name() -> None:
    main = f"<w:document {W}><w:body><w:p><w:r><w:t>Moved.</w:t></w:r></w:p></w:body></w:document>"
    parts = {"_rels/.rels": relations(("officeDocument", "/word/document2.xml")), "word/document2.xml": main}

    assert read(zip_of(parts)).text == "Moved."


def test_text_box_in_a_cell_stands_once() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent>"
    twice = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback></mc:AlternateContent>"
    )
    cells = [f"<w:tc><w:p><w:r><w:t>{text}</w:t>{twice}</w:r></w:p></w:tc>" for text in ("a", "b")]

    document = read(package(f"<w:tbl><w:tr>{''.join(cells)}</w:tr></w:tbl>"))

    assert document.text.splitlines()[0] == "| a boxed | b boxed |"


def test_embedded_files_are_children() -> None:
    def text(value: str) -> bytes:
        return value.encode("cp1252") + b"\0"

    body = b"the file"
    native = b"\x02\0" + text("plan.txt") + text("C:\\plan.txt") + b"\0\0\x03\0"
    native += (12).to_bytes(4, "little") + text("C:\\plan.txt")[:12] + len(body).to_bytes(4, "little") + body
    parts = {
        "word/document.xml": f"<w:document {W}><w:body><w:p><w:r><w:t>Text.</w:t></w:r></w:p></w:body></w:document>",
        "word/_rels/document.xml.rels": relations(("package", "embeddings/a.xlsx"), ("oleObject", "embeddings/b.bin")),
        "word/embeddings/a.xlsx": b"PK\x03\x04",
        "word/embeddings/b.bin": ole_of({"\x01Ole10Native": len(native).to_bytes(4, "little") + native}),
    }

    loaded = load_docx(zip_of(parts), "a.docx", LoadOptions())

    assert [(child.name, child.data) for child in loaded.children] == [("a.xlsx", b"PK\x03\x04"), ("plan.txt", body)]


def test_damaged_embedded_object_is_a_child_with_its_reason() -> None:
    parts = {
        "word/document.xml": f"<w:document {W}><w:body><w:p><w:r><w:t>Text.</w:t></w:r></w:p></w:body></w:document>",
        "word/_rels/document.xml.rels": relations(("oleObject", "embeddings/b.bin")),
        "word/embeddings/b.bin": OLE_MAGIC + bytes(600),
    }

    loaded = load_docx(zip_of(parts), "a.docx", LoadOptions())

    assert [(child.name, child.reason) for child in loaded.children] == [("b.bin", "corrupt")]


def test_cut_off_file_is_corrupt() -> None:
    assert reason(written(lambda document: document.add_paragraph("Text"))[:-4000]) == "corrupt"


def test_damaged_xml_is_corrupt() -> None:
    assert reason(package("<w:p>")) == "corrupt"


def test_entity_declaration_is_refused() -> None:
    bomb = '<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("word/document.xml", f"{bomb}<w:document {W}><w:body><w:p>&b;</w:p></w:body></w:document>")

    assert reason(buffer.getvalue()) == "unsafe_archive"


def test_zip_bomb_is_refused_by_its_declared_size() -> None:
    assert reason(package(" " * 30_000_000)) == "unsafe_archive"


def test_other_zip_is_unsupported() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")

    assert reason(buffer.getvalue()) == "unsupported_type"
