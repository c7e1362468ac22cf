from __future__ import annotations

from pathlib import Path

import pytest

from evals.errors import QuestionsUnreadable
from evals.questions import is_from, read_questions

ROOT = Path(__file__).parents[2]


def test_the_sample_questions_can_be_read() -> None:
    questions = read_questions(ROOT / "samples" / "questions.jsonl")
    assert sum(question.answerable for question in questions) >= 25
    assert all(question.history for question in questions if question.kind == "follow-up")


@pytest.mark.data
def test_the_questions_over_the_kubernetes_documentation_can_be_read(data_folder: Path) -> None:
    questions = read_questions(data_folder / "k8s-questions" / "dev.jsonl")
    assert (len(questions), sum(question.answerable for question in questions)) == (50, 40)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no question in"),
        ('{"id": "a", "question": "What?"}\n{"id": "a", "question": "Why?"}', "Line 2"),
        ('{"id": "a", "question": "What?"}\n\n{"id": "b"}', "Line 3"),
        ("not JSON", "Line 1"),
    ],
)
def test_a_file_that_is_none_is_refused_with_the_line(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "questions.jsonl").write_text(text, encoding="utf-8")
    with pytest.raises(QuestionsUnreadable, match=reason):
        read_questions(tmp_path / "questions.jsonl")


@pytest.mark.parametrize(
    ("source", "file", "expected"),
    [
        ("/data/docs/concepts/pods/init.md", "concepts/pods/init.md", True),
        ("/data/docs/other-concepts/pods/init.md", "concepts/pods/init.md", False),
        ("concepts/pods/init.md", "concepts/pods/init.md", True),
        ("upload:init.md", "concepts/pods/init.md", True),
        ("upload:x/init.md", "concepts/pods/init.md", False),
        ("https://example.org/docs/a.html", "docs/a.html", True),
    ],
)
def test_a_source_is_a_file_by_its_whole_relative_name(source: str, file: str, expected: bool) -> None:
    assert is_from(source, [file]) is expected
