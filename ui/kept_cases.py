"""Questions kept as cases: the button under an answer, and the list in which they are changed and exported."""

from __future__ import annotations

import streamlit as st

from app.eval_schema import EvalQuestion, KeptQuestion
from app.schema import RunInfo
from ui import session
from ui.errors import UiError
from ui.wording import literal, plural, shorten


def draw_keep_button(run: RunInfo) -> None:
    """Under an ended answer: keep its question as a case of an evaluation."""
    if run.state in ("answered", "abstained") and run.answer is not None:
        st.button(
            "Save as eval case",
            key=f"keep-{run.run_id}",
            icon=":material/bookmark_add:",
            help="Keep question, answer and quotes, to see later whether this still comes out. See the Evals page.",
            type="tertiary",
            on_click=_keep,
            args=(run.run_id,),
        )


def draw_kept(kept: list[KeptQuestion]) -> None:
    """All kept questions, each with a form that changes what is expected of its answer."""
    if not kept:
        st.caption("Nothing is kept yet. Under each answer in the chat stands: Save as eval case.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plural(len(kept), "question"))
        st.download_button(
            "Export",
            data="".join(f"{item.question.model_dump_json()}\n" for item in kept),
            file_name="questions.jsonl",
            mime="application/x-ndjson",
            icon=":material/download:",
            help="A file that groundwork eval answers --questions reads.",
        )
    for item in kept:
        _draw_question(item.question)


def _draw_question(question: EvalQuestion) -> None:
    expected = "an answer" if question.answerable else "no answer"
    with (
        st.expander(literal(f"{shorten(question.question, 90)} ({expected})"), icon=":material/help:"),
        st.form(f"kept-{question.id}", border=False),
    ):
        for turn in question.history:
            st.caption(f"{turn.role}: {literal(shorten(turn.content, 300))}")
        st.text_area("Reference answer", value=question.answer, key=f"kept-answer-{question.id}")
        st.text_area(
            "The answer must contain, one item a line",
            value="\n".join(question.must_contain),
            key=f"kept-must-{question.id}",
            help="Alternatives within a line stand between two bars: six||6",
        )
        st.checkbox("The documents hold an answer", value=question.answerable, key=f"kept-answerable-{question.id}")
        for item in question.evidence:
            st.caption(f"{literal(item.file)}: “{literal(shorten(item.quote, 200))}”")
        with st.container(horizontal=True):
            st.form_submit_button("Save", type="primary", on_click=_save, args=(question,))
            st.form_submit_button("Forget", icon=":material/delete:", on_click=_forget, args=(question,))


def _keep(run_id: str) -> None:
    try:
        kept = session.client().evals.keep(run_id)
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"Kept as a case: {shorten(kept.question.question, 80)}")


def _save(question: EvalQuestion) -> None:
    lines: str = st.session_state[f"kept-must-{question.id}"]
    changed = question.model_copy(
        update={
            "answer": st.session_state[f"kept-answer-{question.id}"].strip(),
            "must_contain": tuple(line.strip() for line in lines.splitlines() if line.strip()),
            "answerable": st.session_state[f"kept-answerable-{question.id}"],
        }
    )
    try:
        session.client().evals.change(changed)
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", "Saved.")


def _forget(question: EvalQuestion) -> None:
    try:
        session.client().evals.forget(question.id)
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"Forgotten: {shorten(question.question, 80)}")
