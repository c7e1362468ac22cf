"""The answer with citation and verdict marks in its text, as a Streamlit component without an iframe."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypedDict

import streamlit as st
from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from agents.answer import Answer, Citation
from ui.markdown_tree import Element, Node, parse
from ui.markup import ASSETS, stylesheet
from ui.wording import VERDICTS, place

Json = str | list["str | dict[str, str] | list[Json]"]

HTML = '<div class="gw"></div><div class="gw-tip" role="tooltip" hidden></div>'


class _CitationData(TypedDict):
    place: str
    quote: str


class _ClaimData(TypedDict):
    verdict: str
    label: str
    explanation: str


class AnswerData(TypedDict):
    """What the browser gets."""

    tree: list[Json]
    citations: dict[str, _CitationData]
    claims: list[_ClaimData]


def draw_answer(answer: Answer, *, key: str, on_citation: Callable[[int], None]) -> None:
    """Draw an answer; a click on a marker calls ``on_citation`` with the citation's number before the next run."""

    def clicked() -> None:
        number = st.session_state[key].citation
        if isinstance(number, int | float):
            on_citation(int(number))

    _component()(key=key, data=answer_data(answer), on_citation_change=clicked)


def answer_data(answer: Answer) -> AnswerData:
    """The answer as the component's script reads it."""
    numbers = [citation.number for citation in answer.citations]
    return {
        "tree": [_json(node) for node in parse(answer.answer, citations=numbers, claims=answer.claims)],
        "citations": {str(citation.number): _citation(citation) for citation in answer.citations},
        "claims": [
            {"verdict": claim.verdict, "label": VERDICTS[claim.verdict], "explanation": claim.explanation}
            for claim in answer.claims
        ],
    }


@cache
def _component() -> ComponentRenderer:
    script = (ASSETS / "answer.js").read_text(encoding="utf-8")
    return v2.component("groundwork_answer", html=HTML, css=stylesheet(), js=script)


def _citation(citation: Citation) -> _CitationData:
    return {"place": place(citation.title, citation.page, citation.section), "quote": citation.quote}


def _json(node: Node) -> Json:
    if isinstance(node, Element):
        return [node.tag, dict(node.attributes), [_json(child) for child in node.children]]
    return node
