"""A synchronous, typed client of the API; the only module of the UI that speaks HTTP."""

from __future__ import annotations

from collections.abc import Container, Generator, Iterator, Sequence
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from agents.events import EVENT_ADAPTER, RunEvent, is_terminal
from app.schema import (
    ChunkList,
    CollectionInfo,
    CollectionList,
    DocumentDeleted,
    DocumentList,
    DocumentText,
    Job,
    JobList,
    Problem,
    Readiness,
    RunInfo,
    RunRequest,
    SearchRequest,
    SearchResponse,
    StatusReport,
    ThreadCreate,
    ThreadDetail,
    ThreadInfo,
    ThreadList,
)
from ingestion.types import DocumentRecord
from ui.errors import ApiRefused, ApiUnreachable
from ui.event_stream import read_events

Body = TypeVar("Body", bound=BaseModel)

CONNECT_SECONDS = 3.0
REQUEST_SECONDS = 60.0
"""Longest wait for an answer; a search waits for the embedding model, an upload for its bytes."""
SILENCE_SECONDS = 30.0
"""An API that accepts a connection and says nothing for so long counts as down."""


class UploadFile(NamedTuple):
    """A file as the browser gave it."""

    name: str
    data: bytes


class ApiClient:
    """Calls the API at one address; may be shared by threads.

    Every method raises ``ApiUnreachable`` when the API does not answer and ``ApiRefused`` with the problem's
    sentence when it refuses.
    """

    def __init__(self, base_url: str, *, transport: httpx.BaseTransport | None = None) -> None:
        self.base_url = base_url.rstrip("/")
        self._http = httpx.Client(
            base_url=self.base_url,
            transport=transport,
            timeout=httpx.Timeout(REQUEST_SECONDS, connect=CONNECT_SECONDS),
            trust_env=False,
        )

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
        return self._get("/api/threads", ThreadList).threads

    def create_thread(self, title: str = "") -> ThreadInfo:
        """A new thread."""
        return self._send("POST", "/api/threads", ThreadInfo, body=ThreadCreate(title=title))

    def thread(self, thread_id: str) -> ThreadDetail:
        """A thread with its runs, oldest first."""
        return self._get(f"/api/threads/{_segment(thread_id)}", ThreadDetail)

    def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its runs."""
        self._request(self._http.build_request("DELETE", f"/api/threads/{_segment(thread_id)}"))

    def start_run(self, thread_id: str, request: RunRequest) -> RunInfo:
        """Ask a question; returns at once."""
        return self._send("POST", f"/api/threads/{_segment(thread_id)}/runs", RunInfo, body=request)

    def run(self, run_id: str) -> RunInfo:
        """A run as it stands."""
        return self._get(f"/api/runs/{_segment(run_id)}", RunInfo)

    def cancel_run(self, run_id: str) -> RunInfo:
        """Stop a run; one that has ended is returned as it is."""
        return self._send("POST", f"/api/runs/{_segment(run_id)}/cancel", RunInfo)

    def follow(self, run_id: str, *, after: int = 0, idle_seconds: float = 0.5) -> Generator[RunEvent | None]:
        """Events of a run numbered above ``after``, old ones at once and new ones as they come; ends with the run.

        Yields None whenever nothing came for ``idle_seconds``, so that the caller can look after other things, and
        attaches anew behind the last event. Leaving the iteration does not touch the run.
        """
        heard = monotonic()
        while True:
            try:
                for event in self._attach(run_id, after, idle_seconds):
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
                    raise ApiUnreachable(self._down()) from error
                yield None
            except httpx.HTTPError as error:
                raise ApiUnreachable(self._down()) from error

    def documents(self, *, collection: str | None = None) -> list[DocumentRecord]:
        """Documents of all collections or one, failed ones too."""
        query = {} if collection is None else {"collection": collection}
        return self._get("/api/documents", DocumentList, query=query).documents

    def document(self, document_id: str) -> DocumentRecord:
        """A document's record."""
        return self._get(f"/api/documents/{_segment(document_id)}", DocumentRecord)

    def document_text(self, document_id: str) -> str:
        """The stored text of a document."""
        return self._get(f"/api/documents/{_segment(document_id)}/text", DocumentText).text

    def document_chunks(self, document_id: str) -> ChunkList:
        """The chunks of a document with their offsets into its text."""
        return self._get(f"/api/documents/{_segment(document_id)}/chunks", ChunkList)

    def upload(self, files: Sequence[UploadFile], *, collection: str) -> Job:
        """Send files to be ingested; returns the job at once."""
        parts = [("files", (file.name, file.data, "application/octet-stream")) for file in files]
        form = {"collection": collection}
        return self._parse(
            self._request(self._http.build_request("POST", "/api/documents", files=parts, data=form)), Job
        )

    def delete_document(self, document_id: str) -> DocumentDeleted:
        """Delete a document with all its chunks."""
        return self._send("DELETE", f"/api/documents/{_segment(document_id)}", DocumentDeleted)

    def jobs(self) -> list[Job]:
        """Ingest jobs since the API started, newest first."""
        return self._get("/api/jobs", JobList).jobs

    def job(self, job_id: str) -> Job:
        """An ingest job as it stands."""
        return self._get(f"/api/jobs/{_segment(job_id)}", Job)

    def collections(self) -> list[CollectionInfo]:
        """Collections with their sizes."""
        return self._get("/api/collections", CollectionList).collections

    def search(self, request: SearchRequest) -> SearchResponse:
        """Hits of a search, best first."""
        return self._send("POST", "/api/search", SearchResponse, body=request)

    def status(self) -> StatusReport:
        """Sizes of ledger and store and whether they agree."""
        return self._get("/api/status", StatusReport)

    def readiness(self) -> Readiness:
        """State of store, models and database."""
        return self._parse(self._request(self._http.build_request("GET", "/readyz"), accept=(503,)), Readiness)

    def _attach(self, run_id: str, after: int, idle_seconds: float) -> Iterator[RunEvent | None]:
        """One connection's events; None first, when the API has accepted."""
        path = f"/api/runs/{_segment(run_id)}/events"
        wait = httpx.Timeout(idle_seconds, connect=CONNECT_SECONDS)
        with self._http.stream("GET", path, params={"after": after}, timeout=wait) as response:
            if response.is_error:
                response.read()
                raise _refusal(response)
            yield None
            for data in read_events(response.iter_bytes()):
                try:
                    yield EVENT_ADAPTER.validate_json(data)
                except ValidationError as error:
                    raise ApiUnreachable(self._strange()) from error

    def _get(self, path: str, kind: type[Body], *, query: dict[str, str] | None = None) -> Body:
        return self._parse(self._request(self._http.build_request("GET", path, params=query)), kind)

    def _send(self, method: str, path: str, kind: type[Body], *, body: BaseModel | None = None) -> Body:
        json = None if body is None else body.model_dump(mode="json")
        return self._parse(self._request(self._http.build_request(method, path, json=json)), kind)

    def _request(self, request: httpx.Request, *, accept: Container[int] = ()) -> httpx.Response:
        try:
            response = self._http.send(request)
        except httpx.TimeoutException as error:
            raise ApiUnreachable(f"The API at {self.base_url} takes too long to answer; try again.") from error
        except httpx.HTTPError as error:
            raise ApiUnreachable(self._down()) from error
        if response.is_error and response.status_code not in accept:
            raise _refusal(response)
        return response

    def _parse(self, response: httpx.Response, kind: type[Body]) -> Body:
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            raise ApiUnreachable(self._strange()) from error

    def _down(self) -> str:
        return f"Groundwork's API does not answer at {self.base_url}; start it with: groundwork up"

    def _strange(self) -> str:
        return f"What answers at {self.base_url} is not the Groundwork API of this version; check GROUNDWORK_API_URL."


def _refusal(response: httpx.Response) -> ApiRefused:
    try:
        problem = Problem.model_validate_json(response.content)
    except ValidationError:
        detail = f"The API answered with the status {response.status_code}; see its log."
        return ApiRefused(detail, status=response.status_code, code="unknown")
    return ApiRefused(problem.detail, status=problem.status, code=problem.code)


def _segment(identifier: str) -> str:
    """An id as one segment of a path, whatever characters a hand-edited address may hold."""
    return quote(identifier, safe="")
