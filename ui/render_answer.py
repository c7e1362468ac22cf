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
from ui.budget_html import budget_line_html
from ui.markup import markdown_html
from ui.passages_html import claims_html, passages_html
from ui.pictures import draw_remarks
from ui.receipt_button import draw_receipt_button
from ui.session import PassageKey
from ui.steps import draw_reviews, draw_steps
from ui.wording import claims_summary, literal, place, plural, seconds, shorten, tokens

LABEL_LENGTH = 60
QUEUE_SHOWN_MS = 1.0
"""From when on it is told that a question waited for a free place at its model."""
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
        case "cancelled":
            if text := session.ended_view(session.client().base_url, run.run_id).text:
                st.html(markdown_html(text))
            st.caption(":material/stop_circle: Stopped before it was finished; nothing of it was checked.")
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
    draw_remarks(run, answer)
    _draw_figures(run, answer)
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
    _draw_figures(run, answer)
    _draw_details(run, answer)


def _draw_figures(run: RunInfo, answer: Answer) -> None:
    preset = f" · {literal(run.preset)}, version {run.preset_version}" if run.preset else ""
    st.caption(figures(answer) + preset)
    if budget := budget_line_html(answer.context):
        st.html(budget)


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
        f"waited {seconds(timings.queue)} for the model" if timings.queue >= QUEUE_SHOWN_MS else "",
        "" if timings.ttft is None else f"first token after {seconds(timings.ttft)}",
        "" if answer.tokens_per_second is None else f"{answer.tokens_per_second:.1f} tokens/s",
        tokens(answer.usage) if answer.usage.prompt_tokens else "",
        f"{seconds(timings.total)} in all" if timings.total else "",
        literal(answer.model),
        "cut off at its longest length" if answer.truncated else "",
    ]
    return " · ".join(part for part in parts if part)


def _draw_details(run: RunInfo, answer: Answer) -> None:
    """Claims and passages; read from the run's log only when somebody looks."""
    draw_receipt_button(run)
    details = st.expander(
        "How this answer was made", key=f"details-{run.run_id}", icon=":material/fact_check:", on_change="rerun"
    )
    if not details.open:
        return
    with details:
        view = session.ended_view(session.client().base_url, run.run_id)
        claims, evidence = st.tabs(["Sentences", f"Evidence ({len(view.passages)})"])
        with claims:
            if answer.claims:
                st.html(claims_html(answer.claims))
            else:
                st.caption("This answer makes no statements to check.")
            if answer.dropped_markers:
                st.caption(f"{plural(answer.dropped_markers, 'invented citation')} taken out.")
        with evidence:
            st.caption(f"Searched for: {literal(view.query or run.question)}")
            for warning in view.warnings:
                st.warning(literal(warning), icon=":material/warning:")
            if view.passages:
                st.html(passages_html(view.passages))
            else:
                st.caption("Nothing was found.")
            timings = answer.timings_ms
            st.caption(f"Rewriting {seconds(timings.rewrite)} · retrieval {seconds(timings.retrieve)}")


def _open_citation(run_id: str, number: int) -> None:
    session.ask_to_open(PassageKey("", "", run_id, number))
