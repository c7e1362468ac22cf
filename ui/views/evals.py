"""Evals: how well search and answers do over question sets, run by run, and the questions kept from chats."""

from __future__ import annotations

import streamlit as st
from pydantic import ValidationError

from app.eval_schema import EvalKind, EvalQuestion, EvalRequest, EvalRun, KeptQuestion
from ui import session
from ui.errors import UiError
from ui.eval_detail import EVAL, draw_detail, figure, open_eval
from ui.kept_cases import draw_kept
from ui.passage_drawer import draw_requested_passage
from ui.problem import draw_notice
from ui.wording import literal, plural

_KINDS: dict[str, EvalKind] = {"Answers": "answers", "Search": "retrieval"}
_HEADLINES = {
    "answers": ("answer_match", "citation_precision", "abstention.f1"),
    "retrieval": ("hit@1", "hit@5", "ndcg@10"),
}
_ICONS = {
    "done": ":material/check_circle:",
    "running": ":material/progress_activity:",
    "queued": ":material/schedule:",
    "failed": ":material/error:",
}


def draw() -> None:
    """Draw the page: one evaluation when the address names it, else all."""
    calls = session.client().evals
    st.subheader("Evals", anchor=False)
    draw_notice()
    draw_requested_passage()
    runs = calls.runs()
    if eval_id := st.query_params.get(EVAL):
        detail = calls.detail(eval_id)
        draw_detail(detail, [run for run in runs if run.kind == detail.run.kind])
        return
    st.caption("How well search and answers do over questions whose answers are known, and what changed since.")
    kept = calls.kept()
    listed, new, cases = st.tabs([f"Evaluations ({len(runs)})", "Measure", f"Kept questions ({len(kept)})"])
    with listed:
        if not runs:
            st.caption("Nothing has been measured yet.")
        for run in runs:
            _draw_run(run)
    with new:
        _draw_start(kept)
    with cases:
        draw_kept(kept)


def _draw_run(run: EvalRun) -> None:
    shown = [
        f"{name.replace('_', ' ').replace('.', ' ')} {figure(name, run.summary.metrics[name])}"
        for name in _HEADLINES[run.kind]
        if name in run.summary.metrics
    ]
    with st.container(border=True):
        icon = _ICONS.get(run.state, ":material/pause_circle:")
        st.markdown(f"{icon} **{literal(run.name)}** · {run.kind}")
        at = run.created_at[:16].replace("T", " ")
        st.caption(f"{at} UTC · {run.done} of {plural(run.total, 'question')} · {literal(run.state)}")
        if shown:
            st.markdown(literal(" · ".join(shown)))
        with st.container(horizontal=True):
            st.button("Open", key=f"open-{run.eval_id}", on_click=open_eval, args=(run.eval_id,))
            st.button(
                "Delete",
                key=f"delete-{run.eval_id}",
                icon=":material/delete:",
                type="tertiary",
                on_click=_delete,
                args=(run,),
            )


def _draw_start(kept: list[KeptQuestion]) -> None:
    names = [collection.name for collection in session.client().collections()]
    kind = st.segmented_control("What", list(_KINDS), default="Answers")
    file = st.file_uploader(
        "Questions",
        type=["jsonl"],
        help="One JSON object a line: id, question, must_contain, relevant_files, answerable; see docs/evals.md.",
    )
    if kept:
        st.caption(f"Without a file, the {plural(len(kept), 'kept question')} are asked.")
    collections = st.multiselect("Collections", names, placeholder="All documents")
    minutes = st.number_input("Minutes at most", min_value=1, value=60)
    if kind == "Answers":
        st.caption("Each question takes as long as it takes in the chat. What is measured stays when it is stopped.")
    ready = kind is not None and bool(file or kept)
    if not st.button("Start", type="primary", icon=":material/play_arrow:", disabled=not ready) or kind is None:
        return
    try:
        questions = _parse(file.getvalue().decode("utf-8")) if file else tuple(item.question for item in kept)
        request = EvalRequest(
            kind=_KINDS[kind],
            name=file.name.removesuffix(".jsonl") if file else "kept questions",
            questions=questions,
            collections=tuple(collections),
            limit_seconds=60 * minutes,
        )
        run = session.client().evals.start(request)
    except (ValueError, UiError) as error:
        session.notify("error", _sentence(error))
    else:
        open_eval(run.eval_id)
    st.rerun()


def _parse(text: str) -> tuple[EvalQuestion, ...]:
    return tuple(EvalQuestion.model_validate_json(line) for line in text.splitlines() if line.strip())


def _sentence(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"A line is no question: {'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}."
    return str(error)


def _delete(run: EvalRun) -> None:
    try:
        session.client().evals.delete(run.eval_id)
    except UiError as error:
        session.notify("error", str(error))


draw()
