"""One document: what is known of it, its stages, its text beside its passages, its pages, and deleting it."""

from __future__ import annotations

import streamlit as st

from app.schema import ChunkView
from ingestion.types import DocumentRecord
from ui import session
from ui.document_html import chunks_html, cut_text_html, stages_html
from ui.errors import ApiRefused, UiError
from ui.page_view import draw_pages
from ui.wording import literal, plural, shorten, size

WINDOW_CHARACTERS = 12_000
"""How much text of a document is drawn at once."""
CHILDREN_SHOWN = 20
PDF = "application/pdf"
_COLOURS = {"ready": "green", "failed": "red", "processing": "blue", "container": "gray"}


def draw_document(document_id: str) -> None:
    """Draw the document, or that there is none."""
    st.set_page_config(layout="wide")
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
    st.html(stages_html(session.client().inside.stages(document_id)))
    _draw_family(record)
    if record.status == "ready":
        _draw_inside(record)
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


def _draw_family(record: DocumentRecord) -> None:
    """Ways to the file that holds this one, and to those inside it."""
    with st.container(horizontal=True, gap="small"):
        if record.parent_id:
            st.button(
                "The file that holds it",
                icon=":material/folder_zip:",
                type="tertiary",
                on_click=session.open_document,
                args=(record.parent_id,),
            )
        if record.children:
            inside = [other for other in session.client().documents() if other.parent_id == record.document_id]
            for child in inside[:CHILDREN_SHOWN]:
                st.button(
                    literal(shorten(child.title or child.source, 50)),
                    key=f"child-{child.document_id}",
                    icon=":material/attach_file:",
                    on_click=session.open_document,
                    args=(child.document_id,),
                )


def _draw_inside(record: DocumentRecord) -> None:
    chunks = session.client().inside.chunks(record.document_id).chunks
    if record.media_type != PDF:
        _draw_text(record.document_id, chunks)
        return
    text, pages = st.tabs(["Text and passages", "Pages"], key="document-tabs", on_change="rerun")
    if text.open:
        with text:
            _draw_text(record.document_id, chunks)
    if pages.open:
        with pages:
            draw_pages(record, chunks)


def _draw_text(document_id: str, chunks: list[ChunkView]) -> None:
    """The text with its cuts, beside the passages that it was cut into."""
    text = session.client().inside.text(document_id)
    windows = max(1, -(-len(text) // WINDOW_CHARACTERS))
    window = st.pagination(windows, key="text-page") if windows > 1 else 1
    start, end = (window - 1) * WINDOW_CHARACTERS, min(window * WINDOW_CHARACTERS, len(text))
    shown = [chunk for chunk in chunks if chunk.char_end > start and chunk.char_start < end]
    left, right = st.columns([3, 2])
    with left:
        st.caption("Text as it was read, shaded by passage; what is pale stands in none.")
        st.html(cut_text_html(text, chunks, start, end))
    with right:
        st.caption(plural(len(shown), "passage"))
        st.html(chunks_html(shown))


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
