"""Collections: what they are for, how large they are; create, describe, delete."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.schema import CollectionInfo
from ui import session
from ui.errors import UiError
from ui.wording import literal, plural

_NAME = "collection-name"
_DESCRIPTION = "collection-description"


def draw_collections(collections: Sequence[CollectionInfo]) -> None:
    """Draw the collections, and a form for a new one."""
    with st.expander(f"Collections ({len(collections)})", icon=":material/folder_copy:"):
        for collection in collections:
            _draw_collection(collection)
        with st.form("new-collection", clear_on_submit=True, border=False):
            st.text_input("New collection", key=_NAME, max_chars=100, placeholder="runbooks")
            st.text_input("What it is for", key=_DESCRIPTION, max_chars=2000)
            st.form_submit_button("Create", icon=":material/create_new_folder:", on_click=_create)


def _draw_collection(collection: CollectionInfo) -> None:
    name = collection.name
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        counted = f"{plural(collection.documents, 'document')}, {plural(collection.chunks, 'passage')}"
        st.markdown(f"**{literal(name)}** :gray[{counted}]")
        with st.container(horizontal=True, width="content", gap="small"):
            with st.popover("Describe", icon=":material/edit:", key=f"describe-{name}", type="tertiary"):
                st.text_area("What it is for", value=collection.description, key=_about_key(name), max_chars=2000)
                st.button("Save", key=f"save-{name}", type="primary", on_click=_describe, args=(name,))
            if st.button("Delete", key=f"delete-collection-{name}", icon=":material/delete:", type="tertiary"):
                _confirm(collection)
    if collection.description:
        st.caption(literal(collection.description))


@st.dialog("Delete this collection?", icon=":material/delete:")
def _confirm(collection: CollectionInfo) -> None:
    st.markdown(f"**{literal(collection.name)}**")
    st.caption(
        f"{plural(collection.documents, 'document')} with {plural(collection.chunks, 'passage')} leave the store; "
        "the files themselves are not touched."
    )
    with st.container(horizontal=True):
        if st.button("Keep", key="keep-collection", type="primary"):
            st.rerun()
        if st.button("Delete", key="confirm-delete-collection", on_click=_delete, args=(collection.name,)):
            st.rerun()


def _create() -> None:
    name: str = st.session_state[_NAME].strip()
    if not name:
        session.notify("error", "Give the collection a name.")
        return
    _put(name, st.session_state[_DESCRIPTION].strip(), "Created")


def _describe(name: str) -> None:
    _put(name, st.session_state[_about_key(name)].strip(), "Described")


def _put(name: str, description: str, done: str) -> None:
    try:
        session.client().inside.describe_collection(name, description)
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"{done}: {name}")


def _delete(name: str) -> None:
    try:
        receipt = session.client().inside.delete_collection(name)
    except UiError as error:
        session.notify("error", str(error))
        return
    left = plural(receipt.chunks_left, "passage")
    gone = plural(receipt.documents, "document")
    session.notify("success", f"Deleted {name} with {gone}; {left} of it left in the store, counted afterwards.")


def _about_key(name: str) -> str:
    return f"about-{name}"
