"""Documents: what is in, what is not and why; upload and delete."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.schema import StatusReport
from ingestion.types import DocumentRecord
from ui import session
from ui.collection_list import draw_collections
from ui.document_detail import draw_document
from ui.problem import draw_notice
from ui.upload import draw_upload
from ui.wording import plural

TABLE = "document-table"
ALL = "All"


def draw() -> None:
    """Draw the documents page."""
    client = session.client()
    st.subheader("Documents", anchor=False)
    draw_notice()
    if chosen := session.document_id():
        draw_document(chosen)
        return
    head = st.container()
    collections = client.collections()
    draw_upload([collection.name for collection in collections])
    draw_collections(collections)
    # Read behind the upload: what it has just finished is in.
    records = client.documents()
    with head:
        _draw_status(client.status())
    if not records:
        st.info("There are no documents yet. Add files above, or run: `groundwork ingest FOLDER`")
        return
    _draw_table(_filtered(records))


def _draw_status(status: StatusReport) -> None:
    with st.container(horizontal=True, gap="medium", vertical_alignment="center"):
        st.metric("Documents", f"{status.documents:,}", width="content")
        st.metric("Passages", f"{status.chunks:,}", width="content")
        st.metric("Not in", f"{len(status.failed):,}", width="content")
    if status.consistent:
        st.caption(f":material/check_circle: Ledger and store hold the same passages ({status.store}).")
    else:
        st.warning(
            f"Ledger and store differ: {plural(status.missing_chunks, 'passage')} missing in the store, "
            f"{plural(status.orphaned_points, 'passage')} there without a document. Run: "
            "`groundwork doctor --repair`, to put it right.",
            icon=":material/warning:",
        )


def _filtered(records: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    collections = sorted({record.collection for record in records})
    states = sorted({record.status for record in records})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = st.text_input("Find", placeholder="Title or source", key="find-document").lower().split()
        collection = st.selectbox("Collection", [ALL, *collections], key="find-collection")
        state = st.selectbox("Status", [ALL, *states], key="find-status")
    return [
        record
        for record in records
        if collection in (ALL, record.collection)
        and state in (ALL, record.status)
        and all(word in f"{record.title} {record.source}".lower() for word in words)
    ]


def _draw_table(records: list[DocumentRecord]) -> None:
    if not records:
        st.caption("No document matches.")
        return
    st.selectbox(
        "Open a document",
        [record.document_id for record in records],
        index=None,
        format_func={record.document_id: _name(record) for record in records}.__getitem__,
        placeholder=f"Choose one of {plural(len(records), 'document')}, or a row of the table",
        key="document-to-open",
        on_change=_open_chosen,
    )
    rows = [_row(record) for record in records]
    st.dataframe(
        rows,
        column_order=[name for name in rows[0] if any(row[name] not in ("", None) for row in rows)],
        hide_index=True,
        key=TABLE,
        on_select=lambda: _open_row(records),
        selection_mode="single-row",
        height=min(560, 38 + 35 * len(records)),
        placeholder="",
        column_config={
            "title": st.column_config.TextColumn("Title", width="medium"),
            "status": st.column_config.TextColumn("Status", width="small"),
            "collection": st.column_config.TextColumn("Collection", width="small"),
            "chunks": st.column_config.NumberColumn("Passages", width="small"),
            "pages": st.column_config.NumberColumn("Pages", width="small"),
            "reason": st.column_config.TextColumn("Why not", width="medium"),
            "source": st.column_config.TextColumn("Source", width="large"),
            "updated": st.column_config.TextColumn("Changed", width="small"),
        },
    )


def _row(record: DocumentRecord) -> dict[str, str | int | None]:
    reason = (record.reason or "").replace("_", " ")
    return {
        "title": _name(record),
        "status": record.status,
        "collection": record.collection,
        "chunks": record.chunks,
        "pages": record.pages,
        "reason": f"{reason}: {record.detail}" if reason and record.detail else reason,
        "source": record.source,
        "updated": record.updated_at[:16].replace("T", " "),
    }


def _name(record: DocumentRecord) -> str:
    return record.title or record.source


def _open_chosen() -> None:
    session.open_document(st.session_state["document-to-open"])


def _open_row(records: Sequence[DocumentRecord]) -> None:
    rows: list[int] = st.session_state[TABLE].selection.rows
    if rows and rows[0] < len(records):
        session.open_document(records[rows[0]].document_id)


draw()
