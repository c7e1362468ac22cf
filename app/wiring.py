"""The composition root: the only place that picks classes. Opens everything in order, closes it in reverse."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import shutil
import socket
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncEngine

from agents.attachments import Attachments
from agents.chat_model import ChatModel
from agents.gateway.gateway import ModelGateway
from app.acting import ActingNeeds, AgentService
from app.approvals import ApprovalService
from app.attachment_store import AttachmentStore
from app.attachments import AttachmentNeeds, AttachmentService, open_attachments
from app.database import open_database
from app.deferred import DeferredAnswerer
from app.engines import open_engine
from app.eval_store import EvalStore
from app.evaluations import EvalParts, EvaluationService
from app.home import Home
from app.home_lock import lock_home, require_space
from app.jobs import JobService
from app.limits import UserLimits
from app.metrics import Metrics
from app.model_gateway import detect_capabilities, open_gateway
from app.models.store import ModelStore
from app.originals import Originals
from app.picture_store import PictureStore
from app.preset_store import PresetStore
from app.presets import PresetService
from app.questions import QuestionInbox
from app.receipts.export import ReceiptWriter
from app.receipts.sealing import Sealer
from app.recovery import Recovery
from app.reranking import open_reranker
from app.run_log import RunLog
from app.runs import RunService
from app.settings import Settings
from app.telemetry import telemetry
from app.threads import ThreadStore
from app.tool_service import ToolService
from app.web_pages import WebPages
from ingestion.index_ledger import IndexLedger
from ingestion.ledger import Ledger
from ingestion.pipeline import Ingester, Workplace
from retrieval.embedders.protocol import Embedder
from retrieval.errors import ModelFilesMissing
from retrieval.lexical import LexicalEncoder
from retrieval.search import Retriever
from retrieval.store.protocol import VectorStore
from tools.builtin.tools import BuiltInNeeds, built_in_tools
from tools.grants import GrantStore
from tools.leases import ThreadLeases
from tools.ledger import ExecutionLedger
from tools.memory import FactStore
from tools.types import ToolSpec

if TYPE_CHECKING:
    from app.model_server import EmbeddedModelServer

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything that routes, commands, evals and tests work with; open as long as its context."""

    settings: Settings
    home: Home
    engine: AsyncEngine
    store: VectorStore
    embedder: Embedder
    retriever: Retriever
    ledger: Ledger
    ingester: Ingester
    chat_model: ChatModel
    gateway: ModelGateway
    answerer: DeferredAnswerer
    threads: ThreadStore
    attachments: AttachmentService
    runs: RunService
    presets: PresetService
    agents: AgentService
    tools: ToolService
    approvals: ApprovalService
    questions: QuestionInbox
    originals: Originals
    receipts: ReceiptWriter
    jobs: JobService
    evaluations: EvaluationService
    model_store: ModelStore
    model_server: EmbeddedModelServer | None
    metrics: Metrics
    local_token: str
    """Proves that a caller may read ``api.json`` of this home; made anew at each start."""


@asynccontextmanager
async def open_platform(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    chat_model: ChatModel | None = None,
    store: VectorStore | None = None,
    start_model: bool = False,
) -> AsyncGenerator[Platform]:
    """Open the home and everything in it.

    Args:
        settings: Which parts, and where.
        embedder: Used instead of the model of the settings.
        chat_model: Used instead of the model of the settings.
        store: Used instead of the store of the settings; not closed.
        start_model: Load now what the first question would load, the graph library and the embedded model server, and
            ask the servers of the other models what they can.

    Raises:
        HomeLocked: Another process has the home open.
        HomeUnwritable: The home cannot be written, or its disk is nearly full.
        DatabaseUnavailable: The database cannot be opened.
        StoreUnavailable: The store cannot be opened.
        EmbeddingModelMismatch: The store was built with another embedding model.
        ModelFilesMissing: The embedding model has not been pulled.
    """
    from app.index_opening import load_index_embedder, open_index

    home = settings.home
    async with AsyncExitStack() as stack:
        stack.enter_context(telemetry(settings.telemetry))
        await stack.enter_async_context(lock_home(home))
        await asyncio.to_thread(_remove_uploads, home)
        engine = await stack.enter_async_context(open_database(settings))
        limits = UserLimits(engine, settings.limits)
        log = RunLog(engine, owner=f"{socket.gethostname()}:{home.root}", limits=limits)
        if interrupted := await log.interrupt_running():
            logger.warning("Runs of the process before this were interrupted", extra={"runs": interrupted})
        model_store = ModelStore(home, settings.models)
        index = await IndexLedger(engine).active()
        if store is None:
            require_space(home)
            embedder, store = await asyncio.to_thread(open_index, settings, model_store, index, embedder=embedder)
            stack.callback(store.close)
        elif embedder is None:
            embedder = await asyncio.to_thread(load_index_embedder, settings, model_store, index)
        lexical = LexicalEncoder()
        reranker = stack.enter_context(open_reranker(settings.search.rerank))
        retriever = Retriever(embedder, store, lexical, settings.search, reranker)
        ledger = Ledger(engine, owner=f"{socket.gethostname()}:{home.root}")
        ingester = Ingester(
            ledger=ledger,
            store=store,
            embedder=embedder,
            lexical=lexical,
            settings=settings.ingestion,
            workplace=Workplace(scratch=home.uploads),
        )
        await ingester.recover()
        stack.push_async_callback(ingester.aclose)
        model_server = None
        if chat_model is None:
            model_server = _embedded_server(settings, model_store)
        gateway = open_gateway(settings, model_store, model_server, stack, given=chat_model)
        chat_model = gateway.select()
        if model_server is not None:
            stack.push_async_callback(model_server.stop)
        attached = AttachmentStore(engine, settings.attachments.max_per_thread)
        attachments = Attachments(attached.texts, PictureStore(engine).contents)
        answerer = DeferredAnswerer(
            retriever=retriever, gateway=gateway, settings=settings.answer, attachments=attachments
        )
        if start_model:
            await _start_model(answerer, model_server)
            await stack.enter_async_context(_background(detect_capabilities(settings, gateway), "model-detection"))
        metrics = Metrics()
        metrics.watch(gateway)
        calls, grants, leases, facts = (
            ExecutionLedger(engine, lifetime=timedelta(minutes=settings.tools.approval_minutes)),
            GrantStore(engine),
            ThreadLeases(engine),
            FactStore(engine),
        )
        pages = WebPages(settings.ingestion, settings.remote)
        stack.push_async_callback(pages.close)
        builtins = BuiltInNeeds(
            searcher=retriever, shelf=ledger, chunks=store, facts=facts, read_page=pages.read, ledger=calls
        )
        originals = Originals(home.originals)
        originals.prune(await ledger.documents())
        questions = QuestionInbox(calls, seconds=settings.tools.approval_minutes * 60)
        built_in = built_in_tools(builtins)
        tools = ToolService(settings, engine, environ=os.environ, builtins=built_in, broker=questions)
        stack.push_async_callback(tools.close)
        needs = ActingNeeds(
            retriever=retriever,
            gateway=gateway,
            tools=tools,
            ledger=calls,
            grants=grants,
            leases=leases,
            facts=facts,
            attachments=attachments,
        )
        agents = AgentService(settings, needs)
        stack.push_async_callback(agents.aclose)
        recovery = Recovery(log, calls, leases)
        await recovery.at_start()
        seal = Sealer(settings, ledger, embedder)
        runs = RunService(log, answerer, metrics, acting=agents, recovery=recovery, seal=seal)
        stack.push_async_callback(runs.close)
        approvals = ApprovalService(calls, grants, find_tool=partial(_find_tool, tools), wake=runs.wake)
        await stack.enter_async_context(_background(approvals.sweep(), "approvals-sweep"))
        await stack.enter_async_context(_background(runs.keep_going(), "runs-sweep"))
        engines = partial(open_engine, settings=settings.ingestion, embedder=embedder)
        jobs = JobService(ingester, metrics, home, engines=engines)
        stack.push_async_callback(jobs.close)
        evaluations = EvaluationService(
            EvalStore(engine, owner=log.owner), EvalParts(settings, retriever, answerer, chat_model, ledger)
        )
        await evaluations.store.interrupt_running()
        stack.push_async_callback(evaluations.close)
        threads = ThreadStore(engine)
        attachment_service = open_attachments(
            settings, attached, AttachmentNeeds(tools, ledger, store, threads), embedder.count_tokens
        )
        yield Platform(
            settings=settings,
            home=home,
            engine=engine,
            store=store,
            embedder=embedder,
            retriever=retriever,
            ledger=ledger,
            ingester=ingester,
            chat_model=chat_model,
            gateway=gateway,
            answerer=answerer,
            threads=threads,
            attachments=attachment_service,
            runs=runs,
            presets=PresetService(PresetStore(engine), threads, gateway=gateway, agents=agents),
            agents=agents,
            tools=tools,
            approvals=approvals,
            questions=questions,
            originals=originals,
            receipts=ReceiptWriter(log, ledger, calls, home.receipt_key, attached.texts),
            jobs=jobs,
            evaluations=evaluations,
            model_store=model_store,
            model_server=model_server,
            metrics=metrics,
            local_token=secrets.token_urlsafe(32),
        )


@asynccontextmanager
async def _background(work: Coroutine[None, None, None], name: str) -> AsyncGenerator[None]:
    """The work goes on as long as the context is open."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _find_tool(tools: ToolService, server: str, tool: str) -> ToolSpec | None:
    found = await tools.find(server, tool)
    return found.spec if found else None


def _remove_uploads(home: Home) -> None:
    """Remove files whose jobs died with their process."""
    for folder in home.uploads.iterdir():
        shutil.rmtree(folder, ignore_errors=True)


async def _start_model(answerer: DeferredAnswerer, server: EmbeddedModelServer | None) -> None:
    if server is not None:
        await server.start()
    await answerer.load()


def _embedded_server(settings: Settings, model_store: ModelStore) -> EmbeddedModelServer | None:
    """The server, not started; None when the model is elsewhere, or missing: then answers fail and search works."""
    if settings.model.base_url is not None:
        return None
    from app.model_server import EmbeddedModelServer

    try:
        path = model_store.chat_model_path(settings.model.name)
    except ModelFilesMissing as error:
        logger.warning("No chat model", extra={"reason": str(error)})
        return None
    return EmbeddedModelServer(path, settings.model, settings.home.logs / "model.log")
