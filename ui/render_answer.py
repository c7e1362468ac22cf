"""A run that has ended: its answer with marks, its sources, its figures and how it was checked."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import assert_never

import streamlit as st

from agents.answer import Abstention, Answer, Citation
from app.schema import RunInfo
from ui import session
from ui.answer_component import draw_answer
from ui.markup import markdown_html
from ui.passages_html import budget_html, claims_html, passages_html
from ui.receipt_button import draw_receipt_button
from ui.session import PassageKey
from ui.steps import draw_reviews, draw_steps
from ui.wording import claims_summary, literal, place, plural, seconds, shorten, tokens

LABEL_LENGTH = 60
_REASONS = {
    "no_documents": "There are no documents to answer from. Add some on the Documents page.",
    "weak_evidence": "Nothing in the documents is near enough to this question.",
    "unsupported_answer": "The model wrote an answer, but the documents do not support it, so it is withheld.",
}


def draw_ended(run: RunInfo) -> None:
    """Draw a run that has ended, whichever way."""
    if run.agent:
        view = session.ended_view(session.client().base_url, run.run_id)
        draw_steps(view.steps)
        draw_reviews(view.reviews)
    match run.state:
        case "answered" | "abstained":
            if run.answer is None:
                st.error("The answer of this run was not kept.", icon=":material/error:")
            elif run.answer.abstention is None:
                _draw_answer(run, run.answer)
            else:
                _draw_abstention(run, run.answer, run.answer.abstention)
        case "failed":
            st.error(literal(run.error or "The run failed; see the log of the API."), icon=":material/error:")
            _draw_again(run)
        case "cancelled":
            if text := session.ended_view(session.client().base_url, run.run_id).text:
                st.html(markdown_html(text))
            st.caption(":material/stop_circle: Stopped before it was finished; nothing of it was checked.")
            _draw_again(run)
        case "running" | "waiting":
            raise ValueError(f"run {run.run_id!r} has not ended")
        case _:
            assert_never(run.state)


def _draw_answer(run: RunInfo, answer: Answer) -> None:
    draw_answer(answer, key=f"answer-{run.run_id}", on_citation=partial(_open_citation, run.run_id))
    with st.container(horizontal=True, gap="small"):
        for where, citations in grouped(answer.citations).items():
            numbers = ", ".join(str(citation.number) for citation in citations)
            st.button(
                literal(f"[{numbers}] {shorten(where, LABEL_LENGTH)}"),
                key=f"source-{run.run_id}-{citations[0].number}",
                help=literal(citations[0].source),
                on_click=_open_citation,
                args=(run.run_id, citations[0].number),
            )
    st.caption(figures(answer))
    _draw_details(run, answer)


def _draw_abstention(run: RunInfo, answer: Answer, abstention: Abstention) -> None:
    """The text of the answer says what was searched and what stood nearest; buttons open the latter."""
    with st.container(border=True):
        st.badge("No answer", icon=":material/block:", color="orange")
        st.html(markdown_html(answer.answer))
        st.caption(_REASONS[abstention.reason])
    with st.container(horizontal=True, gap="small"):
        for number, passage in enumerate(abstention.nearest, start=1):
            st.button(
                literal(shorten(place(passage.title or passage.source, None, passage.section), LABEL_LENGTH)),
                key=f"nearest-{run.run_id}-{number}",
                icon=":material/article:",
                help=literal(passage.source),
                on_click=session.ask_to_open,
                args=(PassageKey(passage.document_id, passage.chunk_id),),
            )
    st.caption(figures(answer))
    _draw_details(run, answer)


def grouped(citations: Iterable[Citation]) -> dict[str, list[Citation]]:
    """Citations by the place they quote, places in order of their first citation."""
    groups: dict[str, list[Citation]] = {}
    for citation in citations:
        groups.setdefault(place(citation.title, citation.page, citation.section), []).append(citation)
    return groups


def figures(answer: Answer) -> str:
    """Verdicts, speed and token counts on one line."""
    timings = answer.timings_ms
    parts = [
        claims_summary(answer.claims),
        "" if timings.ttft is None else f"first token after {seconds(timings.ttft)}",
        "" if answer.tokens_per_second is None else f"{answer.tokens_per_second:.1f} tokens/s",
        tokens(answer.usage) if answer.usage.prompt_tokens else "",
        f"{seconds(timings.total)} in all" if timings.total else "",
        literal(answer.model),
    ]
    return " · ".join(part for part in parts if part)


def _draw_details(run: RunInfo, answer: Answer) -> None:
    """Claims, passages and budget; read from the run's log only when somebody looks."""
    draw_receipt_button(run)
    details = st.expander(
        "How this answer was made", key=f"details-{run.run_id}", icon=":material/fact_check:", on_change="rerun"
    )
    if not details.open:
        return
    with details:
        view = session.ended_view(session.client().base_url, run.run_id)
        claims, evidence, budget = st.tabs(["Sentences", f"Evidence ({len(view.passages)})", "Context"])
        with claims:
            if answer.claims:
                st.html(claims_html(answer.claims))
            else:
                st.caption("This answer makes no statements to check.")
            if answer.dropped_markers:
                st.caption(f"{plural(answer.dropped_markers, 'invented citation')} taken out.")
        with evidence:
            st.caption(f"Searched for: {literal(view.query or run.question)}")
            if view.passages:
                st.html(passages_html(view.passages))
            else:
                st.caption("Nothing was found.")
        with budget:
            st.html(budget_html(answer.context if answer.context.budget_tokens else view.context))
            timings = answer.timings_ms
            st.caption(f"Rewriting {seconds(timings.rewrite)} · retrieval {seconds(timings.retrieve)}")


def _draw_again(run: RunInfo) -> None:
    st.button(
        "Ask again",
        key=f"again-{run.run_id}",
        icon=":material/refresh:",
        on_click=session.ask_later,
        args=(run.question,),
    )


def _open_citation(run_id: str, number: int) -> None:
    session.ask_to_open(PassageKey("", "", run_id, number))
