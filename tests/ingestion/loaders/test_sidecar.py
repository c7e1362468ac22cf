from __future__ import annotations

import pytest

from ingestion.errors import LoadFailed
from ingestion.loaders.sidecar import read_sidecar


def test_plain_values_and_lists_are_metadata() -> None:
    assert read_sidecar(b"team: storage\ntags: [a, b]\nyear: 2024\npublic: true\ndate: 2024-01-02\n") == {
        "team": "storage",
        "tags": ["a", "b"],
        "year": 2024,
        "public": True,
        "date": "2024-01-02",
    }


@pytest.mark.parametrize("data", [b"", b"\n", b"# only a comment\n"])
def test_empty_file_gives_no_metadata(data: bytes) -> None:
    assert read_sidecar(data) == {}


@pytest.mark.parametrize(
    ("data", "reason", "words"),
    [
        (b"a: 1\nb: [1,\n", "corrupt", "line"),
        (b"- a\n- b\n", "corrupt", "not a list"),
        (b"a: {b: 1}\nc: 2\n", "corrupt", "'a'"),
        (b"a: &x [1]\nb: *x\n", "corrupt", "aliases"),
        (b"a: !!python/object:os.system {}\n", "corrupt", "line 1"),
        (b"x" * 70_000, "too_large", "64000 bytes"),
        (b"[" * 5000, "corrupt", "YAML"),
    ],
)
def test_what_is_wrong_is_said_in_words(data: bytes, reason: str, words: str) -> None:
    with pytest.raises(LoadFailed) as raised:
        read_sidecar(data)
    assert raised.value.reason == reason
    assert words in raised.value.detail
