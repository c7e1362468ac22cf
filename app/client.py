"""The API as typed calls, for the command line and tests: over TCP, or a unix socket of an API in this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Container, Mapping, Sequence
from contextlib import aclosing
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import httpx
from pydantic import BaseModel

from agents.events import RunEvent, is_terminal
from app.approval_schema import (
    Approval,
    ApprovalCard,
    ApprovalList,
    AuditTrail,
    DecisionRequest,
    GrantInfo,
    GrantList,
    GrantRequest,
    RejectRunRequest,
    SettlementRequest,
)
from app.attachment_client import AttachmentCalls
from app.client_wire import problem_of, segment
from app.errors import ApiUnreachable
from app.eval_schema import EvalDetail, EvalRequest, EvalRun, KeptQuestionList
from app.ledger_schema import CollectionCreate, CollectionDeleted, StageList
from app.memory_schema import FactCreate, FactEdit, FactList
from app.preset_client import PresetCalls
from app.receipts.schema import Receipt
from app.schema import (
    ChunkList,
    CollectionInfo,
    CollectionList,
    DocumentDeleted,
    DocumentList,
    DocumentText,
    IngestRequest,
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
from app.sse import parse_run_events
from app.tool_schema import (
    PromptFill,
    PromptListing,
    PromptText,
    ResourceListing,
    ResourceText,
    ServerInfo,
    ToolInfo,
    ToolListing,
    ToolReview,
    ToolSwitch,
)
from ingestion.types import DocumentRecord, IngestReport
from tools.facts import Fact

TOKEN_HEADER = "X-Groundwork-Token"

_Body = TypeVar("_Body", bound=BaseModel)
_Query = Mapping[str, str | int | Sequence[str]]

_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_REATTACH_SECONDS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Waits before a dropped event stream is taken up again; the API is lost when the last one has passed."""


class ApiClient:
    """A client of one API. An async context manager; all methods raise ``ApiProblem`` and ``ApiUnreachable``."""

    def __init__(self, base_url: str, *, token: str | None = None, uds: Path | None = None) -> None:
        self.base_url = base_url
        self.uds = uds
        transport = httpx.AsyncHTTPTransport(uds=str(uds)) if uds else None
        headers = {TOKEN_HEADER: token} if token else {}
        self._http = httpx.AsyncClient(
            base_url=base_url, headers=headers, transport=transport, timeout=_TIMEOUT, trust_env=False
        )
        self.attachments = AttachmentCalls(self._http, self._send)
        self.presets = PresetCalls(self._http, self._send)

    async def __aenter__(self) -> Self:
        """Return the client itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def readiness(self) -> Readiness:
        """State of each part, also when not all are ready."""
        request = self._http.build_request("GET", "/readyz")
        response = await self._send(request, accept=(httpx.codes.SERVICE_UNAVAILABLE,))
        return Readiness.model_validate_json(response.content)

    async def status(self) -> StatusReport:
        """Ledger and store, compared."""
        return await self._get("/api/status", StatusReport)

    async def documents(self, *, collection: str | None = None, status: str | None = None) -> DocumentList:
        """Documents of the ledger, failed ones too."""
        query = {name: value for name, value in (("collection", collection), ("status", status)) if value}
        return await self._get("/api/documents", DocumentList, query)

    async def document(self, document_id: str) -> DocumentRecord:
        """One document of the ledger."""
        return await self._get(f"/api/documents/{document_id}", DocumentRecord)

    async def document_text(self, document_id: str) -> DocumentText:
        """The stored text."""
        return await self._get(f"/api/documents/{document_id}/text", DocumentText)

    async def document_chunks(self, document_id: str) -> ChunkList:
        """The chunks with their offsets into the stored text."""
        return await self._get(f"/api/documents/{document_id}/chunks", ChunkList)

    async def document_stages(self, document_id: str) -> StageList:
        """How far the document's latest attempt came."""
        return await self._get(f"/api/documents/{document_id}/stages", StageList)

    async def delete_document(self, document_id: str) -> DocumentDeleted:
        """Delete a document and its chunks."""
        return await self._call("DELETE", f"/api/documents/{document_id}", DocumentDeleted)

    async def upload(self, files: Sequence[Path], *, collection: str = "default") -> Job:
        """Send files and ingest them in the background."""
        opened = [path.open("rb") for path in files]
        try:
            parts = [("files", (path.name, file)) for path, file in zip(files, opened, strict=True)]
            form = {"collection": collection}
            request = self._http.build_request("POST", "/api/documents", files=parts, data=form)
            response = await self._send(request)
        finally:
            for file in opened:
                file.close()
        return Job.model_validate_json(response.content)

    async def ingest(self, request: IngestRequest) -> Job:
        """Ingest paths of the API's machine in the background; needs the local token."""
        return await self._post("/api/ingestions", Job, request)

    async def job(self, job_id: str) -> Job:
        """A background ingest as it stands."""
        return await self._get(f"/api/jobs/{job_id}", Job)

    async def jobs(self) -> JobList:
        """Background ingests since the API started, newest first."""
        return await self._get("/api/jobs", JobList)

    async def collections(self) -> CollectionList:
        """Collections with their sizes."""
        return await self._get("/api/collections", CollectionList)

    async def create_collection(self, request: CollectionCreate) -> CollectionInfo:
        """Create or describe a collection."""
        return await self._post("/api/collections", CollectionInfo, request)

    async def delete_collection(self, name: str) -> CollectionDeleted:
        """Delete a collection with its documents."""
        return await self._call("DELETE", f"/api/collections/{segment(name)}", CollectionDeleted)

    async def repair(self) -> IngestReport:
        """Mend what differs between ledger and store; waits until it is done."""
        request = self._http.build_request("POST", "/api/repair", timeout=None)
        return IngestReport.model_validate_json((await self._send(request)).content)

    async def search(self, request: SearchRequest) -> SearchResponse:
        """Hits without an answer."""
        return await self._post("/api/search", SearchResponse, request)

    async def create_thread(self, request: ThreadCreate) -> ThreadInfo:
        """A new thread."""
        return await self._post("/api/threads", ThreadInfo, request)

    async def threads(self) -> ThreadList:
        """Threads, latest activity first."""
        return await self._get("/api/threads", ThreadList)

    async def thread(self, thread_id: str) -> ThreadDetail:
        """A thread with its runs."""
        return await self._get(f"/api/threads/{thread_id}", ThreadDetail)

    async def delete_thread(self, thread_id: str) -> None:
        """Delete a thread with its runs."""
        await self._send(self._http.build_request("DELETE", f"/api/threads/{thread_id}"))

    async def start_run(self, thread_id: str, request: RunRequest) -> RunInfo:
        """Ask in a thread; returns at once."""
        return await self._post(f"/api/threads/{thread_id}/runs", RunInfo, request)

    async def run(self, run_id: str) -> RunInfo:
        """A run as it stands."""
        return await self._get(f"/api/runs/{run_id}", RunInfo)

    async def receipt(self, run_id: str) -> Receipt:
        """The receipt of a run's answer."""
        return await self._get(f"/api/runs/{segment(run_id)}/receipt", Receipt)

    async def cancel_run(self, run_id: str) -> RunInfo:
        """Stop a run; returns how it ended."""
        return await self._call("POST", f"/api/runs/{run_id}/cancel", RunInfo)

    async def start_eval(self, request: EvalRequest) -> EvalRun:
        """Measure a question set in the background."""
        return await self._post("/api/evals", EvalRun, request)

    async def eval_progress(self, eval_id: str) -> EvalRun:
        """An evaluation without its questions."""
        return await self._get(f"/api/evals/{segment(eval_id)}/progress", EvalRun)

    async def eval(self, eval_id: str) -> EvalDetail:
        """An evaluation with its questions."""
        return await self._get(f"/api/evals/{segment(eval_id)}", EvalDetail)

    async def kept_questions(self) -> KeptQuestionList:
        """Questions kept from chats, oldest first."""
        return await self._get("/api/evals/questions", KeptQuestionList)

    async def stop_eval(self, eval_id: str) -> EvalRun:
        """End an evaluation before its next question."""
        return await self._call("POST", f"/api/evals/{segment(eval_id)}/stop", EvalRun)

    async def facts(self) -> FactList:
        """What is remembered about the caller."""
        return await self._get("/api/memory", FactList)

    async def add_fact(self, request: FactCreate) -> Fact:
        """Remember a fact."""
        return await self._post("/api/memory", Fact, request)

    async def edit_fact(self, fact_id: str, request: FactEdit) -> Fact:
        """Change a remembered fact."""
        body = request.model_dump(mode="json", exclude_none=True)
        response = await self._send(self._http.build_request("PATCH", f"/api/memory/{fact_id}", json=body))
        return Fact.model_validate_json(response.content)

    async def delete_fact(self, fact_id: str) -> Fact:
        """Forget a fact."""
        return await self._call("DELETE", f"/api/memory/{fact_id}", Fact)

    async def approvals(self, *, states: Sequence[str] = (), thread_id: str = "", limit: int = 200) -> ApprovalList:
        """What waits for a person, or the newest calls in these states."""
        query: dict[str, str | int | Sequence[str]] = {"thread_id": thread_id, "limit": limit, "state": states}
        return await self._get("/api/approvals", ApprovalList, query)

    async def approval(self, call_id: str) -> ApprovalCard:
        """Everything about one call."""
        return await self._get(f"/api/approvals/{segment(call_id)}", ApprovalCard)

    async def decide(self, call_id: str, request: DecisionRequest) -> Approval:
        """Decide a call; a problem with code ``approval_decided`` says who was first."""
        return await self._post(f"/api/approvals/{segment(call_id)}/decision", Approval, request)

    async def settle(self, call_id: str, request: SettlementRequest) -> Approval:
        """Say what became of a call whose outcome is unknown."""
        return await self._post(f"/api/approvals/{segment(call_id)}/settlement", Approval, request)

    async def reject_run(self, request: RejectRunRequest) -> ApprovalList:
        """Reject every undecided call of a run; returns those."""
        return await self._post("/api/approvals/rejections", ApprovalList, request)

    async def audit(self, *, since: datetime | None = None, after: int = 0, limit: int = 1000) -> AuditTrail:
        """A page of the audit trail."""
        query: dict[str, str | int | Sequence[str]] = {"after": after, "limit": limit}
        if since is not None:
            query["since"] = since.isoformat()
        return await self._get("/api/approvals/audit", AuditTrail, query)

    async def audit_csv(self, *, since: datetime | None = None) -> AsyncGenerator[str]:
        """The whole audit trail as CSV, piece by piece."""
        query = {"format": "csv"} | ({"since": since.isoformat()} if since else {})
        async with self._http.stream("GET", "/api/approvals/audit", params=query) as response:
            if response.is_error:
                await response.aread()
                raise problem_of(response)
            async for text in response.aiter_text():
                yield text

    async def grants(self) -> GrantList:
        """Standing grants, oldest first."""
        return await self._get("/api/grants", GrantList)

    async def give_grant(self, request: GrantRequest) -> GrantInfo:
        """Give a grant without a card."""
        return await self._post("/api/grants", GrantInfo, request)

    async def revoke_grant(self, grant_id: str) -> None:
        """Take a grant back."""
        await self._send(self._http.build_request("DELETE", f"/api/grants/{segment(grant_id)}"))

    async def tools(self, *, server: str | None = None, wait: bool = False) -> ToolListing:
        """MCP servers and their tools; with ``wait``, slow servers are waited for."""
        query: dict[str, str | int | Sequence[str]] = {"wait": "true" if wait else "false"}
        return await self._get("/api/tools", ToolListing, query | ({"server": server} if server else {}))

    async def review_tool(self, request: ToolReview) -> ToolInfo:
        """Let a tool's definition in, or not."""
        return await self._post("/api/tools/reviews", ToolInfo, request)

    async def switch_tool(self, request: ToolSwitch) -> ToolInfo:
        """Switch a reviewed tool on or off."""
        return await self._post("/api/tools/enabled", ToolInfo, request)

    async def restart_server(self, server: str) -> ServerInfo:
        """Connect to an MCP server anew."""
        return await self._call("POST", f"/api/tools/servers/{segment(server)}/restart", ServerInfo)

    async def resources(self, server: str) -> ResourceListing:
        """What an MCP server has to read."""
        return await self._get(f"/api/tools/servers/{segment(server)}/resources", ResourceListing)

    async def read_resource(self, server: str, uri: str) -> ResourceText:
        """One resource of an MCP server."""
        return await self._get(f"/api/tools/servers/{segment(server)}/resource", ResourceText, {"uri": uri})

    async def prompts(self, server: str) -> PromptListing:
        """Prompts of an MCP server."""
        return await self._get(f"/api/tools/servers/{segment(server)}/prompts", PromptListing)

    async def fill_prompt(self, server: str, name: str, request: PromptFill) -> PromptText:
        """A prompt with its blanks filled in."""
        path = f"/api/tools/servers/{segment(server)}/prompts/{segment(name)}"
        return await self._post(path, PromptText, request)

    async def events(self, run_id: str, *, after: int = 0) -> AsyncGenerator[RunEvent]:
        """Events of a run from number ``after + 1`` to its terminal one.

        A dropped connection is taken up again where it broke; no event is missing and none comes twice.
        """
        attempt = 0
        while True:
            try:
                async with aclosing(self._attach(run_id, after)) as events:
                    async for event in events:
                        attempt, after = 0, event.seq
                        yield event
                        if is_terminal(event):
                            return
            except httpx.TransportError as error:
                if attempt == len(_REATTACH_SECONDS):
                    raise self._unreachable() from error
            if attempt == len(_REATTACH_SECONDS):
                raise self._unreachable()
            await asyncio.sleep(_REATTACH_SECONDS[attempt])
            attempt += 1

    async def _attach(self, run_id: str, after: int) -> AsyncGenerator[RunEvent]:
        async with self._http.stream("GET", f"/api/runs/{run_id}/events", params={"after": after}) as response:
            if response.is_error:
                await response.aread()
                raise problem_of(response)
            async for event in parse_run_events(response.aiter_bytes()):
                yield event

    async def _get(self, path: str, body: type[_Body], query: _Query | None = None) -> _Body:
        response = await self._send(self._http.build_request("GET", path, params=query))
        return body.model_validate_json(response.content)

    async def _post(self, path: str, body: type[_Body], request: BaseModel) -> _Body:
        sent = self._http.build_request("POST", path, json=request.model_dump(mode="json"))
        response = await self._send(sent)
        return body.model_validate_json(response.content)

    async def _call(self, method: str, path: str, body: type[_Body]) -> _Body:
        response = await self._send(self._http.build_request(method, path))
        return body.model_validate_json(response.content)

    async def _send(self, request: httpx.Request, *, accept: Container[int] = ()) -> httpx.Response:
        try:
            response = await self._http.send(request)
        except httpx.TransportError as error:
            raise self._unreachable() from error
        if response.is_error and response.status_code not in accept:
            raise problem_of(response)
        return response

    def _unreachable(self) -> ApiUnreachable:
        return ApiUnreachable(f"The API at {self.base_url} does not answer; start it with `groundwork up`.")
