"""The run that is going on, or waits for a person, drawn as its events come.

A fragment that is run again every moment, each time for a moment: a click elsewhere on the page is served between
two of them, and closing the tab ends nothing but the drawing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from time import monotonic

import streamlit as st

from agents.events import RunEvent, Token
from app.schema import RunInfo
from ui import decisions, session
from ui.cards import draw_cards, draw_notes
from ui.errors import ApiRefused, ApiUnreachable, UiError
from ui.markup import busy_html, markdown_html
from ui.questions import draw_questions
from ui.run_view import RunView, Stage, fold
from ui.step_view import CallView, calls_of
from ui.steps import draw_steps
from ui.wording import literal, plural

ATTACH_SECONDS = 1.5
"""How long one pass reads before other fragments of the page get their turn."""
PAGE_SECONDS = 0.2
"""How long the pass reads that is part of drawing the whole page."""
TICK_SECONDS = 0.5
"""How often the browser asks for a pass; it gets one at a time."""
DRAW_SECONDS = 0.1
"""Shortest time between two drawings of the text; the browser would not keep up with every token."""
SLOW_SECONDS = 4
"""From when on the time is shown that the first token takes."""
CARD_SECONDS = 2.0
"""How often the cards are read anew."""
_PAGE_PASS = "stream-in-page"
_STAGES: dict[Stage, str] = {
    "searching": "Searching the documents",
    "reading": "Reading",
    "thinking": "Thinking",
    "acting": "Working with tools",
    "waiting": "Waiting for you",
    "writing": "Writing",
    "checking": "Checking each sentence",
    "ended": "Done",
}


def draw_active(run: RunInfo) -> None:
    """Draw a run that has not ended, with the cards of its calls; the page is drawn anew when its state changes."""
    body = st.container()
    cards = st.container()
    # Outside the fragment, so that a click interrupts it instead of waiting; sent first, to be there at once.
    st.button("Stop", key=f"stop-{run.run_id}", icon=":material/stop_circle:", on_click=_stop, args=(run.run_id,))
    with body:
        if run.state == "waiting":
            draw_steps(session.view_up_to(run.run_id, run.last_seq).steps)
        else:
            st.session_state[_PAGE_PASS] = True
            _draw(run.run_id, datetime.fromisoformat(run.created_at))
    if run.agent:
        with cards:
            _draw_cards(run)


@st.fragment(run_every=CARD_SECONDS)
def _draw_cards(run: RunInfo) -> None:
    """What waits for a person, read anew every moment: somebody may decide elsewhere."""
    client = session.client()
    try:
        waiting = client.approvals.list(run_id=run.run_id)
        current = client.run(run.run_id)
    except UiError as error:
        st.warning(f"{literal(str(error))} The cards come back by themselves.", icon=":material/cloud_off:")
        return
    moved_on = run.state == "waiting" and (current.state, current.last_seq) != (run.state, run.last_seq)
    if decisions.to_confirm() or moved_on:
        st.rerun()
    draw_notes(run.run_id)
    agents = {call.call_id: step.agent for step in session.view_of(run.run_id).steps for call in step.calls}
    draw_cards(run.run_id, waiting, agents=agents)
    draw_questions(run_id=run.run_id)
    if run.state == "waiting" and not waiting.approvals:
        st.html(busy_html("Going on …"))


@st.fragment(run_every=TICK_SECONDS)
def _draw(run_id: str, started: datetime) -> None:
    # As part of the whole page it reads for a moment alone: the browser shows what is left of the page before until
    # the page is complete.
    attach_seconds = PAGE_SECONDS if st.session_state.pop(_PAGE_PASS, False) else ATTACH_SECONDS
    canvas = _Canvas(started)
    seen = view = session.view_of(run_id)
    canvas.show(view)
    try:
        for view in _views(run_id, seen, attach_seconds):
            session.keep_view(run_id, view)
            canvas.show(view)
    except ApiUnreachable as error:
        canvas.status.warning(f"{literal(str(error))} This page attaches again by itself.", icon=":material/cloud_off:")
    except ApiRefused:
        # The thread was deleted elsewhere; the page says so.
        st.rerun()
    else:
        if view.ended or (view.stage == "waiting" and session.client().run(run_id).state != "running"):
            st.rerun()


def _views(run_id: str, view: RunView, attach_seconds: float) -> Iterator[RunView]:
    """The view after each batch of events, for one pass."""
    started = drawn = monotonic()
    waiting: list[RunEvent] = []
    with closing(session.client().follow(run_id, after=view.seq)) as events:
        for event in events:
            if event is not None:
                waiting.append(event)
            now = monotonic()
            if not isinstance(event, Token) or now - drawn >= DRAW_SECONDS:
                view = fold(waiting, view)
                waiting.clear()
                drawn = now
                yield view
            if now - started >= attach_seconds:
                break
    yield fold(waiting, view)


class _Canvas:
    """The places that a running run is drawn to."""

    def __init__(self, started: datetime) -> None:
        self._started = started
        self._steps = st.empty()
        self.status = st.empty()
        self._text = st.empty()
        self._calls: tuple[CallView, ...] = ()

    def show(self, view: RunView) -> None:
        """Draw the view; its calls only when they changed."""
        if (calls := calls_of(view.steps)) != self._calls:
            self._calls = calls
            with self._steps.container():
                draw_steps(view.steps, live=True)
        found = plural(len(view.passages), "passage")
        label = f"Reading {found}" if view.stage == "reading" and view.passages else _STAGES[view.stage]
        waited = (datetime.now(UTC) - self._started).total_seconds()
        since = f" {waited:.0f} s" if waited >= SLOW_SECONDS and not view.answer_text else ""
        self.status.html(busy_html(f"{label} …{since}"))
        if view.answer_text:
            self._text.html(markdown_html(view.answer_text))
        else:
            self._text.empty()


def _stop(run_id: str) -> None:
    try:
        session.client().cancel_run(run_id)
    except UiError as error:
        session.notify("error", str(error))
