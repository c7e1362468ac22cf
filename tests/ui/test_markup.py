from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from agents.answer import Claim, ContextReport
from tests.ui.script import CONTEXT, HOSTILE, HOSTILE_TEXT, PASSAGES
from ui.budget_html import budget_html, budget_line_html
from ui.markup import busy_html, markdown_html, stylesheet, text_html
from ui.passages_html import claims_html, passages_html, term_spans

HARMLESS = {
    "style", "div", "p", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a", "br", "hr", "mark",
    "table", "thead", "tbody", "tr", "th", "td", "h4", "h5", "h6", "i", "b", "span", "small", "details", "summary",
}  # fmt: skip


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, str | None] = {}
        self.text = ""
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes.update(attrs)
        self._in_style = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._in_style = False

    def handle_data(self, data: str) -> None:
        if not self._in_style:
            self.text += data


def _read(html: str) -> _Reader:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_hostile_markdown_brings_no_element_of_its_own() -> None:
    read = _read(markdown_html(f"{HOSTILE} ![p](http://203.0.113.9/p.png) [x](javascript:alert(1))"))

    assert read.tags == ["style", "div", "p"]
    assert HOSTILE in read.text


def test_hostile_passage_claim_and_step_bring_no_element_of_their_own() -> None:
    passage = PASSAGES[0].model_copy(update={"text": HOSTILE, "title": HOSTILE, "source": HOSTILE, "section": HOSTILE})
    claim = Claim(text=HOSTILE, verdict="partial", explanation=HOSTILE)

    for html in (passages_html([passage]), claims_html([claim]), text_html(HOSTILE, [(0, 8)]), busy_html(HOSTILE)):
        read = _read(html)
        assert set(read.tags) <= HARMLESS
        assert set(read.attributes) <= {"class", "role", "style"}


def test_quote_is_marked_where_it_stands() -> None:
    start = HOSTILE_TEXT.index("The marked words.")

    html = text_html(HOSTILE_TEXT, [(start, start + 17)])

    assert "<mark>The marked words.</mark>" in html
    assert _read(html).text == HOSTILE_TEXT


@given(st.text(max_size=60))
def test_markdown_of_any_text_holds_harmless_elements_alone(text: str) -> None:
    read = _read(markdown_html(text))

    assert set(read.tags) <= HARMLESS
    assert set(read.attributes) <= {"class", "href", "target", "rel", "start"}


def test_style_loads_nothing() -> None:
    assert "url(" not in stylesheet()
    assert "@import" not in stylesheet()


def test_budget_says_what_was_left_out_and_why() -> None:
    text = _read(budget_html(CONTEXT)).text

    assert "4,096 tokens of context" in text
    assert "passages and question 1,500" in text
    assert "/handbook/long.md: 900 tokens, did not fit" in text


def test_budget_line_counts_what_is_used_and_what_was_left_out() -> None:
    turns = CONTEXT.model_copy(update={"dropped_turns": ("Is <b>this</b> old?",), "dropped_steps": 2})
    text = _read(budget_line_html(turns)).text

    assert "1,710 of 4,096 tokens of context · left out: 1 passage, 1 earlier question, 2 early steps" in text
    assert "earlier question: Is <b>this</b> old?" in text
    assert budget_line_html(ContextReport(budget_tokens=4096)) == ""


def test_passage_says_how_each_leg_found_it() -> None:
    text = _read(passages_html([PASSAGES[0].model_copy(update={"bm25": None, "bm25_rank": None})])).text

    assert "meaning: rank 1, cosine 0.71" in text
    assert "not found by words" in text


def test_terms_are_found_at_the_start_of_words() -> None:
    text = "Limits limit the unlimited."

    assert [text[start:end] for start, end in term_spans(text, ["limit"])] == ["Limits", "limit"]
