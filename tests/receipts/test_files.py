"""Receipts against original files alone, and what becomes of them when files change."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.receipts.check_file import check_against_files
from app.receipts.report import VerifyReport
from ingestion.settings import IngestionSettings
from tests.receipts.conftest import FILES, Exported, copy_originals

MARKDOWN = "troubleshooting/exit-codes.md"
HTML = "delivery/change-windows.html"


@pytest.fixture
def file(exported: Exported, tmp_path: Path) -> Path:
    path = tmp_path / "answer.receipt.json"
    path.write_text(exported.receipt.model_dump_json(indent=2), encoding="utf-8")
    return path


@pytest.fixture
def originals(tmp_path: Path) -> Path:
    """Another machine's copy: no path of it is one that the receipt knows."""
    return copy_originals(tmp_path / "elsewhere" / "handbook")


def check(originals: Path, file: Path) -> VerifyReport:
    return check_against_files([originals], file, IngestionSettings(), home_key=None)


def states(report: VerifyReport) -> list[str]:
    return [entry.state for entry in report.sentences]


def codes(report: VerifyReport, number: int) -> set[str]:
    return {finding.code for finding in report.sentences[number - 1].findings}


def test_markdown_html_pdf_and_docx_prove_the_receipt_where_nothing_else_is(file: Path, originals: Path) -> None:
    report = check(originals, file)
    assert report.state == "holds"
    assert states(report) == ["holds"] * 5 + ["unproved"]
    assert {document.state for document in report.documents} == {"unchanged"}
    assert {document.source.rpartition(".")[2] for document in report.documents} >= {"md", "html", "pdf", "docx"}
    assert report.signature.valid
    assert report.signature.holder == "unknown"


def test_the_sentence_whose_words_changed_fails_and_no_other(file: Path, originals: Path) -> None:
    page = originals / HTML
    page.write_text(page.read_text(encoding="utf-8").replace("off in the freeze, never on", "on in the freeze"))
    report = check(originals, file)
    assert report.state == "changed"
    assert states(report) == ["changed", *["holds"] * 4, "unproved"]
    assert codes(report, 1) == {"quote_gone"}


def test_words_that_moved_inside_their_file_still_hold(file: Path, originals: Path) -> None:
    page = originals / MARKDOWN
    page.write_text("Read this first.\n\n" + page.read_text(encoding="utf-8"), encoding="utf-8")
    report = check(originals, file)
    assert report.state == "holds"
    assert states(report)[3] == "moved"
    assert codes(report, 4) == {"quote_moved"}


def test_a_change_elsewhere_in_the_file_is_said_and_costs_nothing(file: Path, originals: Path) -> None:
    page = originals / MARKDOWN
    page.write_text(page.read_text(encoding="utf-8") + "\nA last line.\n", encoding="utf-8")
    report = check(originals, file)
    assert states(report) == [*["holds"] * 3, "moved", "holds", "unproved"]
    assert codes(report, 4) == {"document_changed"}


def test_a_renamed_file_is_found_by_its_bytes_and_a_renamed_and_changed_one_by_its_words(
    file: Path, originals: Path
) -> None:
    (originals / FILES[1]).rename(originals / "policy (copy).pdf")
    page = originals / MARKDOWN
    (originals / "codes.md").write_text(page.read_text(encoding="utf-8") + "\nMore.\n", encoding="utf-8")
    page.unlink()
    report = check(originals, file)
    assert report.state == "holds"
    assert {Path(document.found).name for document in report.documents} >= {"policy (copy).pdf", "codes.md"}


def test_a_file_that_is_gone_takes_its_sentences_with_it(file: Path, originals: Path) -> None:
    (originals / FILES[2]).unlink()
    report = check(originals, file)
    assert states(report) == ["holds", "holds", "changed", "holds", "holds", "unproved"]
    assert codes(report, 3) == {"document_gone"}


def test_a_file_that_cannot_be_read_any_more_is_said_to_be(file: Path, originals: Path) -> None:
    (originals / FILES[2]).write_bytes(b"PK\x03\x04 broken")
    assert codes(check(originals, file), 3) == {"document_unreadable"}


def test_nothing_holds_where_there_are_no_originals(file: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    report = check(empty, file)
    assert states(report) == [*["changed"] * 4, "holds", "unproved"]


def test_offsets_in_the_file_are_those_of_its_bytes(exported: Exported) -> None:
    placed = [citation for citation in exported.receipt.citations if citation.file_start is not None]
    assert placed
    for citation in placed:
        assert citation.document is not None
        source = Path(exported.receipt.documents[citation.document].source)
        data = source.read_bytes()
        assert data[citation.file_start : citation.file_end].decode() == citation.quote


def test_a_tool_result_is_said_to_stand_in_the_receipt_alone(file: Path, originals: Path) -> None:
    assert codes(check(originals, file), 5) == {"text_recorded"}
