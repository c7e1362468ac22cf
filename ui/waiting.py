"""How much waits for a person, over all chats: the figure in the navigation."""

from __future__ import annotations

import streamlit as st

from ui import session
from ui.errors import UiError

WATCH_SECONDS = 3.0


def waiting_count() -> int:
    """Calls to decide or settle; 0 while the API does not answer, which the page says."""
    try:
        counts = session.client().approvals.list(limit=1).counts
    except UiError:
        return 0
    return counts.pending + counts.unknown


@st.fragment(run_every=WATCH_SECONDS)
def watch_waiting(shown: int) -> None:
    """Draw the page anew when the figure is another one than the navigation shows."""
    if waiting_count() != shown:
        st.rerun()
