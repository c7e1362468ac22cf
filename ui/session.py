"""Typed view of the browser session: where the API is, which thread is open, what is to be shown once.

Nothing of a run is kept here but what can be read again from the API.
"""

from __future__ import annotations

import os
from contextlib import closing
from typing import Literal, NamedTuple

import streamlit as st

from agents.events import RunEvent
from ui.client import ApiClient
from ui.run_view import RunView, fold

API_URL_VARIABLE = "GROUNDWORK_API_URL"
DEFAULT_API_URL = "http://127.0.0.1:8080"

THREAD = "thread"
"""Name of the thread in the address."""
_DOCUMENT = "document"
_PRESET = "preset"
_PASSAGE = "passage_to_open"
_QUESTION = "question_to_ask"
_NOTICE = "notice"
_JOB = "upload_job"


class PassageKey(NamedTuple):
    """A passage that the reader wants to see."""

    document_id: str
    chunk_id: str
    run_id: str = ""
    citation: int = 0
    """Number within the run's answer; 0 for a passage that is no citation."""
    call_id: str = ""
    """Call of a tool whose whole result is meant; the other fields are empty then."""
    attachment_id: str = ""
    """Text attached to the thread ``thread_id`` that is meant; the other fields are empty then."""
    thread_id: str = ""


class Question(NamedTuple):
    """A question that is to be asked."""

    text: str
    replaces: str = ""
    """Run whose place the new one takes."""
    continues: str = ""
    """Run whose answer the new one goes on with."""
    agent: str | None = None
    """Who answers; None leaves it to what is chosen beside the question box."""


class Notice(NamedTuple):
    """A sentence to show once, at the top of the next page."""

    kind: Literal["success", "error"]
    text: str


def client() -> ApiClient:
    """The client that all sessions of this process share."""
    return _client(os.environ.get(API_URL_VARIABLE) or DEFAULT_API_URL)


@st.cache_resource
def _client(base_url: str) -> ApiClient:
    return ApiClient(base_url)


def thread_id() -> str | None:
    """The open thread: of the address, else the one that was open before another page was."""
    if named := st.query_params.get(THREAD):
        st.session_state[THREAD] = named
    elif remembered := st.session_state.get(THREAD):
        st.query_params[THREAD] = remembered
    return st.session_state.get(THREAD)


def open_thread(identifier: str | None) -> None:
    """Open a thread, or a new one; the address follows, so that a reload and a second tab show the same."""
    if identifier is None:
        st.session_state.pop(THREAD, None)
        st.query_params.pop(THREAD, None)
    else:
        st.session_state[THREAD] = identifier
        st.query_params[THREAD] = identifier


def document_id() -> str | None:
    """The document in the address."""
    return st.query_params.get(_DOCUMENT)


def open_document(identifier: str | None) -> None:
    """Put a document into the address, or none."""
    if identifier is None:
        st.query_params.pop(_DOCUMENT, None)
    else:
        st.query_params[_DOCUMENT] = identifier


def preset_name() -> str | None:
    """The preset in the address."""
    return st.query_params.get(_PRESET)


def open_preset(name: str | None) -> None:
    """Put a preset into the address, or none."""
    if name is None:
        st.query_params.pop(_PRESET, None)
    else:
        st.query_params[_PRESET] = name


def ask_to_open(passage: PassageKey) -> None:
    """Have the passage opened in this run of the page."""
    st.session_state[_PASSAGE] = passage


def take_passage() -> PassageKey | None:
    """The passage to open, once."""
    return st.session_state.pop(_PASSAGE, None)


def ask_later(question: Question) -> None:
    """Have the question asked in this run of the page."""
    st.session_state[_QUESTION] = question


def take_question() -> Question | None:
    """The question to ask, once."""
    return st.session_state.pop(_QUESTION, None)


def notify(kind: Literal["success", "error"], text: str) -> None:
    """Show a sentence at the top of the page that is drawn next."""
    st.session_state[_NOTICE] = Notice(kind, text)


def take_notice() -> Notice | None:
    """The sentence to show, once."""
    return st.session_state.pop(_NOTICE, None)


def job_id() -> str | None:
    """The upload whose progress is shown."""
    return st.session_state.get(_JOB)


def show_job(identifier: str | None) -> None:
    """Show an upload's progress, or none."""
    st.session_state[_JOB] = identifier


def view_of(run_id: str) -> RunView:
    """What this session has seen of a run; an empty view at first."""
    return st.session_state.get(f"run-{run_id}") or RunView()


def keep_view(run_id: str, view: RunView) -> None:
    """Keep what was seen, to attach behind it."""
    st.session_state[f"run-{run_id}"] = view


def view_up_to(run_id: str, last_seq: int) -> RunView:
    """The view of a run that waits, up to an event that its log has."""
    view = view_of(run_id)
    with closing(client().follow(run_id, after=view.seq)) as events:
        while view.seq < last_seq and (event := next(events, None)) is not None:
            view = fold([event], view)
    keep_view(run_id, view)
    return view


@st.cache_data(max_entries=500, show_spinner=False)
def ended_view(base_url: str, run_id: str) -> RunView:
    """The view of a run that has ended; its log does not change any more."""
    with ApiClient(base_url) as reader:
        events: list[RunEvent] = [event for event in reader.follow(run_id) if event is not None]
    return fold(events)
