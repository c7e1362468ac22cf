from collections import Counter
from pathlib import Path

import pytest

from ingestion.loaders.select import load
from samples.build import TARGETS, build

HANDBOOK = Path(__file__).parents[2] / "samples" / "handbook"
DOCUMENTS = sorted(path for path in HANDBOOK.rglob("*") if path.is_file())


def test_handbook_has_documents_of_all_five_families():
    families = Counter(path.suffix for path in DOCUMENTS)
    assert set(families) == {".md", ".txt", ".html", ".pdf", ".docx"}
    assert min(families.values()) >= 3
    assert len(DOCUMENTS) >= 24


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.relative_to(HANDBOOK).as_posix())
def test_document_loads_with_a_title_and_a_realistic_length(path: Path):
    document = load(path.read_bytes(), name=path.name).document
    assert document is not None
    assert document.title
    assert 250 <= len(document.text.split()) <= 1000
    assert (document.page_count or 0) >= (2 if path.suffix == ".pdf" else 0)


def test_committed_files_are_what_the_sources_build(tmp_path: Path):
    for built in build(tmp_path):
        committed = HANDBOOK / built.relative_to(tmp_path)
        assert load(committed.read_bytes(), name=committed.name) == load(built.read_bytes(), name=built.name)


def test_building_twice_gives_the_same_bytes(tmp_path: Path):
    first = [path.read_bytes() for path in build(tmp_path / "first")]
    second = [path.read_bytes() for path in build(tmp_path / "second")]
    assert first == second
    assert len(first) == len(TARGETS)


def test_links_between_documents_lead_somewhere():
    dead = [
        (path.name, word.strip("`.,;:()"))
        for path in DOCUMENTS
        if path.suffix == ".md"
        for word in path.read_text(encoding="utf-8").split()
        if word.startswith("`") and "/" in word and word.strip("`.,;:()").endswith((".md", ".txt", ".html", ".pdf"))
        if not (HANDBOOK / word.strip("`.,;:()")).is_file()
    ]
    assert dead == []
