from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.proof.tokens import tokenise


def _kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokenise(text) if token.kind != "stop"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("the OOMKilled reason", [("identifier", "OOMKilled"), ("word", "reason")]),
        (
            "use --grace-period=0 now",
            [("word", "use"), ("identifier", "--grace-period"), ("figure", "0"), ("word", "now")],
        ),
        ("in /var/lib/kubelet there", [("identifier", "/var/lib/kubelet")]),
        ("`memory.available<100Mi`", [("identifier", "memory.available"), ("bound", "<"), ("figure", "100Mi")]),
        ("since v1.29.3", [("identifier", "v1.29.3")]),
        ("on Linux nodes", [("name", "Linux"), ("word", "nodes")]),
        ("it is not kept", [("negation", "not"), ("word", "kept")]),
        ("it isn't kept", [("negation", "isn't"), ("word", "kept")]),
        ("at least 30 seconds", [("bound", "at least"), ("figure", "30 seconds")]),
        ("cannot exceed 1 MiB", [("bound", "cannot exceed"), ("figure", "1 MiB")]),
        ("six minutes", [("figure", "six minutes")]),
        ("30000-32767", [("figure", "30000"), ("figure", "32767")]),
        ("is -997", [("figure", "-997")]),
        ("policy Never applies", [("word", "policy"), ("name", "Never"), ("word", "applies")]),
    ],
)
def test_kinds_of_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert _kinds(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (".spec.backoffLimit", "spec.backoffLimit"),
        ("v1.29", "V1.29"),
        ("PersistentVolumeClaims", "PersistentVolumeClaim"),
        ("March 5, 2024", "2024-03-05"),
        ("5 March 2024", "2024-03-05"),
        ("restarts", "restarted"),
        ("CPUs", "CPU"),
    ],
)
def test_forms_of_the_same_thing_have_one_key(one: str, other: str) -> None:
    assert [token.key for token in tokenise(one)] == [token.key for token in tokenise(other)]


def test_characters_of_scripts_without_spaces_are_words() -> None:
    assert [token.text for token in tokenise("再起動")] == ["再", "起", "動"]


def test_clauses_are_counted() -> None:
    tokens = {token.text: token.clause for token in tokenise("it stops, but the Pod stays because nobody asked")}
    assert tokens["stops"] < tokens["Pod"] < tokens["asked"]


def test_phrase_that_says_nothing_is_one_function_word_and_its_words_count_elsewhere() -> None:
    assert [token.kind for token in tokenise("in order to restart")] == ["stop", "word"]
    assert [token.kind for token in tokenise("in order of size")] == ["stop", "word", "stop", "word"]


@given(st.text(max_size=120))
def test_offsets_slice_back_to_the_text(text: str) -> None:
    for token in tokenise(text):
        assert text[token.start : token.end] == token.text
