from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.answer import Claim, Verdict
from ui.markdown_tree import Element, Node, parse


def _claim(text: str, sentence: str, verdict: Verdict = "partial") -> Claim:
    start = text.index(sentence)
    return Claim(text=sentence, verdict=verdict, char_start=start, char_end=start + len(sentence))


def _walk(nodes: Sequence[Node]) -> Iterator[Element]:
    for node in nodes:
        if isinstance(node, Element):
            yield node
            yield from _walk(node.children)


def _text(nodes: Sequence[Node]) -> str:
    return "".join(node if isinstance(node, str) else _text(node.children) for node in nodes)


def _claimed(nodes: Sequence[Node], claim: int) -> str:
    return "".join(
        _text(element.children)
        for element in _walk(nodes)
        if element.tag == "span" and element.attributes["claim"] == str(claim)
    )


def test_markers_of_known_citations_become_elements_and_others_stay_text() -> None:
    assert parse("Fact. [1] Other. [7]", citations=[1]) == (
        Element("p", ("Fact. ", Element("citation", attributes={"number": "1"}), " Other. [7]")),
    )


def test_verdict_stands_behind_the_markers_of_its_claim() -> None:
    text = "Fact. [1] More."

    assert parse(text, citations=[1], claims=[_claim(text, "Fact.", "verified")]) == (
        Element(
            "p",
            (
                "Fact. ",
                Element("citation", attributes={"number": "1"}),
                Element("verdict", attributes={"claim": "0"}),
                " More.",
            ),
        ),
    )


@pytest.mark.parametrize(
    ("text", "sentence", "plain"),
    [
        ("Pods **restart.** Often.", "Pods **restart.**", "Pods restart."),
        ("**Pods restart.** Often.", "**Pods restart.**", "Pods restart."),
        ("It is `OOMKilled`.", "It is `OOMKilled`.", "It is ."),
        ("- One.\n- Two.", "- Two.", "Two."),
        ("1. One.\n2. Two.", "2. Two.", "Two."),
        ("# Head\n\nText.", "# Head", "Head"),
        ("> Said.", "> Said.", "Said."),
        ("|a|b|\n|-|-|\n| x | y |", "| x | y |", "xy"),
    ],
)
def test_claim_is_wrapped_whatever_markdown_it_stands_in(text: str, sentence: str, plain: str) -> None:
    nodes = parse(text, claims=[_claim(text, sentence)])

    assert _claimed(nodes, 0) == plain
    assert [element.tag for element in _walk(nodes) if element.tag == "verdict"] == ["verdict"]
    assert _text(nodes) == _text(parse(text))


def test_claims_do_not_change_how_the_text_is_structured() -> None:
    text = "- First. [1]\n- Second.\n\n|a|b|\n|-|-|\n|x [1]|y|\n\n**Bold.** End."
    claims = [_claim(text, sentence) for sentence in ("- First.", "- Second.", "|x [1]|y|", "**Bold.**", "End.")]

    tags = [element.tag for element in _walk(parse(text, citations=[1], claims=claims))]

    plain = [element.tag for element in _walk(parse(text, citations=[1]))]
    assert [tag for tag in tags if tag not in ("span", "verdict")] == plain
    assert tags.count("verdict") == 5


def test_code_blocks_keep_their_text_to_the_letter() -> None:
    text = "Run:\n\n```sh\nkubectl get pod [1]\n```\n"

    nodes = parse(text, citations=[1], claims=[_claim(text, "kubectl get pod [1]")])

    assert nodes[1] == Element("pre", (Element("code", ("kubectl get pod [1]\n",)),))


def test_html_of_the_text_is_text() -> None:
    hostile = "<script>alert(1)</script> <img src=x onerror=alert(1)>"

    assert parse(hostile) == (Element("p", (hostile,)),)


def test_images_are_named_and_not_loaded() -> None:
    assert parse("![secret](http://203.0.113.9/p.png)") == (Element("p", ("[image: secret]",)),)


@pytest.mark.parametrize("href", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "file:///etc/passwd", "/x"])
def test_links_of_other_schemes_lead_nowhere(href: str) -> None:
    assert not any(element.attributes.get("href") for element in _walk(parse(f"[go](<{href}>)")))


def test_link_definition_cannot_take_over_a_citation_marker() -> None:
    nodes = parse("Fact. [1]\n\n[1]: http://203.0.113.9/", citations=[1])

    assert not any(element.tag == "a" for element in _walk(nodes))


def test_claim_that_lies_outside_the_text_is_left_out() -> None:
    claim = Claim(text="x", verdict="partial", char_start=3, char_end=99)

    assert parse("Fact.", claims=[claim]) == parse("Fact.")


@given(st.text(alphabet=st.sampled_from("ab .\n*_`[]()<>!#|-1>\u2045\u2046cse0"), max_size=80), st.data())
def test_any_text_with_any_claim_gives_known_elements_and_no_signs(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    claim = Claim(text=text[start:end], verdict="unsupported", char_start=start, char_end=end)

    nodes = parse(text, citations=[0, 1], claims=[claim])

    assert not {"\u2045", "\u2046"} & set(_text(nodes))
    for element in _walk(nodes):
        assert set(element.attributes) <= {"href", "start", "number", "claim"}
