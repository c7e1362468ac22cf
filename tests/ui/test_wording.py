from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from ui.wording import literal, place, plural, seconds, shorten, size


@pytest.mark.parametrize("text", ["a*b*c", "[x](http://y)", "# head", "1. one", "`code`", "<b>", "a_b_ ~~c~~", "\\*"])
def test_literal_text_comes_back_from_markdown_as_it_was(text: str) -> None:
    token = MarkdownIt().parseInline(literal(text))[0]

    assert [child.type for child in token.children or []] == ["text"] or "text_special" in str(token.children)
    assert "".join(child.content for child in token.children or []) == text


def test_place_leaves_out_what_is_not_known() -> None:
    assert place("Limits", 3, "Memory") == "Limits · page 3 · Memory"
    assert place("Limits", None, "") == "Limits"
    assert place("Limits", None, "Limits > Memory") == "Limits · Memory"


def test_figures_read_as_people_write_them() -> None:
    assert [plural(1, "passage"), plural(1200, "passage")] == ["1 passage", "1,200 passages"]
    assert [seconds(840), seconds(3400)] == ["840 ms", "3.4 s"]
    assert [size(12), size(1500), size(2_500_000)] == ["12 B", "1.5 kB", "2.5 MB"]
    assert shorten("one  two three", 8) == "one two…"
