"""Where a question is written: who is to answer it, and what sending one means while another run goes on or waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import streamlit as st

from app.schema import QUESTION_CHARACTERS, AgentInfo, RunInfo, ThreadDetail
from ui import prompt_in_box, session
from ui.errors import UiError
from ui.new_thread import begin_thread
from ui.pictures import KINDS
from ui.pictures import QUESTION as PICTURE_QUESTION
from ui.wording import literal, plural, shorten

PLAIN: Final = "Answers"
"""Shown for a question that is answered from documents alone."""
_HELD = "question_held"
_AGENT = "chosen_agent"


class Typed(NamedTuple):
    """What was sent from the box."""

    text: str
    pictures: tuple[Picture, ...] = ()


class Picture(NamedTuple):
    """A picture that was dropped on the box, pasted into it or chosen."""

    name: str
    data: bytes


def draw_question_box(active: RunInfo | None, waiting: int, *, agent: str) -> Typed | None:
    """Draw the box; returns what was asked, once.

    Args:
        active: The thread's run that has not ended.
        waiting: How many of its calls wait for a person.
        agent: Who is to answer; empty for answers from documents alone.
    """
    prompt_in_box.fill_box()
    sent = st.chat_input(
        _placeholder(active, waiting, agent),
        key=prompt_in_box.QUESTION_BOX,
        max_chars=QUESTION_CHARACTERS,
        accept_file="multiple",
        file_type=KINDS,
        disabled=active is not None and active.state == "running",
    )
    if sent is None:
        return None
    pictures = tuple(Picture(file.name, file.getvalue()) for file in sent.files)
    text = sent.text.strip() or (PICTURE_QUESTION if pictures else "")
    return Typed(text, pictures) if text else None


def attach_pictures(typed: Typed) -> None:
    """Attach what was sent with a question to the open thread, a new one when none is open.

    When one is refused, that is said, the words go back into the box, and the page is drawn anew.
    """
    try:
        thread_id = session.thread_id() or begin_thread()
        session.open_thread(thread_id)
        with st.spinner("Reading the picture …"):
            for picture in typed.pictures:
                session.client().attachments.attach_file(thread_id, picture.name, picture.data)
    except UiError as error:
        session.notify("error", str(error))
        prompt_in_box.put_back(typed.text)
        st.rerun()


def hold(question: str) -> None:
    """Calls wait, and sending would reject them: the person is asked first."""
    st.session_state[_HELD] = question


def confirm_held_question(active: RunInfo | None, waiting: int) -> None:
    """Ask what to do with a question that was written while calls wait."""
    question = st.session_state.pop(_HELD, None)
    if question is None:
        return
    if active is None:
        session.ask_later(session.Question(question))
        st.rerun()
    _confirm(question, waiting)


def draw_agent_picker(agents: Sequence[AgentInfo], detail: ThreadDetail | None, *, disabled: bool) -> str:
    """Draw the choice of who answers; returns the agent's name, empty for answers from documents alone.

    A thread keeps who answered it last, for every tab; a new one starts with the choice made last in this session.
    """
    if not agents:
        return ""
    thread_id = detail.thread.thread_id if detail else ""
    last = detail.runs[-1].agent if detail and detail.runs else st.session_state.get(_AGENT, "")
    names = ["", *(agent.name for agent in agents)]
    chosen = st.segmented_control(
        "Who answers",
        names,
        default=last if last in names else "",
        required=True,
        format_func=lambda name: literal(name) if name else PLAIN,
        key=f"agent-{thread_id}-{len(detail.runs) if detail else 0}",
        label_visibility="collapsed",
        disabled=disabled,
        wrap=True,
    )
    st.session_state[_AGENT] = chosen or ""
    return chosen or ""


@st.dialog("Something waits for you", icon=":material/pan_tool:")
def _confirm(question: str, waiting: int) -> None:
    st.markdown(f"{plural(waiting, 'call')} of the agent {'waits' if waiting == 1 else 'wait'} for your decision.")
    st.caption(f"Your message: “{literal(shorten(question, 300))}”")
    with st.container(horizontal=True):
        if st.button("Keep waiting", key="keep-waiting", type="primary"):
            st.rerun()
        if st.button(
            "Reject and send", key="reject-and-send", icon=":material/send:", on_click=session.ask_later,
            args=(session.Question(question),),
        ):  # fmt: skip
            st.rerun()


def _placeholder(active: RunInfo | None, waiting: int, agent: str) -> str:
    if active is None:
        return f"Give {agent} a task" if agent else "Ask about your documents"
    if active.state == "running":
        return "Answering; stop it to ask something else"
    verb = "waits" if waiting == 1 else "wait"
    return f"{plural(waiting, 'call')} {verb} for you; a message rejects what waits"
