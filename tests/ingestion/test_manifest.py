"""The folder of nasty documents: every row of its manifest, attachments and members read like the pipeline does."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import Loaded, LoadOptions
from ingestion.loaders.select import load
from ingestion.types import ParsedDocument

DATA = Path(os.environ.get("GROUNDWORK_TEST_DATA") or Path(__file__).parents[3] / "shared" / "data") / "documents"
FAMILIES = (".md", ".txt", ".html", ".pdf", ".docx", ".doc", ".pptx", ".xlsx")
INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2066-\u2069\u00ad]")

pytestmark = pytest.mark.data


@dataclass(frozen=True, slots=True)
class Row:
    file: str
    expected: str
    must_contain: list[str]
    facts: dict[str, Any]


def rows() -> list[Row]:
    manifest = DATA / "MANIFEST.tsv"
    if not manifest.is_file():
        return []
    found: list[Row] = []
    for line in manifest.read_text("utf-8").splitlines()[1:]:
        cells = line.split("\t")
        facts = cast("dict[str, Any]", json.loads(cells[8]))
        found.append(Row(cells[0], cells[6], cast("list[str]", json.loads(cells[7])), facts))
    return found


def flat(text: str) -> str:
    return " ".join(INVISIBLE.sub("", text).split())


@dataclass(frozen=True, slots=True)
class Content:
    """A file's document, and the text of it and of all files inside it."""

    document: ParsedDocument
    text: str
    names: set[str]


def outcome(row: Row, options: LoadOptions) -> Content | str:
    try:
        loaded = load((DATA / row.file).read_bytes(), name=row.file, options=options)
    except LoadFailed as error:
        return error.reason
    assert loaded.document is not None
    return Content(loaded.document, flat("\n".join(texts(loaded, options))), {child.name for child in loaded.children})


def texts(loaded: Loaded, options: LoadOptions) -> Iterator[str]:
    if loaded.document is not None:
        yield loaded.document.text
    for child in loaded.children:
        with contextlib.suppress(LoadFailed):
            yield from texts(load(child.data, name=child.name, options=options), options)


@pytest.mark.skipif(not rows(), reason="the folder of test documents (GROUNDWORK_TEST_DATA) is not here")
@pytest.mark.parametrize("row", rows(), ids=lambda row: row.file)
def test_manifest_row_has_its_expected_outcome(row: Row) -> None:
    result = outcome(row, LoadOptions(ocr="never"))

    if isinstance(result, str):
        allowed = {
            "needs-ocr": {"no_text_layer"},
            "error:encrypted": {"encrypted"},
            "error:empty": {"empty"},
            "error:corrupt-or-partial": {"corrupt"},
            "text-or-error": {"corrupt", "unsupported_type", "unsafe_archive", "empty"},
        }
        assert result in allowed.get(row.expected, set())
        return
    if row.expected == "error:corrupt-or-partial":
        assert result.document.metadata.get("partial") is True
        return
    assert row.expected in ("text", "text-or-error")
    assert [part for part in row.must_contain if flat(part) not in result.text] == []
    check_text(row.facts, result.text)
    check_structure(row.facts, result)


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
@pytest.mark.parametrize("row", [row for row in rows() if row.expected == "needs-ocr"], ids=lambda row: row.file)
def test_pictures_of_pages_are_read(row: Row) -> None:
    result = outcome(row, LoadOptions(ocr="auto"))

    assert isinstance(result, Content)
    assert [part for part in row.facts["ocr"] if flat(part) not in result.text] == []


def check_text(facts: dict[str, Any], text: str) -> None:
    folded = flat(unicodedata.normalize("NFKC", text))
    assert [part for part in facts.get("norm", []) if flat(part) not in folded] == []
    assert [part for part in facts.get("notcontains", []) if part in text] == []
    assert [part for part in facts.get("dedup", []) if part not in text] == []
    assert [part for part in facts.get("boiler", []) if part in text] == []
    assert [part for part, most in facts.get("dup_max", {}).items() if text.count(part) > most] == []
    places = [text.find(part) for part in facts.get("order", [])]
    assert places == sorted(places)
    assert -1 not in places


def check_structure(facts: dict[str, Any], content: Content) -> None:
    document = content.document
    for unit in ("pages", "slides"):
        assert document.page_count == facts.get(unit, document.page_count)
    for sheet in facts.get("sheets", []):
        hidden = sheet in facts.get("hidden", [])
        assert any(sheet in heading and ("hidden" in heading) == hidden for heading in headings_of(document))
    headings = headings_of(document)
    assert headings >= set(facts.get("headings", []))
    assert not headings & set(facts.get("not_headings", []))
    for part, page in facts.get("page_of", {}).items():
        place = document.text.find(part)
        assert page in {block.page for block in document.blocks if block.char_start <= place < block.char_end}
    assert content.names >= set(facts.get("attachments", []))
    assert document.metadata.get("subject") == facts.get("subject", document.metadata.get("subject"))
    assert document.metadata.get("rows") == facts.get("rows", document.metadata.get("rows"))
    if document.media_type != "application/pdf":
        check_cells(facts, document.text)


def headings_of(document: ParsedDocument) -> set[str]:
    return {block.heading_path[-1] for block in document.blocks if block.kind == "heading"}


def check_cells(facts: dict[str, Any], text: str) -> None:
    """Each value stands in a cell of its own; a label that names several columns has their values in one row."""
    lines = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)] for line in text.splitlines()]
    cells = {cell for line in lines for cell in line}
    for value in facts.get("cells", {}).values():
        assert value in cells or any(set(value.split()) <= set(line) for line in lines)
