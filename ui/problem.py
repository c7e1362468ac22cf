"""What is shown when the API does not answer or refuses."""

from __future__ import annotations

import streamlit as st

from ui import session
from ui.errors import ApiRefused, ApiUnreachable, UiError
from ui.wording import literal

WATCH_SECONDS = 3.0
_JUST_FAILED = "page_just_failed"


def draw_problem(error: UiError) -> None:
    """One sentence that says what to do, and a button to try again."""
    st.error(literal(str(error)), icon=":material/cloud_off:")
    if isinstance(error, ApiRefused) and error.code == "thread_unknown":
        st.button("Start a new chat", icon=":material/add_comment:", on_click=session.open_thread, args=(None,))
    else:
        st.button("Try again", icon=":material/refresh:")
    if isinstance(error, ApiUnreachable):
        st.session_state[_JUST_FAILED] = True
        _watch()


@st.fragment(run_every=WATCH_SECONDS)
def _watch() -> None:
    """Draw the page anew when the API answers again; the first pass is part of the page that just failed."""
    if st.session_state.pop(_JUST_FAILED, False):
        return
    try:
        session.client().threads()
    except UiError:
        return
    st.rerun()


def draw_notice() -> None:
    """The sentence that an action left behind, once."""
    if notice := session.take_notice():
        if notice.kind == "success":
            st.success(literal(notice.text), icon=":material/check_circle:")
        else:
            st.error(literal(notice.text), icon=":material/error:")
