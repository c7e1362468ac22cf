"""A synchronous, typed client of the API: threads, runs, documents, searches, and its parts for tools."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

import httpx

from agents.events import RunEvent, is_terminal
from app.schema import (
    AgentInfo,
    AgentList,
    CollectionInfo,
    CollectionList,
    DocumentDeleted,
    DocumentList,
    Job,
    JobList,
    Readiness,
    RunInfo,
    RunRequest,
    StatusReport,
    ThreadCreate,
    ThreadDetail,
    ThreadInfo,
    ThreadList,
)
from app.search_schema import SearchRequest, SearchResponse
from ingestion.types import DocumentRecord
from ui.api_http import HttpApi, segment
from ui.approval_client import ApprovalCalls
from ui.attachment_client import AttachmentCalls
from ui.document_client import DocumentCalls
from ui.errors import ApiUnreachable
from ui.eval_client import EvalCalls
from ui.memory_client import MemoryCalls
from ui.model_client import ModelCalls
from ui.preset_client import PresetCalls
from ui.tool_client import ToolCalls

SILENCE_SECONDS = 30.0
"""An API that accepts a connection and says nothing for so long counts as down."""


class UploadFile(NamedTuple):
    """A file as the browser gave it."""

    name: str
    data: bytes


class ApiClient:
    """Calls the API at one address; may be shared by threads.

    The rest stands in ``approvals``, ``tools``, ``memory``, ``attachments``, ``models``, ``presets``, and
    ``inside``, the inside of documents.

    Every method raises ``ApiUnreachable`` when the API does not answer and ``ApiRefused`` with the problem's
    sentence when it refuses.
    """

    def __init__(self, base_url: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self._http = HttpApi(base_url, transport=transport)
        self.base_url = self._http.base_url
        self.approvals = ApprovalCalls(self._http)
        self.attachments = AttachmentCalls(self._http)
        self.inside = DocumentCalls(self._http)
        self.tools = ToolCalls(self._http)
        self.memory = MemoryCalls(self._http)
        self.models = ModelCalls(self._http)
        self.presets = PresetCalls(self._http)
        self.evals = EvalCalls(self._http)

    def __enter__(self) -> Self:
        """The client itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close its connections."""
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def threads(self) -> list[ThreadInfo]:
        """Threads, latest activity first."""
        return self._http.get("/api/threads", ThreadList).threads

    def create_thread(self, title: str = "") -> ThreadInfo:
        """A new thread."""
        return self._http.send("POST", "/api/threads", ThreadInfo, body=ThreadCreate(title=title))

    def thread(self, thread_id: str) -> ThreadDetail:
        """A thread with its runs, oldest first."""
        return self._http.get(f"/api/threads/{segment(thread_id)}", ThreadDetail)

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its runs."""
        self._http.delete(f"/api/threads/{segment(thread_id)}")

    def start_run(self, thread_id: str, request: RunRequest) -> RunInfo:
        """Ask a question; returns at once."""
        return self._http.send("POST", f"/api/threads/{segment(thread_id)}/runs", RunInfo, body=request)

    def agents(self) -> list[AgentInfo]:
        """Agents that a question may be given to."""
        return self._http.get("/api/agents", AgentList).agents

    def run(self, run_id: str) -> RunInfo:
        """A run as it stands."""
        return self._http.get(f"/api/runs/{segment(run_id)}", RunInfo)

    def receipt(self, run_id: str) -> bytes:
        """The receipt of a run's answer, as a file."""
        return self._http.get_bytes(f"/api/runs/{segment(run_id)}/receipt")

    def cancel_run(self, run_id: str) -> RunInfo:
        """Stop a run; one that has ended is returned as it is."""
        return self._http.send("POST", f"/api/runs/{segment(run_id)}/cancel", RunInfo)

    def follow(self, run_id: str, *, after: int = 0, idle_seconds: float = 0.5) -> Generator[RunEvent | None]:
        """Events of a run numbered above ``after``, old ones at once and new ones as they come; ends with the run.

        Yields None whenever nothing came for ``idle_seconds``, so that the caller can look after other things, and
        attaches anew behind the last event. Leaving the iteration does not touch the run.
        """
        path = f"/api/runs/{segment(run_id)}/events"
        heard = monotonic()
        while True:
            try:
                for event in self._http.events(path, after=after, idle_seconds=idle_seconds):
                    heard = monotonic()
                    if event is None:
                        continue
                    after = event.seq
                    yield event
                    if is_terminal(event):
                        return
                return
            except httpx.ReadTimeout as error:
                if monotonic() - heard > SILENCE_SECONDS:
                    raise ApiUnreachable(self._http.down()) from error
                yield None
            except httpx.HTTPError as error:
                raise ApiUnreachable(self._http.down()) from error

    def documents(self, *, collection: str | None = None) -> list[DocumentRecord]:
        """Documents of all collections or one, failed ones too."""
        query = {} if collection is None else {"collection": collection}
        return self._http.get("/api/documents", DocumentList, query=query).documents

    def document(self, document_id: str) -> DocumentRecord:
        """A document's record."""
        return self._http.get(f"/api/documents/{segment(document_id)}", DocumentRecord)

    def upload(self, files: Sequence[UploadFile], *, collection: str) -> Job:
        """Send files to be ingested; returns the job at once."""
        parts = [("files", (file.name, file.data, "application/octet-stream")) for file in files]
        form = {"collection": collection}
        return self._http.send_files("/api/documents", Job, files=parts, form=form)

    def delete_document(self, document_id: str) -> DocumentDeleted:
        """Delete a document with all its chunks."""
        return self._http.send("DELETE", f"/api/documents/{segment(document_id)}", DocumentDeleted)

    def jobs(self) -> list[Job]:
        """Ingest jobs since the API started, newest first."""
        return self._http.get("/api/jobs", JobList).jobs

    def job(self, job_id: str) -> Job:
        """An ingest job as it stands."""
        return self._http.get(f"/api/jobs/{segment(job_id)}", Job)

    def collections(self) -> list[CollectionInfo]:
        """Collections with their sizes."""
        return self._http.get("/api/collections", CollectionList).collections

    def search(self, request: SearchRequest) -> SearchResponse:
        """Hits of a search, best first."""
        return self._http.send("POST", "/api/search", SearchResponse, body=request)

    def status(self) -> StatusReport:
        """Sizes of ledger and store and whether they agree."""
        return self._http.get("/api/status", StatusReport)

    def readiness(self) -> Readiness:
        """State of store, models and database."""
        return self._http.get("/readyz", Readiness, accept=(503,))
