from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingestion.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text, 0, len(text))]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("See Fig. 3 of Dr. Smith. Then stop.", ["See Fig. 3 of Dr. Smith.", "Then stop."]),
        ("Use e.g. Redis. Or not.", ["Use e.g. Redis.", "Or not."]),
        ("Version 1.2.3 is out. Get it.", ["Version 1.2.3 is out.", "Get it."]),
        ("J. R. Tolkien wrote. We read.", ["J. R. Tolkien wrote.", "We read."]),
        ("He said “stop.” Then left.", ["He said “stop.”", "Then left."]),
        ("Das gilt z.B. hier. Dort nicht.", ["Das gilt z.B. hier.", "Dort nicht."]),
        ("1. Drain the node. 2. Reboot it.", ["1. Drain the node.", "2. Reboot it."]),
        ("これは文です。次の文です。", ["これは文です。", "次の文です。"]),
        ("यह वाक्य है। दूसरा वाक्य।", ["यह वाक्य है।", "दूसरा वाक्य।"]),
        ("هل تعمل؟ نعم.", ["هل تعمل؟", "نعم."]),
        ("Line one\nline two. End", ["Line one\nline two.", "End"]),
        ("Para one\n\nPara two", ["Para one", "Para two"]),
        ("etc. and so on", ["etc. and so on"]),
        ("", []),
    ],
)
def test_text_is_cut_where_sentences_end(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


@given(st.text(alphabet=st.sampled_from(list("aA1 .!?\n\t。|*\"'")), max_size=300))
def test_sentences_cover_all_but_white_space(text: str) -> None:
    parts = sentences(text)

    assert "".join("".join(part.split()) for part in parts) == "".join(text.split())
    assert all(part == part.strip() != "" for part in parts)
