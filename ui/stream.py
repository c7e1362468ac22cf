"""The run that is going on, drawn as its events come.

A fragment that is run again every moment, each time for a moment: a click elsewhere on the page is served between
two of them, and closing the tab ends nothing but the drawing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from time import monotonic

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from agents.events import RunEvent, Token
from app.schema import RunInfo
from ui import session
from ui.errors import ApiRefused, ApiUnreachable, UiError
from ui.markup import busy_html, markdown_html
from ui.run_view import RunView, Stage, fold
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
_PAGE_PASS = "stream-in-page"
_STAGES: dict[Stage, str] = {
    "searching": "Searching the documents",
    "reading": "Reading",
    "writing": "Writing",
    "checking": "Checking each sentence",
    "ended": "Done",
}


def draw_running(run: RunInfo) -> None:
    """Draw a run that goes on, from its first event to its last; the page is drawn anew when it has ended."""
    body = st.container()
    # Outside the fragment, so that a click interrupts it instead of waiting; sent first, to be there at once.
    st.button("Stop", key=f"stop-{run.run_id}", icon=":material/stop_circle:", on_click=_stop, args=(run.run_id,))
    st.session_state[_PAGE_PASS] = True
    with body:
        _draw(run.run_id, datetime.fromisoformat(run.created_at))


@st.fragment(run_every=TICK_SECONDS)
def _draw(run_id: str, started: datetime) -> None:
    # As part of the whole page it reads for a moment alone: the browser shows what is left of the page before until
    # the page is complete.
    attach_seconds = PAGE_SECONDS if st.session_state.pop(_PAGE_PASS, False) else ATTACH_SECONDS
    status = st.empty()
    text = st.empty()
    seen = view = session.view_of(run_id)
    _show(view, started, status, text)
    try:
        for view in _views(run_id, seen, attach_seconds):
            session.keep_view(run_id, view)
            _show(view, started, status, text)
    except ApiUnreachable as error:
        status.warning(f"{literal(str(error))} This page attaches again by itself.", icon=":material/cloud_off:")
    except ApiRefused:
        # The thread was deleted elsewhere; the page says so.
        st.rerun()
    else:
        if view.ended:
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


def _show(view: RunView, started: datetime, status: DeltaGenerator, text: DeltaGenerator) -> None:
    found = plural(len(view.passages), "passage")
    label = f"Reading {found}" if view.stage == "reading" else _STAGES[view.stage]
    waited = (datetime.now(UTC) - started).total_seconds()
    since = f" {waited:.0f} s" if waited >= SLOW_SECONDS and not view.text else ""
    status.html(busy_html(f"{label} …{since}"))
    if view.text:
        text.html(markdown_html(view.text))


def _stop(run_id: str) -> None:
    try:
        session.client().cancel_run(run_id)
    except UiError as error:
        session.notify("error", str(error))
