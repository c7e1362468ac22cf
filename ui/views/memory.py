"""Memory: what is remembered about the reader from chat to chat, to be read, corrected and forgotten."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from app.memory_schema import FactEdit
from tools.facts import MAX_FACT_CHARS, Fact
from ui import session
from ui.call_wording import moment
from ui.errors import UiError
from ui.passage_drawer import CHAT_PAGE
from ui.problem import draw_notice
from ui.wording import literal, plural, shorten

_NEW = "new-fact"
_EDITED = "edited_fact"


def draw() -> None:
    """Draw the memory page."""
    st.subheader("Memory", anchor=False)
    st.caption(
        "What agents know of you in every chat. They add to it through a tool that you approve; documents and results "
        "of tools never do."
    )
    draw_notice()
    with st.form("add-fact", clear_on_submit=True, border=False):
        st.text_input(
            "Remember", key=_NEW, max_chars=MAX_FACT_CHARS, placeholder="I look after the cluster named bookings."
        )
        st.form_submit_button("Add", icon=":material/add:", on_click=_add)
    listing = session.client().memory.facts()
    if not listing.facts:
        st.caption("Nothing is remembered.")
        return
    st.caption(f"{plural(len(listing.facts), 'fact')}, {listing.max_facts:,} are kept")
    for fact in listing.facts:
        with st.container(border=True):
            _draw_editor(fact) if st.session_state.get(_EDITED) == fact.fact_id else _draw_fact(fact)


def _draw_fact(fact: Fact) -> None:
    pin = ":material/keep: " if fact.pinned else ""
    st.markdown(f"{pin}{literal(fact.text)}")
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"{moment(fact.updated_at)}, {'by an agent' if fact.call_id else 'by you'}")
        if fact.thread_id:
            st.page_link(
                CHAT_PAGE, label="Chat", icon=":material/forum:", query_params={session.THREAD: fact.thread_id}
            )
        st.button(
            "Edit", key=f"edit-{fact.fact_id}", icon=":material/edit:", type="tertiary", on_click=_edit, args=(fact,)
        )
        st.button(
            "Unpin" if fact.pinned else "Pin",
            key=f"pin-{fact.fact_id}",
            icon=":material/keep_off:" if fact.pinned else ":material/keep:",
            help="Pinned facts stand before all others.",
            type="tertiary",
            on_click=_pin,
            args=(fact,),
        )
        st.button(
            "Forget", key=f"forget-{fact.fact_id}", icon=":material/delete:", type="tertiary", on_click=_forget,
            args=(fact,),
        )  # fmt: skip


def _draw_editor(fact: Fact) -> None:
    with st.form(f"edit-form-{fact.fact_id}", border=False):
        st.text_area("Fact", value=fact.text, key=f"text-{fact.fact_id}", max_chars=MAX_FACT_CHARS)
        with st.container(horizontal=True):
            st.form_submit_button("Save", type="primary", on_click=_save, args=(fact,))
            st.form_submit_button("Cancel", on_click=_edit, args=(None,))


def _edit(fact: Fact | None) -> None:
    st.session_state[_EDITED] = fact.fact_id if fact else None


def _add() -> None:
    text: str = st.session_state[_NEW].strip()
    if text:
        _do(lambda: session.client().memory.add(text), "Remembered")


def _save(fact: Fact) -> None:
    text: str = st.session_state[f"text-{fact.fact_id}"].strip()
    if not text:
        session.notify("error", "A fact has words; forget it instead.")
        return
    _do(lambda: session.client().memory.edit(fact.fact_id, FactEdit(text=text)), "Saved")
    _edit(None)


def _pin(fact: Fact) -> None:
    change = FactEdit(pinned=not fact.pinned)
    _do(lambda: session.client().memory.edit(fact.fact_id, change), "Unpinned" if fact.pinned else "Pinned")


def _forget(fact: Fact) -> None:
    _do(lambda: session.client().memory.delete(fact.fact_id), "Forgotten")


def _do(action: Callable[[], Fact], done: str) -> None:
    try:
        fact = action()
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"{done}: {shorten(fact.text, 80)}")


draw()
