"""A question in, events out: the only reader of LangGraph's stream parts. One terminal event, whatever happens."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from time import perf_counter
from typing import TypedDict, assert_never, cast

from agents.answer import FoundPassage
from agents.chat_model import ChatModel
from agents.closing import closing
from agents.drafts import AnswerDraft, ClaimsDraft, Draft, HitsDraft, QueryDraft, TokenDraft
from agents.errors import AgentError, ModelRefused, ModelTimeout, ModelUnavailable
from agents.events import (
    AnswerDone,
    ClaimsChecked,
    FailureKind,
    HitsFound,
    QueryRewritten,
    RunEvent,
    RunFailed,
    RunFinished,
    RunStarted,
    Token,
)
from agents.graph import build_graph
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from agents.state import AnswerState, Context, PassageSearch
from retrieval.errors import RetrievalError, StoreUnavailable
from retrieval.types import Hit

logger = logging.getLogger(__name__)

_KINDS: tuple[tuple[type[Exception], FailureKind], ...] = (
    (ModelUnavailable, "model_unavailable"),
    (ModelTimeout, "model_timeout"),
    (ModelRefused, "model_error"),
    (AgentError, "model_error"),
    (StoreUnavailable, "store_unavailable"),
    (RetrievalError, "store_unavailable"),
)
"""First class that fits names the failure; their messages are written for people."""
UNEXPECTED = "The run ended with an unexpected error; the log of the server has the details, ask again or report it."


class Answerer:
    """Answers questions one run at a time or many at once; holds nothing between runs."""

    def __init__(self, *, retriever: PassageSearch, chat_model: ChatModel, settings: AnswerSettings) -> None:
        self._retriever = retriever
        self._chat_model = chat_model
        self._settings = settings
        self._graph = build_graph()

    async def run(self, request: AnswerRequest) -> AsyncGenerator[RunEvent]:
        """Events of one run, ``seq`` from 1, the last one terminal.

        Closing the generator or cancelling its task stops search and model; then there is no terminal event, the
        caller writes ``run_cancelled``.
        """
        stamps = _Stamps(request)
        context = Context(self._retriever, self._chat_model, self._settings, started=perf_counter())
        yield RunStarted(**stamps.next(), question=request.question, model=self._chat_model.name)
        parts = self._graph.astream(AnswerState(request), context=context, stream_mode="custom", version="v2")
        status = None
        try:
            async with closing(parts) as drafts:
                async for part in drafts:
                    event = _event(cast(Draft, part["data"]), stamps.next())
                    if isinstance(event, AnswerDone):
                        status = event.answer.status
                    yield event
        except Exception as error:  # noqa: BLE001  # one of the four places: a run never ends without its event
            yield _failed(error, stamps.next(), request)
            return
        if status == "answered" or status == "abstained":
            yield RunFinished(**stamps.next(), status=status)
        else:
            yield RunFailed(**stamps.next(), kind="internal_error", message=UNEXPECTED)


class _Stamp(TypedDict):
    run_id: str
    thread_id: str
    seq: int
    at: datetime


class _Stamps:
    """Numbers the events of one run."""

    def __init__(self, request: AnswerRequest) -> None:
        self._request = request
        self._seq = 0

    def next(self) -> _Stamp:
        self._seq += 1
        run_id, thread_id = self._request.run_id, self._request.thread_id
        return _Stamp(run_id=run_id, thread_id=thread_id, seq=self._seq, at=datetime.now(UTC))


def _event(draft: Draft, stamp: _Stamp) -> RunEvent:
    match draft:
        case TokenDraft():
            return Token(**stamp, text=draft.text)
        case QueryDraft():
            return QueryRewritten(**stamp, query=draft.query)
        case HitsDraft():
            passages = tuple(_found(hit) for hit in draft.hits)
            return HitsFound(**stamp, query=draft.query, passages=passages, context=draft.context)
        case ClaimsDraft():
            claims, citations, dropped = draft.claims, draft.citations, draft.dropped_markers
            return ClaimsChecked(**stamp, claims=claims, citations=citations, dropped_markers=dropped)
        case AnswerDraft():
            return AnswerDone(**stamp, answer=draft.answer, usage=draft.answer.usage)
        case _:
            assert_never(draft)


def _found(hit: Hit) -> FoundPassage:
    chunk, scores = hit.chunk, hit.scores
    return FoundPassage(
        rank=hit.rank,
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        page=chunk.page,
        section=chunk.section,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        text=chunk.text,
        dense=scores.dense,
        dense_rank=scores.dense_rank,
        bm25=scores.bm25,
        bm25_rank=scores.bm25_rank,
        fused=scores.fused,
        rerank=scores.rerank,
    )


def _failed(error: Exception, stamp: _Stamp, request: AnswerRequest) -> RunFailed:
    fields = {"run_id": request.run_id, "thread_id": request.thread_id}
    kind: FailureKind | None = next((kind for known, kind in _KINDS if isinstance(error, known)), None)
    if kind is None:
        logger.error("Run failed", extra=fields, exc_info=error)
        return RunFailed(**stamp, kind="internal_error", message=UNEXPECTED)
    logger.warning("Run failed", extra={**fields, "kind": kind}, exc_info=error)
    return RunFailed(**stamp, kind=kind, message=str(error))
