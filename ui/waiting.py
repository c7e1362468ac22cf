"""How much waits for a person, over all chats: the figure in the navigation."""

from __future__ import annotations

import streamlit as st

from ui import session
from ui.errors import UiError

WATCH_SECONDS = 3.0


def waiting_count() -> int | None:
    """Calls to decide or settle, and questions to answer; None while the API does not answer, which the page says."""
    try:
        counts = session.client().approvals.list(limit=1).counts
        questions = len(session.client().tools.questions())
    except UiError:
        return None
    return counts.pending + counts.unknown + questions


@st.fragment(run_every=WATCH_SECONDS)
def watch_waiting(shown: int | None) -> None:
    """Draw the page anew when the figure is another one than the navigation shows."""
    current = waiting_count()
    if current is not None and current != shown:
        st.rerun()
