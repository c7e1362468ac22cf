"""A small API that speaks Groundwork's wire with a scripted model, for tests of the UI; state lives in one object."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from agents.events import (
    AnswerDone,
    HitsFound,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunStarted,
    Token,
    is_terminal,
)
from app import schema
from app.ledger_schema import CollectionCreate, CollectionDeleted, StageList
from app.page_schema import BoxView, PagePlace
from app.search_schema import SearchRequest
from ingestion.types import DocumentRecord, FileOutcome, IngestProgress, IngestReport, StageRecord
from tests.ui.acting_script import acting_script, asking_script, decided_script
from tests.ui.script import DOCUMENTS, Script, script_for
from tests.ui.stub_attachments import AttachmentState, attachment_routes
from tests.ui.stub_calls import CallState, call_routes, json_response, problem
from tests.ui.stub_evals import EvalState, eval_routes
from tests.ui.stub_models import ModelState, model_routes
from tests.ui.stub_search import search_of
from ui.document_html import STAGES

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII="
NOW = "2026-01-05T10:00:00.000000+00:00"


@dataclass
class StubRun:
    """A run with its events."""

    info: schema.RunInfo
    script: Script
    events: list[RunEvent] = field(default_factory=list[RunEvent])
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None


@dataclass
class StubState:
    """What the API holds."""

    threads: dict[str, schema.ThreadInfo] = field(default_factory=dict[str, schema.ThreadInfo])
    runs: dict[str, StubRun] = field(default_factory=dict[str, StubRun])
    documents: dict[str, tuple[DocumentRecord, str]] = field(default_factory=lambda: dict(DOCUMENTS))
    jobs: dict[str, schema.Job] = field(default_factory=dict[str, schema.Job])
    token_seconds: float = 0.0
    cancels: list[str] = field(default_factory=list[str])
    questions: list[schema.RunRequest] = field(default_factory=list[schema.RunRequest])
    consistent: bool = True
    described: dict[str, str] = field(default_factory=dict[str, str])
    """Collections with a description, by name."""
    originals: bool = True
    """Whether pages can still be drawn."""
    calls: CallState = field(default_factory=CallState)
    evals: EvalState = field(default_factory=EvalState)
    models: ModelState = field(default_factory=ModelState)
    attachments: AttachmentState = field(default_factory=AttachmentState)

    def runs_of(self, thread_id: str) -> list[schema.RunInfo]:
        return [run.info for run in self.runs.values() if run.info.thread_id == thread_id]


def build_stub(state: StubState) -> Starlette:
    """The application over a state that the test may look into."""
    api = _Api(state)
    return Starlette(
        routes=[
            Route("/api/threads", api.threads, methods=["GET", "POST"]),
            Route("/api/threads/{thread_id}", api.thread, methods=["GET", "PATCH", "DELETE"]),
            Route("/api/threads/{thread_id}/runs", api.start, methods=["POST"]),
            Route("/api/runs/{run_id}", api.run),
            Route("/api/runs/{run_id}/events", api.events),
            Route("/api/runs/{run_id}/cancel", api.cancel, methods=["POST"]),
            Route("/api/documents", api.documents, methods=["GET", "POST"]),
            Route("/api/documents/{document_id}", api.document, methods=["GET", "DELETE"]),
            Route("/api/documents/{document_id}/text", api.text),
            Route("/api/documents/{document_id}/chunks", api.chunks),
            Route("/api/documents/{document_id}/stages", api.stages),
            Route("/api/documents/{document_id}/pages/{page:int}.png", api.picture),
            Route("/api/documents/{document_id}/pages/{page:int}/place", api.place),
            Route("/api/jobs/{job_id}", api.job),
            Route("/api/collections", api.collections, methods=["GET", "POST"]),
            Route("/api/collections/{name}", api.collection, methods=["DELETE"]),
            Route("/api/status", api.status),
            Route("/api/search", api.search, methods=["POST"]),
            *attachment_routes(state.attachments),
            *call_routes(state.calls),
            *eval_routes(state.evals),
            *model_routes(state.models),
        ]
    )


class Publish(Protocol):
    """Appends one event to a run's log."""

    async def __call__(self, event_type: type[Any], **fields: Any) -> None: ...


class _Api:
    def __init__(self, state: StubState) -> None:
        self.state = state

    async def threads(self, request: Request) -> Response:
        if request.method == "POST":
            thread_id = f"thread-{len(self.state.threads) + 1}"
            info = schema.ThreadInfo(thread_id=thread_id, title="", created_at=NOW, updated_at=NOW, runs=0)
            self.state.threads[thread_id] = info
            return json_response(info, 201)
        threads = [self._counted(info) for info in reversed(self.state.threads.values())]
        return json_response(schema.ThreadList(threads=threads))

    async def thread(self, request: Request) -> Response:
        thread_id = request.path_params["thread_id"]
        if thread_id not in self.state.threads:
            return problem(404, "thread_unknown", f"There is no thread {thread_id!r}; GET /api/threads lists them.")
        if request.method == "DELETE":
            del self.state.threads[thread_id]
            return Response(status_code=204)
        info = self._counted(self.state.threads[thread_id])
        if request.method == "PATCH":
            change = schema.ThreadChange.model_validate_json(await request.body())
            self.state.threads[thread_id] = info = info.model_copy(update={"preset": change.preset or ""})
            return json_response(info)
        return json_response(schema.ThreadDetail(thread=info, runs=self.state.runs_of(thread_id)))

    async def start(self, request: Request) -> Response:
        thread_id = request.path_params["thread_id"]
        body = schema.RunRequest.model_validate_json(await request.body())
        self.state.questions.append(body)
        run_id = f"run-{len(self.state.runs) + 1}"
        info = schema.RunInfo(
            run_id=run_id,
            thread_id=thread_id,
            question=body.question,
            state="running",
            created_at=NOW,
            last_seq=0,
            agent=body.agent,
            replaces=body.replaces,
            continues=body.continues,
        )
        run = StubRun(info, script_for(body.question, goes_on=bool(body.continues)))
        self.state.runs[run_id] = run
        thread = self.state.threads[thread_id]
        self.state.threads[thread_id] = thread.model_copy(update={"title": thread.title or body.question})
        await self._end_waiting(thread_id)
        run.task = asyncio.create_task(self._carry_out(run))
        return json_response(info, 202)

    async def run(self, request: Request) -> Response:
        return json_response(self.state.runs[request.path_params["run_id"]].info)

    async def cancel(self, request: Request) -> Response:
        run = self.state.runs[request.path_params["run_id"]]
        self.state.cancels.append(run.info.run_id)
        run.cancelled.set()
        if run.task is not None:
            await asyncio.wait([run.task])
        return json_response(run.info)

    async def events(self, request: Request) -> Response:
        run = self.state.runs[request.path_params["run_id"]]
        after = int(request.query_params.get("after", "0"))
        return StreamingResponse(_follow(run, after), media_type="text/event-stream")

    async def documents(self, request: Request) -> Response:
        if request.method == "GET":
            records = [record for record, _ in self.state.documents.values()]
            return json_response(schema.DocumentList(documents=records))
        async with request.form() as form:
            collection = str(form["collection"])
            files = [
                (str(file.filename), (await file.read()).decode())
                for file in form.getlist("files")
                if not isinstance(file, str)
            ]
        outcomes: list[FileOutcome] = []
        for name, text in files:
            document_id = f"doc-{len(self.state.documents) + 1}"
            source = f"upload:{name}"
            record = DocumentRecord(
                document_id=document_id, source=source, title=name, collection=collection,
                status="ready", chunks=1, size_bytes=len(text), media_type="text/plain",
            )  # fmt: skip
            self.state.documents[document_id] = (record, text)
            outcomes.append(FileOutcome(source=source, status="indexed", document_id=document_id, chunks=1))
        job_id = f"job-{len(self.state.jobs) + 1}"
        totals: dict[Any, int] = {"indexed": len(outcomes)}
        job = schema.Job(
            job_id=job_id,
            state="done",
            progress=IngestProgress(files_done=len(outcomes), files_total=len(outcomes), chunks_done=len(outcomes)),
            report=IngestReport(files=tuple(outcomes), totals=totals, seconds=0.1),
        )
        self.state.jobs[job_id] = job
        return json_response(job, 202)

    async def document(self, request: Request) -> Response:
        document_id = request.path_params["document_id"]
        if document_id not in self.state.documents:
            return problem(404, "document_unknown", f"There is no document {document_id!r}.")
        record, _ = self.state.documents[document_id]
        if request.method == "DELETE":
            del self.state.documents[document_id]
            return json_response(schema.DocumentDeleted(document_id=document_id, source=record.source, chunks_left=0))
        return json_response(record)

    async def text(self, request: Request) -> Response:
        document_id = request.path_params["document_id"]
        if document_id not in self.state.documents:
            return problem(404, "document_unknown", f"There is no document {document_id!r}.")
        return json_response(schema.DocumentText(document_id=document_id, text=self.state.documents[document_id][1]))

    async def chunks(self, request: Request) -> Response:
        document_id = request.path_params["document_id"]
        record, text = self.state.documents[document_id]
        chunk = schema.ChunkView(
            chunk_id=f"{document_id}-0", position=0, char_start=0, char_end=len(text), page=record.pages, section="",
            token_count=len(text.split()), text=text,
        )  # fmt: skip
        return json_response(schema.ChunkList(document_id=document_id, chunks=[chunk]))

    async def stages(self, request: Request) -> Response:
        document_id = request.path_params["document_id"]
        record, _ = self.state.documents[document_id]
        times: dict[str, Any] = {
            "started_at": "2026-01-05T10:00:00+00:00",
            "finished_at": "2026-01-05T10:00:00.040000+00:00",
        }
        stages = [StageRecord(stage="found", state="done", **times)]
        if record.reason:
            failed = StageRecord(stage="parsed", state="failed", reason=record.reason, attempt=2, **times)
            return json_response(StageList(document_id=document_id, stages=[*stages, failed]))
        rest = [StageRecord(stage=stage, state="done", **times) for stage in STAGES[1:]]
        return json_response(StageList(document_id=document_id, stages=[*stages, *rest]))

    async def picture(self, request: Request) -> Response:
        if not self.state.originals:
            return problem(404, "original_missing", "The file that this document was made of is gone.")
        return Response(b64decode(PIXEL), media_type="image/png")

    async def place(self, request: Request) -> Response:
        box = BoxView(left=0.1, top=0.2, right=0.9, bottom=0.25)
        document_id, page = request.path_params["document_id"], request.path_params["page"]
        chunk_id = request.query_params["chunk_id"]
        return json_response(PagePlace(document_id=document_id, page=page, chunk_id=chunk_id, boxes=[box]))

    async def collection(self, request: Request) -> Response:
        name = request.path_params["name"]
        gone = [key for key, (record, _) in self.state.documents.items() if record.collection == name]
        for document_id in gone:
            del self.state.documents[document_id]
        self.state.described.pop(name, None)
        return json_response(CollectionDeleted(name=name, documents=len(gone), chunks_left=0))

    async def job(self, request: Request) -> Response:
        return json_response(self.state.jobs[request.path_params["job_id"]])

    async def collections(self, request: Request) -> Response:
        if request.method == "POST":
            body = CollectionCreate.model_validate_json(await request.body())
            self.state.described[body.name] = body.description
            found = next(info for info in self._collections() if info.name == body.name)
            return json_response(found)
        return json_response(schema.CollectionList(collections=self._collections()))

    async def status(self, request: Request) -> Response:
        records = [record for record, _ in self.state.documents.values()]
        ready = [record for record in records if record.status == "ready"]
        report = schema.StatusReport(
            documents=len(ready), chunks=sum(record.chunks for record in ready), points=4,
            consistent=self.state.consistent, collections=self._collections(),
            failed=[record for record in records if record.status == "failed"],
            embedding_model="stub", store="edge", missing_chunks=0 if self.state.consistent else 2,
        )  # fmt: skip
        return json_response(report)

    async def search(self, request: Request) -> Response:
        body = SearchRequest.model_validate_json(await request.body())
        ready = [entry for entry in self.state.documents.values() if entry[0].status == "ready"]
        return json_response(search_of(body, ready))

    def _collections(self) -> list[schema.CollectionInfo]:
        ready = [record for record, _ in self.state.documents.values() if record.status == "ready"]
        names = sorted({record.collection for record in ready} | set(self.state.described))
        return [
            schema.CollectionInfo(
                name=name,
                documents=len(found := [record for record in ready if record.collection == name]),
                chunks=sum(record.chunks for record in found),
                description=self.state.described.get(name, ""),
            )
            for name in names
        ]

    def _counted(self, info: schema.ThreadInfo) -> schema.ThreadInfo:
        return info.model_copy(update={"runs": len(self.state.runs_of(info.thread_id))})

    async def _carry_out(self, run: StubRun) -> None:
        script, about = run.script, {"run_id": run.info.run_id, "thread_id": run.info.thread_id}

        async def publish(event_type: type[Any], **fields: Any) -> None:
            async with run.changed:
                run.events.append(event_type(**about, seq=len(run.events) + 1, at=datetime.now(UTC), **fields))
                run.info = run.info.model_copy(update={"last_seq": len(run.events)})
                run.changed.notify_all()

        async def end(event_type: type[Any], state: str, **fields: Any) -> None:
            run.info = run.info.model_copy(update={"state": state})
            await publish(event_type, **fields)

        await publish(RunStarted, question=run.info.question, model="stub")
        if run.info.agent and not await self._act(run, publish):
            await end(RunCancelled, "cancelled", partial="")
            return
        await publish(HitsFound, query=run.info.question, passages=script.passages, context=script.context)
        for token in script.tokens:
            if script.hold:
                await run.cancelled.wait()
            if run.cancelled.is_set():
                written = "".join(event.text for event in run.events if isinstance(event, Token))
                await end(RunCancelled, "cancelled", partial=written)
                return
            await publish(Token, text=token)
            await asyncio.sleep(self.state.token_seconds)
        if script.failure:
            run.info = run.info.model_copy(update={"error": script.failure})
            await end(RunFailed, "failed", kind="model_unavailable", message=script.failure)
            return
        answer = script.answer.model_copy(update=about)
        run.info = run.info.model_copy(update={"answer": answer})
        await publish(AnswerDone, answer=answer, usage=answer.usage)
        await end(RunFinished, answer.status, status=answer.status)

    async def _act(self, run: StubRun, publish: Publish) -> bool:
        """Steps of an agent that looks at a pod and asks to raise its limit; False when the run was stopped."""
        for type_, fields in acting_script(run.info.run_id):
            await publish(type_, **fields)
        call = self.state.calls.propose(f"{run.info.run_id}-call", run_id=run.info.run_id, thread_id=run.info.thread_id)
        for type_, fields in asking_script(call):
            await publish(type_, **fields)
        run.info = run.info.model_copy(update={"state": "waiting"})
        decided = asyncio.create_task(self.state.calls.decided(call.call_id))
        stopped = asyncio.create_task(run.cancelled.wait())
        await asyncio.wait([decided, stopped], return_when=asyncio.FIRST_COMPLETED)
        if not decided.done():
            decided.cancel()
            return False
        stopped.cancel()
        run.info = run.info.model_copy(update={"state": "running"})
        for type_, fields in decided_script(decided.result()):
            await publish(type_, **fields)
        return True

    async def _end_waiting(self, thread_id: str) -> None:
        """A new question ends the run that waits in its thread, its calls rejected."""
        for run in self.state.runs.values():
            if run.info.thread_id == thread_id and run.info.state == "waiting" and run.task:
                self.state.calls.supersede(run.info.run_id)
                run.cancelled.set()
                await asyncio.wait([run.task])


async def _follow(run: StubRun, after: int) -> AsyncGenerator[str]:
    position = after
    while True:
        async with run.changed:
            while len(run.events) <= position:
                await run.changed.wait()
            fresh = run.events[position:]
        for event in fresh:
            yield f"id: {event.seq}\nevent: {event.type}\ndata: {event.model_dump_json()}\n\n"
            position = event.seq
            if is_terminal(event):
                return
