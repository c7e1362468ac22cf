"""A page of a PDF as it looks, with the place of a passage on it."""

from __future__ import annotations

import streamlit as st

from app.page_schema import BoxView
from app.schema import ChunkView
from ingestion.types import DocumentRecord
from ui import session
from ui.client import ApiClient
from ui.document_html import chunks_html, page_html
from ui.errors import ApiRefused
from ui.wording import literal, place

PICTURE_WIDTH = 1100
"""Pixels: sharp on a laptop's screen, and some hundred kilobytes."""


def draw_pages(record: DocumentRecord, chunks: list[ChunkView]) -> None:
    """Draw one page at a time, and mark the passage that is chosen."""
    last = max(record.pages or 1, 1)
    page = st.pagination(last, key="pdf-page") if last > 1 else 1
    here = [chunk for chunk in chunks if chunk.page == page]
    left, right = st.columns([3, 2])
    with right:
        chunk = st.selectbox(
            "Mark a passage",
            here,
            index=0 if here else None,
            format_func=lambda chunk: literal(place(f"Passage {chunk.position + 1}", None, chunk.section)),
            key=f"pdf-chunk-{page}",
            placeholder="No passage begins on this page",
        )
        if chunk:
            st.html(chunks_html([chunk]))
    with left:
        try:
            picture = _picture(session.client().base_url, record.document_id, record.content_sha256, page)
            boxes = _boxes(record.document_id, page, chunk)
        except ApiRefused as error:
            st.info(literal(str(error)), icon=":material/hide_image:")
            return
        st.html(page_html(picture, boxes, page=page))
    if chunk and not boxes:
        right.caption("The passage's words were not found on the picture, as on scanned pages.")


def _boxes(document_id: str, page: int, chunk: ChunkView | None) -> list[BoxView]:
    if chunk is None:
        return []
    return session.client().inside.page_place(document_id, page, chunk.chunk_id).boxes


@st.cache_data(max_entries=30, show_spinner="Drawing the page …")
def _picture(base_url: str, document_id: str, content_sha256: str, page: int) -> bytes:  # noqa: ARG001 - names the version
    with ApiClient(base_url) as client:
        return client.inside.page_picture(document_id, page, width=PICTURE_WIDTH)
