from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ui.wording import literal, place, plural, reflowed, seconds, shorten, size


@pytest.mark.parametrize("text", ["a*b*c", "[x](http://y)", "# head", "1. one", "`code`", "<b>", "a_b_ ~~c~~", "\\*"])
def test_literal_text_comes_back_from_markdown_as_it_was(text: str) -> None:
    token = MarkdownIt().parseInline(literal(text))[0]

    assert [child.type for child in token.children or []] == ["text"] or "text_special" in str(token.children)
    assert "".join(child.content for child in token.children or []) == text


def test_place_leaves_out_what_is_not_known() -> None:
    assert place("Limits", 3, "Memory") == "Limits · page 3 · Memory"
    assert place("Limits", None, "") == "Limits"
    assert place("Limits", None, "Limits > Memory") == "Limits · Memory"


def test_wrapped_prose_is_joined_and_all_else_is_left_alone() -> None:
    prose = "A last termination reason of OOMKilled means that the container used more memory than\nits limit allows."
    other = "| a | " + "b" * 70 + " |\n| c | d |\n- one item that is long, " + "x" * 60 + "\n- another\nShort.\nLines."
    code = "```\nkubectl get pods --namespace bookings --field-selector status.phase=Running\nkubectl logs\n```\n"

    assert reflowed(prose) == prose.replace("\n", " ")
    assert reflowed(other) == other
    assert reflowed(code) == code


@given(st.text(alphabet="aB1 .-|`#\n\u2028", max_size=400))
def test_reflowed_text_keeps_every_character_in_its_place(text: str) -> None:
    assert reflowed(text).replace(" ", "\n") == text.replace(" ", "\n")


def test_figures_read_as_people_write_them() -> None:
    assert [plural(1, "passage"), plural(1200, "passage")] == ["1 passage", "1,200 passages"]
    assert [seconds(840), seconds(3400)] == ["840 ms", "3.4 s"]
    assert [size(12), size(1500), size(2_500_000)] == ["12 B", "1.5 kB", "2.5 MB"]
    assert shorten("one  two three", 8) == "one two…"
