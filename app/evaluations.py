"""Evaluations as background work: one after the other, each question's case kept as it comes, gone on with later.

What is measured stands in ``evals``, a folder above this one: it is found by name, and everything it needs is handed
to it. This module knows order, time limits and the database.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib
import json
import logging
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any, Protocol, cast
from uuid import uuid4

from pydantic import JsonValue, ValidationError

from agents.chat_model import ChatModel
from agents.settings import AnswerSettings
from app.deferred import DeferredAnswerer
from app.errors import EvalHalted, RequestInvalid
from app.eval_schema import ENDED, EvalCase, EvalDetail, EvalRequest, EvalRun, EvalSummary
from app.eval_store import EvalStore
from app.reranking import open_reranker
from app.settings import Settings
from app.threads import utc_now
from ingestion.ledger import Ledger
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.types import SearchFilter

logger = logging.getLogger(__name__)

EVALUATOR = "evals.evaluator"
"""Module of the folder above that measures; it has ``open_evaluation``."""


@dataclass(frozen=True, slots=True)
class EvalNeeds:
    """What is measured: search and answers as the chat has them, or with settings of the evaluation's own."""

    retriever: Retriever
    answerer: DeferredAnswerer
    search_filter: SearchFilter


class Evaluation(Protocol):
    """One question set, ready to be measured."""

    async def measure(self, position: int) -> EvalCase:
        """The case of the question at this place.

        Raises:
            EvalHalted: No further question can be measured either; names what to do.
        """
        ...

    def summarise(self, cases: Sequence[EvalCase]) -> EvalSummary:
        """Figures over these cases."""
        ...


class OpenEvaluation(Protocol):
    """What ``EVALUATOR`` has under the name ``open_evaluation``."""

    def __call__(self, request: EvalRequest, needs: EvalNeeds) -> Evaluation:
        """The evaluation of these questions."""
        ...


@dataclass(frozen=True, slots=True)
class EvalParts:
    """Parts of the platform that evaluations work with."""

    settings: Settings
    retriever: Retriever
    answerer: DeferredAnswerer
    chat_model: ChatModel
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class _Order:
    run: EvalRun
    request: EvalRequest
    search_filter: SearchFilter
    search: SearchSettings
    answer: AnswerSettings


class EvaluationService:
    """A queue of evaluations and its worker. Belongs to one event loop."""

    def __init__(self, store: EvalStore, parts: EvalParts) -> None:
        self.store = store
        self._parts = parts
        self._queue: asyncio.Queue[_Order] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None
        self._stopping: set[str] = set()

    async def start(self, request: EvalRequest, *, search_filter: SearchFilter) -> EvalRun:
        """Queue an evaluation and return at once; one that was not finished is gone on with, unless ``fresh``.

        Raises:
            RequestInvalid: A setting is unknown or does not fit, or an id stands twice.
        """
        if len({question.id for question in request.questions}) < len(request.questions):
            raise RequestInvalid("Two questions have the same id; give each its own.")
        search, answer = changed_settings(self._parts.settings, request.settings)
        config = await self._config(request, search, answer)
        fingerprint = _digest([request.kind, config, [q.model_dump(mode="json") for q in request.questions]])
        run = None if request.fresh else await self.store.unfinished(fingerprint)
        if run is None:
            now = utc_now()
            run = EvalRun(
                eval_id=uuid4().hex,
                kind=request.kind,
                name=request.name,
                state="queued",
                created_at=now,
                updated_at=now,
                total=len(request.questions),
                done=0,
                config=config,
            )
            await self.store.create(run, fingerprint=fingerprint)
        else:
            await self.store.set_state(run.eval_id, "queued")
        self._stopping.discard(run.eval_id)
        self._queue.put_nowait(_Order(run, request, search_filter, search, answer))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name="evaluations")
        return await self.store.get(run.eval_id)

    async def detail(self, eval_id: str) -> EvalDetail:
        """A run with its cases so far; raises ``EvalUnknown``."""
        return EvalDetail(run=await self.store.get(eval_id), cases=await self.store.cases(eval_id))

    async def stop(self, eval_id: str) -> EvalRun:
        """End a run before its next question; raises ``EvalUnknown``."""
        run = await self.store.get(eval_id)
        if run.state not in ENDED:
            self._stopping.add(eval_id)
        return run

    async def close(self) -> None:
        """Stop the worker; cases that are there stay, and the run can be gone on with."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])
            await self.store.interrupt_running()

    async def _config(
        self, request: EvalRequest, search: SearchSettings, answer: AnswerSettings
    ) -> dict[str, JsonValue]:
        """What is measured: two runs with the same are the same."""
        parts = self._parts
        collections = await parts.ledger.collections()
        wanted = [found for found in collections if not request.collections or found.name in request.collections]
        config: dict[str, JsonValue] = {
            "embedding_model": parts.retriever.embedder.fingerprint,
            "collections": list(request.collections),
            "documents": sum(found.documents for found in wanted),
            "chunks": sum(found.chunks for found in wanted),
            "search": search.model_dump(mode="json"),
        }
        if request.kind == "answers":
            config |= {"model": parts.chat_model.name, "answer": answer.model_dump(mode="json")}
        return config

    async def _work(self) -> None:
        while True:
            order = await self._queue.get()
            try:
                with self._needs(order) as needs:
                    await self._measure(order, needs)
            except Exception as error:
                # The worker: a failed evaluation must not end the queue.
                logger.exception("Evaluation failed", extra={"eval_id": order.run.eval_id})
                await self.store.set_state(order.run.eval_id, "failed", error=_sentence(error))

    @contextmanager
    def _needs(self, order: _Order) -> Generator[EvalNeeds]:
        """Search and answers of the chat, or others like them with the settings of the order."""
        parts = self._parts
        if not order.request.settings:
            yield EvalNeeds(parts.retriever, parts.answerer, order.search_filter)
            return
        with open_reranker(order.search.rerank) as reranker:
            retriever = replace(parts.retriever, settings=order.search, reranker=reranker)
            answerer = parts.answerer.like(retriever=retriever, settings=order.answer)
            yield EvalNeeds(retriever, answerer, order.search_filter)

    async def _measure(self, order: _Order, needs: EvalNeeds) -> None:
        eval_id, request = order.run.eval_id, order.request
        await self.store.set_state(eval_id, "running")
        evaluation = await asyncio.to_thread(_open, request, needs)
        cases = await self.store.cases(eval_id)
        known = {case.question_id for case in cases}
        ends_at = monotonic() + request.limit_seconds if request.limit_seconds else None
        error = ""
        finished = True
        for position, question in enumerate(request.questions):
            if question.id in known:
                continue
            if eval_id in self._stopping or (ends_at is not None and monotonic() >= ends_at):
                finished = False
                break
            try:
                case = await evaluation.measure(position)
            except EvalHalted as halt:
                finished, error = False, str(halt)
                break
            await self.store.add_case(eval_id, position, case)
            cases.append(case)
            await self.store.set_state(eval_id, "running", summary=evaluation.summarise(cases))
        state = "done" if finished else "failed" if error else "stopped"
        await self.store.set_state(eval_id, state, summary=evaluation.summarise(cases), error=error)


def _open(request: EvalRequest, needs: EvalNeeds) -> Evaluation:
    module = importlib.import_module(EVALUATOR)
    return cast(OpenEvaluation, module.open_evaluation)(request, needs)


def changed_settings(settings: Settings, changes: Mapping[str, JsonValue]) -> tuple[SearchSettings, AnswerSettings]:
    """Settings of search and answer with these changes, which are named ``search.fusion``.

    Raises:
        RequestInvalid: A name is unknown or of another section, or a value does not fit.
    """
    values: dict[str, Any] = {"search": settings.search.model_dump(), "answer": settings.answer.model_dump()}
    for name, value in changes.items():
        *path, field = name.split(".")
        section: Any = values
        for part in path:
            section = cast(dict[str, Any], section).get(part) if isinstance(section, dict) else None
        if not path or not isinstance(section, dict) or field not in section:
            raise RequestInvalid(
                f"An evaluation cannot change {name!r}; settings of search and answer can be changed, see "
                "docs/configuration.md."
            )
        section[field] = value
    try:
        return SearchSettings.model_validate(values["search"]), AnswerSettings.model_validate(values["answer"])
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RequestInvalid(f"The setting {where!r} does not fit: {first['msg']}.") from error


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _sentence(error: Exception) -> str:
    return str(error).strip() or f"The evaluation failed ({type(error).__name__}); see the log of the API."
