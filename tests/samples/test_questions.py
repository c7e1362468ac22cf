import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ingestion.loaders.select import load

ROOT = Path(__file__).parents[2]
HANDBOOK = ROOT / "samples" / "handbook"
QUESTIONS: list[dict[str, Any]] = [
    json.loads(line) for line in (ROOT / "samples" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]
UNANSWERABLE = [question for question in QUESTIONS if not question["answerable"]]
COMMON_FIELDS = {"id", "question", "answer", "relevant_files", "must_contain", "answerable", "kind"}
KINDS = {"lookup", "keyword-exact", "paraphrase", "multi-hop", "follow-up"}


def named(question: dict[str, Any]) -> str:
    return question["id"]


@cache
def stored_text(name: str) -> str:
    """The text of a document as it is stored, white space collapsed."""
    document = load((HANDBOOK / name).read_bytes(), name=name).document
    assert document is not None
    return collapse(document.text)


def collapse(text: str) -> str:
    return " ".join(text.split())


def bare(text: str) -> str:
    """Text as ``must_contain`` is compared: no code or emphasis marks, lower case."""
    return collapse(text.replace("`", "").replace("*", "")).lower()


@pytest.mark.parametrize("question", ANSWERABLE, ids=named)
def test_every_quote_stands_in_the_stored_text(question: dict[str, Any]):
    missing = [
        evidence["quote"]
        for evidence in question["evidence"]
        if collapse(evidence["quote"]) not in stored_text(evidence["file"])
    ]
    assert missing == []


@pytest.mark.parametrize("question", ANSWERABLE, ids=named)
def test_reference_answer_holds_what_it_must_contain(question: dict[str, Any]):
    answer = bare(question["answer"])
    assert [
        item for item in question["must_contain"] if not any(bare(option) in answer for option in item.split("||"))
    ] == []


@pytest.mark.parametrize("question", ANSWERABLE, ids=named)
def test_answerable_question_has_evidence_from_its_files(question: dict[str, Any]):
    files = [*question["relevant_files"], *question["also_relevant"]]
    assert {evidence["file"] for evidence in question["evidence"]} == set(question["relevant_files"])
    assert [name for name in files if not (HANDBOOK / name).is_file()] == []


@pytest.mark.parametrize("question", UNANSWERABLE, ids=named)
def test_terms_of_an_unanswerable_question_stand_nowhere(question: dict[str, Any]):
    documents = [path.relative_to(HANDBOOK).as_posix() for path in HANDBOOK.rglob("*") if path.is_file()]
    found = [(term, name) for term in question["absent_terms"] for name in documents if term in bare(stored_text(name))]
    assert question["absent_terms"]
    assert found == []


def test_questions_are_of_every_kind_and_some_have_no_answer():
    assert {question["kind"] for question in QUESTIONS} == KINDS
    assert len(ANSWERABLE) >= 25
    assert len(UNANSWERABLE) >= 8


def test_questions_have_the_fields_of_their_kind():
    for question in QUESTIONS:
        special = {"evidence", "also_relevant"} if question["answerable"] else {"why_unanswerable", "absent_terms"}
        history = {"history"} if question["kind"] == "follow-up" else set[str]()
        assert set(question) == COMMON_FIELDS | special | history


def test_ids_are_unique_and_the_guiding_question_comes_first():
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert QUESTIONS[0]["question"] == "Why did my Kubernetes pod restart? Last termination reason: OOMKilled"
