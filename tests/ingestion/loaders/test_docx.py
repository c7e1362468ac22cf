from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import docx
import pytest
from docx.document import Document

from ingestion.errors import LoadFailed
from ingestion.loaders.docx import load_docx
from ingestion.types import ParsedDocument

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def package(body: str, **parts: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
        for name, content in parts.items():
            archive.writestr(f"word/{name}.xml", content)
    return buffer.getvalue()


def parts_of(document: ParsedDocument) -> list[tuple[str, str]]:
    return [(block.kind, document.text[block.char_start : block.char_end]) for block in document.blocks]


def reason(data: bytes) -> str:
    with pytest.raises(LoadFailed) as raised:
        load_docx(data, name="a.docx")
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

    document = load_docx(written(write), name="a.docx")

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

    assert load_docx(package(body), name="a.docx").text == "Now new"


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

    document = load_docx(package(body, footnotes=notes, comments=comments), name="a.docx")

    assert document.text.split("\n\n") == ["Fact[^2]", "[^2]: Proof.", "Comment by Ann: Sure?", "Next."]


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
