from __future__ import annotations

from pathlib import Path

import pytest

from evals.datasets import read_dataset
from evals.errors import DatasetUnreadable
from tests.evals.tiny import write_dataset


def test_a_folder_is_read_whole(tmp_path: Path) -> None:
    dataset = read_dataset(write_dataset(tmp_path / "tiny"))
    assert dataset.name == "tiny"
    assert [document.document_id for document in dataset.documents] == ["oom", "probe", "cert", "empty"]
    assert dataset.documents[0].title == "Memory"
    assert dataset.queries == {"q1": "Why was the container killed?", "q2": "How long is a certificate valid?"}
    assert dataset.judgements == {"q1": {"oom": 2, "gone": 1}, "q2": {"cert": 1}}


def test_answers_in_the_metadata_of_a_query_are_not_read(tmp_path: Path) -> None:
    dataset = read_dataset(write_dataset(tmp_path))
    assert "gold" not in repr(dataset)


@pytest.mark.parametrize("name", ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    folder = write_dataset(tmp_path)
    (folder / name).unlink()
    with pytest.raises(DatasetUnreadable, match=f"{name}.*is missing"):
        read_dataset(folder)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("corpus.jsonl", '{"_id": "a"}\n{"text": "no id"}\n', "line 2 of"),
        ("corpus.jsonl", "{\n", "line 1 of"),
        ("queries.jsonl", '{"_id": "q1"}\n', "line 1 of"),
        ("queries.jsonl", '{"_id": "q9", "text": "other"}\n', "judges query 'q1'"),
        ("qrels/test.tsv", "q1\toom\t1\n", "first line of"),
        ("qrels/test.tsv", "", "first line of"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\toom\n", "line 2 of"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\toom\tyes\n", "line 2 of"),
        ("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\toom\t0\n", "no relevant document"),
        ("corpus.jsonl", b"\xff\xfe", "cannot be read"),
    ],
)
def test_a_malformed_file_says_where(tmp_path: Path, name: str, content: str | bytes, message: str) -> None:
    folder = write_dataset(tmp_path)
    (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DatasetUnreadable, match=message):
        read_dataset(folder)
