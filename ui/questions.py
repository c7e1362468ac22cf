"""Questions that servers ask people in the middle of a call: forms to fill in, addresses to open.

Message, labels and address are the server's own words; they are shown as such and nothing in them is followed by
itself.
"""

from __future__ import annotations

from html import escape
from typing import Literal
from urllib.parse import urlsplit

import streamlit as st

from app.question_schema import Question, QuestionAnswer
from ui import session
from ui.call_wording import time_left, tool_label
from ui.errors import UiError
from ui.markup import styled
from ui.schema_form import Field, draw_fields, fields_of, values
from ui.wording import literal


def draw_questions(*, run_id: str = "") -> int:
    """Draw the questions of a run, or of all with an empty id; returns how many there are."""
    questions = [asked for asked in session.client().tools.questions() if run_id in ("", asked.run_id)]
    for question in questions:
        with st.container(border=True, key=f"question-{question.question_id}", gap="xsmall"):
            _draw_question(question)
    return len(questions)


def _draw_question(question: Question) -> None:
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        who = tool_label(question.tool, question.server) if question.tool else f"**{literal(question.server)}**"
        st.markdown(f":material/contact_support: **A server asks you** {who}")
        st.caption(f":material/timer: {time_left(question.expires_at)}", width="content")
    st.html(styled(f'<p class="gw-quote">{escape(question.message)}</p>'))
    if question.mode == "url":
        _draw_address(question)
    else:
        _draw_form(question)
    if problem := st.session_state.get(_problem_key(question)):
        st.error(literal(problem), icon=":material/error:")


def _draw_form(question: Question) -> None:
    st.caption(f"What you fill in goes to the server {literal(question.server)}; give it no password.")
    fields = fields_of(question.form)
    with st.form(f"form-{question.question_id}", border=False):
        draw_fields(fields, question.question_id)
        with st.container(horizontal=True):
            st.form_submit_button(
                "Send", type="primary", icon=":material/send:", on_click=_accept, args=(question, fields)
            )
            st.form_submit_button("Decline", icon=":material/block:", on_click=_close, args=(question, "decline"))


def _draw_address(question: Question) -> None:
    parts = urlsplit(question.url)
    with st.container(horizontal=True):
        if parts.scheme in ("http", "https"):
            st.link_button(f"Open {literal(parts.netloc)}", question.url, icon=":material/open_in_new:")
        st.button(
            "Done", key=f"done-{question.question_id}", type="primary", icon=":material/check:", on_click=_close,
            args=(question, "accept"),
        )  # fmt: skip
        st.button(
            "Decline", key=f"decline-{question.question_id}", icon=":material/block:", on_click=_close,
            args=(question, "decline"),
        )  # fmt: skip
    st.code(question.url, language=None, wrap_lines=True)


def _accept(question: Question, fields: tuple[Field, ...]) -> None:
    filled = values(fields, question.question_id)
    if missing := [field.label for field in fields if field.required and field.name not in filled]:
        st.session_state[_problem_key(question)] = f"Fill in: {', '.join(missing)}."
        return
    _send(question, QuestionAnswer(action="accept", content=filled))


def _close(question: Question, action: Literal["accept", "decline"]) -> None:
    _send(question, QuestionAnswer(action=action))


def _send(question: Question, answer: QuestionAnswer) -> None:
    st.session_state.pop(_problem_key(question), None)
    try:
        session.client().tools.answer(question.question_id, answer)
    except UiError as error:
        st.session_state[_problem_key(question)] = str(error)


def _problem_key(question: Question) -> str:
    return f"question-problem-{question.question_id}"
