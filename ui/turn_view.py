"""One turn of the chat: the question, its answers one at a time, and what can be asked for next."""

from __future__ import annotations

import streamlit as st

from app.schema import QUESTION_CHARACTERS, RunInfo
from ui import session
from ui.cards import draw_notes
from ui.kept_cases import draw_keep_button
from ui.pictures import draw_beside_question
from ui.render_answer import draw_ended
from ui.session import Question
from ui.stream import draw_active
from ui.turns import Turn, Version

_EDITED = "edited_turn"
_HELP = {
    "Continue": "The answer reached its longest length; have it go on where it stopped.",
    "Regenerate": "Ask the same with the model and sampling chosen now; this answer stays reachable.",
    "Ask again": "Ask the same once more.",
}


def draw_turn(turn: Turn, *, is_last: bool) -> None:
    """Draw a turn; the last one can be answered anew once it has ended."""
    place = _shown(turn)
    version = turn.versions[place]
    first, last = version[0], version[-1]
    with st.chat_message("user", avatar=":material/person:"):
        if is_last and st.session_state.get(_EDITED) == last.run_id:
            _draw_editor(version)
        else:
            _draw_question(version, can_change=is_last and place == len(turn.versions) - 1)
        draw_beside_question(first)
    with st.chat_message("assistant", avatar=":material/smart_toy:" if first.agent else ":material/fact_check:"):
        for part in version:
            if part.continues:
                st.caption(":material/more_horiz: Going on")
            if part.state in ("running", "waiting"):
                draw_active(part)
                return
            draw_ended(part)
        _draw_actions(turn, place, is_last=is_last)
        draw_notes(last.run_id)


def _draw_actions(turn: Turn, place: int, *, is_last: bool) -> None:
    version = turn.versions[place]
    last = version[-1]
    newest = place == len(turn.versions) - 1
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"actions-{last.run_id}"):
        if len(turn.versions) > 1:
            _draw_pager(turn, place)
        if is_last and newest and last.answer is not None and last.answer.truncated and not last.agent:
            _ask_button("Continue", Question(last.question, continues=last.run_id), last, "last_page")
        if is_last and newest:
            _draw_again(version)
        elif last.state in ("failed", "cancelled"):
            _ask_button("Ask again", Question(last.question), last, "refresh")
        draw_keep_button(last)


def _draw_again(version: Version) -> None:
    """Ask anew: an answer from documents gives up its place, what an agent did stays in the chat."""
    last = version[-1]
    if last.agent:
        _ask_button("Ask again", Question(last.question, agent=last.agent), last, "refresh")
        return
    label = "Ask again" if last.state in ("failed", "cancelled") else "Regenerate"
    again = Question(last.question, replaces=last.run_id, continues=last.continues, agent="")
    _ask_button(label, again, last, "refresh")


def _ask_button(label: str, question: Question, run: RunInfo, icon: str) -> None:
    st.button(
        label,
        key=f"{label.lower().replace(' ', '-')}-{run.run_id}",
        icon=f":material/{icon}:",
        type="tertiary",
        help=_HELP[label],
        on_click=session.ask_later,
        args=(question,),
    )


def _draw_pager(turn: Turn, place: int) -> None:
    """Through the answers of a turn."""
    last = len(turn.versions) - 1
    with st.container(horizontal=True, gap=None, width="content", wrap=False, vertical_alignment="center"):
        st.button(
            "", key=f"earlier-{turn.turn_id}", icon=":material/chevron_left:", type="tertiary", help="Earlier answer",
            disabled=place == 0, on_click=_show, args=(turn, place - 1),
        )  # fmt: skip
        st.caption(f"{place + 1}\u2009/\u2009{last + 1}", width="content")
        st.button(
            "", key=f"later-{turn.turn_id}", icon=":material/chevron_right:", type="tertiary", help="Later answer",
            disabled=place == last, on_click=_show, args=(turn, place + 1),
        )  # fmt: skip


def _draw_question(version: Version, *, can_change: bool) -> None:
    first, last = version[0], version[-1]
    if first.agent or not can_change:
        st.text(first.question)
        return
    with st.container(horizontal=True, gap="small", wrap=False, vertical_alignment="center"):
        st.text(first.question, width="stretch")
        st.button(
            "",
            key=f"edit-{last.run_id}",
            icon=":material/edit:",
            type="tertiary",
            help="Change the question and send it again; its answer stays reachable.",
            on_click=_edit,
            args=(last.run_id,),
        )


def _draw_editor(version: Version) -> None:
    """The question, to be changed; the new run takes the place of the whole answer."""
    first, last = version[0], version[-1]
    with st.form(f"edit-form-{last.run_id}", border=False):
        st.text_area(
            "Question", value=first.question, key=_editor_key(last.run_id), max_chars=QUESTION_CHARACTERS,
            label_visibility="collapsed",
        )  # fmt: skip
        with st.container(horizontal=True):
            st.form_submit_button("Send", type="primary", icon=":material/send:", on_click=_send, args=(first, last))
            st.form_submit_button("Cancel", on_click=_edit, args=(None,))


def _send(first: RunInfo, last: RunInfo) -> None:
    text: str = st.session_state[_editor_key(last.run_id)]
    if text.strip():
        _edit(None)
        session.ask_later(Question(text.strip(), replaces=first.run_id, agent=""))


def _edit(run_id: str | None) -> None:
    st.session_state[_EDITED] = run_id


def _editor_key(run_id: str) -> str:
    return f"edited-question-{run_id}"


def _shown(turn: Turn) -> int:
    """Place of the version that is shown: the newest, unless the reader has turned to another since."""
    return st.session_state.get(_shown_key(turn), len(turn.versions) - 1)


def _show(turn: Turn, place: int) -> None:
    st.session_state[_shown_key(turn)] = place


def _shown_key(turn: Turn) -> str:
    return f"shown-{turn.turn_id}-{len(turn.versions)}"
