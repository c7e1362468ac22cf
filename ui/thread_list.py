"""The list of threads in the sidebar."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.schema import ThreadInfo
from ui import session
from ui.errors import UiError
from ui.wording import literal, shorten

SHOWN = 30
"""How many threads are listed at first."""
TITLE_LENGTH = 34


def draw_thread_list(threads: Sequence[ThreadInfo], *, open_id: str | None) -> None:
    """Draw a button for a new thread and one for each that exists, latest first."""
    st.button(
        "New chat",
        key="new-chat",
        icon=":material/add_comment:",
        width="stretch",
        on_click=session.open_thread,
        args=(None,),
    )
    shown = threads if st.session_state.get("all-threads") else threads[:SHOWN]
    with st.container(gap=None):
        for thread in shown:
            _draw_row(thread, is_open=thread.thread_id == open_id)
    if len(shown) < len(threads):
        st.button(f"Show all {len(threads)}", key="show-all", type="tertiary", on_click=_show_all)


def _draw_row(thread: ThreadInfo, *, is_open: bool) -> None:
    title = thread.title or "New chat"
    with st.container(
        horizontal=True, wrap=False, gap=None, vertical_alignment="center", key=f"row-{thread.thread_id}"
    ):
        st.button(
            f"**{literal(shorten(title, TITLE_LENGTH))}**" if is_open else literal(shorten(title, TITLE_LENGTH)),
            key=f"open-{thread.thread_id}",
            type="tertiary",
            width="stretch",
            on_click=session.open_thread,
            args=(thread.thread_id,),
        )
        if st.button(
            "",
            key=f"delete-{thread.thread_id}",
            icon=":material/delete:",
            type="tertiary",
            help=f"Delete {literal(shorten(title, TITLE_LENGTH))}",
        ):
            _confirm(thread)


@st.dialog("Delete this chat?", icon=":material/delete:")
def _confirm(thread: ThreadInfo) -> None:
    st.markdown(f"**{literal(thread.title or 'New chat')}**")
    st.caption("Its questions and answers are deleted; documents stay.")
    with st.container(horizontal=True):
        if st.button("Delete", key="confirm-delete-thread", type="primary", on_click=_delete, args=(thread,)):
            st.rerun()
        if st.button("Keep", key="keep-thread"):
            st.rerun()


def _delete(thread: ThreadInfo) -> None:
    try:
        session.client().delete_thread(thread.thread_id)
    except UiError as error:
        session.notify("error", str(error))
        return
    if session.thread_id() == thread.thread_id:
        session.open_thread(None)
    session.notify("success", f"Deleted “{shorten(thread.title or 'New chat', 60)}”.")


def _show_all() -> None:
    st.session_state["all-threads"] = True
