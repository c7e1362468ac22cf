"""One document: what is known of it, its passages, its text, and deleting it."""

from __future__ import annotations

import streamlit as st

from app.schema import ChunkView
from ingestion.types import DocumentRecord
from ui import session
from ui.errors import ApiRefused, UiError
from ui.markup import text_html
from ui.wording import literal, place, plural, size

PAGE_CHARACTERS = 20_000
"""How much text of a document is drawn at once."""
CHUNKS_SHOWN = 20
_COLOURS = {"ready": "green", "failed": "red", "processing": "blue"}


def draw_document(document_id: str) -> None:
    """Draw the document, or that there is none."""
    st.button(
        "All documents", icon=":material/arrow_back:", type="tertiary", on_click=session.open_document, args=(None,)
    )
    try:
        record = session.client().document(document_id)
    except ApiRefused as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    st.markdown(f"#### {literal(record.title or record.source)}")
    _draw_facts(record)
    if record.status == "ready":
        passages, text = st.tabs(["Passages", "Text"])
        with passages:
            _draw_chunks(document_id)
        with text:
            _draw_text(document_id)
    if st.button("Delete document", icon=":material/delete:", key="delete-document"):
        _confirm(record)


def _draw_facts(record: DocumentRecord) -> None:
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.badge(record.status, color=_COLOURS[record.status])  # pyright: ignore[reportArgumentType]
        st.badge(literal(record.collection), color="gray")
    facts = [
        literal(record.source),
        plural(record.chunks, "passage"),
        "" if record.pages is None else plural(record.pages, "page"),
        literal(record.media_type),
        size(record.size_bytes) if record.size_bytes else "",
        f"changed {record.updated_at[:16].replace('T', ' ')}" if record.updated_at else "",
    ]
    st.caption(" · ".join(fact for fact in facts if fact))
    if record.reason:
        st.error(literal(f"{record.reason.replace('_', ' ').capitalize()}: {record.detail}"), icon=":material/error:")
    if record.metadata:
        st.caption(" · ".join(literal(f"{name}: {value}") for name, value in record.metadata.items()))


def _draw_chunks(document_id: str) -> None:
    chunks = session.client().document_chunks(document_id).chunks
    pages = max(1, -(-len(chunks) // CHUNKS_SHOWN))
    page = st.pagination(pages, key="chunk-page") if pages > 1 else 1
    for chunk in chunks[(page - 1) * CHUNKS_SHOWN : page * CHUNKS_SHOWN]:
        _draw_chunk(chunk)


def _draw_chunk(chunk: ChunkView) -> None:
    with st.container(border=True):
        st.caption(
            literal(
                f"{place(f'Passage {chunk.position + 1}', chunk.page, chunk.section)} · "
                f"{plural(chunk.token_count, 'token')} · characters {chunk.char_start:,} to {chunk.char_end:,}"
            )
        )
        st.html(text_html(chunk.text))


def _draw_text(document_id: str) -> None:
    text = session.client().document_text(document_id)
    pages = max(1, -(-len(text) // PAGE_CHARACTERS))
    page = st.pagination(pages, key="text-page") if pages > 1 else 1
    st.html(text_html(text[(page - 1) * PAGE_CHARACTERS : page * PAGE_CHARACTERS]))


@st.dialog("Delete this document?", icon=":material/delete:")
def _confirm(record: DocumentRecord) -> None:
    st.markdown(f"**{literal(record.title or record.source)}**")
    st.caption(f"{plural(record.chunks, 'passage')} leave the store; the file itself is not touched.")
    with st.container(horizontal=True):
        if st.button("Delete", key="confirm-delete-document", type="primary", on_click=_delete, args=(record,)):
            st.rerun()
        if st.button("Keep", key="keep-document"):
            st.rerun()


def _delete(record: DocumentRecord) -> None:
    try:
        receipt = session.client().delete_document(record.document_id)
    except UiError as error:
        session.notify("error", str(error))
        return
    session.open_document(None)
    left = plural(receipt.chunks_left, "passage")
    session.notify("success", f"Deleted {receipt.source}; {left} of it left in the store, counted afterwards.")
