"""The folder of nasty documents: every row of its manifest that belongs to the families that are read."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from ingestion.errors import LoadFailed
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
        if cells[0].endswith(FAMILIES):
            facts = cast("dict[str, Any]", json.loads(cells[8]))
            found.append(Row(cells[0], cells[6], cast("list[str]", json.loads(cells[7])), facts))
    return found


def flat(text: str) -> str:
    return " ".join(INVISIBLE.sub("", text).split())


def outcome(row: Row) -> ParsedDocument | str:
    try:
        document = load((DATA / row.file).read_bytes(), name=row.file).document
        assert document is not None
        return document
    except LoadFailed as error:
        return error.reason


@pytest.mark.skipif(not rows(), reason="the folder of test documents (GROUNDWORK_TEST_DATA) is not here")
@pytest.mark.parametrize("row", rows(), ids=lambda row: row.file)
def test_manifest_row_has_its_expected_outcome(row: Row) -> None:
    result = outcome(row)

    if isinstance(result, str):
        allowed = {
            "needs-ocr": {"no_text_layer"},
            "error:encrypted": {"encrypted"},
            "error:empty": {"empty"},
            "error:corrupt-or-partial": {"corrupt"},
            "text-or-error": {"corrupt", "unsupported_type", "empty"},
        }
        assert result in allowed.get(row.expected, set())
        return
    assert row.expected in ("text", "text-or-error")
    text = flat(result.text)
    assert [part for part in row.must_contain if flat(part) not in text] == []
    check_facts(row.facts, result, text)


def check_facts(facts: dict[str, Any], document: ParsedDocument, text: str) -> None:
    folded = flat(unicodedata.normalize("NFKC", text))
    assert [part for part in facts.get("norm", []) if flat(part) not in folded] == []
    assert [part for part in facts.get("notcontains", []) if part in text] == []
    assert [part for part in facts.get("dedup", []) if part not in text] == []
    assert [part for part in facts.get("boiler", []) if part in text] == []
    assert [part for part, most in facts.get("dup_max", {}).items() if text.count(part) > most] == []
    places = [text.find(part) for part in facts.get("order", [])]
    assert places == sorted(places)
    assert -1 not in places
    if document.page_count is not None and ("pages" in facts or "slides" in facts):
        assert document.page_count == facts.get("pages", facts.get("slides"))
    headings = {block.heading_path[-1] for block in document.blocks if block.kind == "heading"}
    assert headings >= set(facts.get("headings", []))
    assert not headings & set(facts.get("not_headings", []))
    hidden = set(facts.get("hidden", []))
    assert headings >= {f"{name} (hidden sheet)" if name in hidden else name for name in facts.get("sheets", [])}
    for part, page in facts.get("page_of", {}).items():
        place = document.text.find(part)
        assert page in {block.page for block in document.blocks if block.char_start <= place < block.char_end}
    if document.media_type.endswith(("document", "sheet")):
        cells = {cell.strip() for line in document.text.splitlines() for cell in line.split("|")}
        lines = document.text.replace("| ", "")
        assert [value for value in facts.get("cells", {}).values() if value not in cells and value not in lines] == []
