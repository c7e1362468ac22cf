"""Uploading files and watching them being read."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.schema import Job
from ingestion.types import FileOutcome
from ui import session
from ui.client import UploadFile
from ui.errors import UiError
from ui.wording import literal, plural

POLL_SECONDS = 0.7
DEFAULT_COLLECTION = "default"
_SIGNS = {"failed": ":material/error:", "skipped": ":material/do_not_disturb_on:"}


def draw_upload(collections: Sequence[str]) -> None:
    """Draw the form and, behind an upload, its progress and what became of each file."""
    with st.expander("Add documents", icon=":material/upload_file:", expanded=session.job_id() is not None):
        with st.form("upload", clear_on_submit=True, border=False):
            files = st.file_uploader("Files", accept_multiple_files=True, key="upload-files")
            collection = st.selectbox(
                "Into the collection",
                sorted({DEFAULT_COLLECTION, *collections}),
                index=sorted({DEFAULT_COLLECTION, *collections}).index(DEFAULT_COLLECTION),
                accept_new_options=True,
                key="upload-collection",
            )
            if st.form_submit_button("Upload", type="primary", icon=":material/upload:"):
                _send([UploadFile(file.name, file.getvalue()) for file in files], collection or DEFAULT_COLLECTION)
        if job_id := session.job_id():
            _draw_job(job_id)


def _send(files: Sequence[UploadFile], collection: str) -> None:
    if not files:
        st.warning("Choose files first.", icon=":material/upload_file:")
        return
    try:
        job = session.client().upload(files, collection=collection)
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    session.show_job(job.job_id)


def _draw_job(job_id: str) -> None:
    try:
        job = session.client().job(job_id)
    except UiError as error:
        session.show_job(None)
        st.error(literal(str(error)), icon=":material/error:")
        return
    if job.state in ("queued", "running"):
        _watch(job_id)
    else:
        _draw_result(job)


@st.fragment(run_every=POLL_SECONDS)
def _watch(job_id: str) -> None:
    """Progress until the job has ended; then the page is drawn anew, with the new documents in its table."""
    try:
        job = session.client().job(job_id)
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    if job.state in ("done", "failed"):
        st.rerun()
    progress = job.progress
    share = progress.files_done / progress.files_total if progress.files_total else 0.0
    label = (
        f"{progress.files_done} of {plural(progress.files_total, 'file')}, {plural(progress.chunks_done, 'passage')}"
    )
    st.progress(min(share, 1.0), text=literal(f"{label} · {progress.current}" if progress.current else label))


def _draw_result(job: Job) -> None:
    if job.report is None:
        st.error(literal(job.error or "The upload failed; see the log of the API."), icon=":material/error:")
    else:
        for outcome in job.report.files:
            st.markdown(_line(outcome))
        st.caption(f"{plural(len(job.report.files), 'file')} in {job.report.seconds:.1f} s")
    st.button("Clear", key="clear-job", type="tertiary", on_click=session.show_job, args=(None,))


def _line(outcome: FileOutcome) -> str:
    name = literal(outcome.source.removeprefix("upload:"))
    sign = _SIGNS.get(outcome.status, ":material/check_circle:")
    told = literal(outcome.detail) if outcome.detail else plural(outcome.chunks, "passage")
    return f"{sign} **{name}** {outcome.status}: {told}"
