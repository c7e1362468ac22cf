"""Events from what nodes say: numbers, ids and times are given here, and nowhere else."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypedDict, assert_never

from agents.answer import FoundPassage
from agents.attached import attachment_of
from agents.drafts import (
    AnswerDraft,
    ApprovalDraft,
    CallDraft,
    ClaimsDraft,
    DecisionDraft,
    Draft,
    HitsDraft,
    ObjectDraft,
    PicturesDraft,
    ProgressDraft,
    QueryDraft,
    ReturnDraft,
    ReviewDraft,
    StepDraft,
    TokenDraft,
    WarningDraft,
)
from agents.errors import AgentError, ModelRefused, ModelTimeout, ModelUnavailable, OutputInvalid
from agents.events import (
    AnswerDone,
    AnswerReviewed,
    ApprovalDecided,
    ApprovalNeeded,
    ClaimsChecked,
    FailureKind,
    HitsFound,
    ObjectPart,
    PicturesGiven,
    QueryRewritten,
    RunEvent,
    RunFailed,
    SearchWarned,
    StepStarted,
    Token,
    ToolCalled,
    ToolProgress,
    ToolReturned,
)
from agents.request import AnswerRequest
from retrieval.errors import RetrievalError, StoreUnavailable
from retrieval.types import Hit
from tools.output import cap_output

logger = logging.getLogger(__name__)

_KINDS: tuple[tuple[type[Exception], FailureKind], ...] = (
    (ModelUnavailable, "model_unavailable"),
    (ModelTimeout, "model_timeout"),
    (ModelRefused, "model_error"),
    (OutputInvalid, "output_invalid"),
    (AgentError, "model_error"),
    (StoreUnavailable, "store_unavailable"),
    (RetrievalError, "store_unavailable"),
)
"""First class that fits names the failure; their messages are written for people."""
UNEXPECTED = "The run ended with an unexpected error; the log of the server has the details, ask again or report it."
SHOWN_RESULT_CHARACTERS = 4000
"""Longest result inside an event; the whole is read under the call's id."""


class Stamp(TypedDict):
    """What every event carries."""

    run_id: str
    thread_id: str
    seq: int
    at: datetime


@dataclass(slots=True)
class Stamps:
    """Numbers the events of one run; ``last`` is the number given last."""

    run_id: str
    thread_id: str
    last: int = 0

    def next(self) -> Stamp:
        """The next number and the time now."""
        self.last += 1
        return Stamp(run_id=self.run_id, thread_id=self.thread_id, seq=self.last, at=datetime.now(UTC))


def event_of(draft: Draft, stamp: Stamp) -> RunEvent:
    """The event that a node's words become."""
    match draft:
        case TokenDraft():
            return Token(**stamp, text=draft.text, step=draft.step)
        case QueryDraft() | WarningDraft() | HitsDraft():
            return _search_event(draft, stamp)
        case PicturesDraft():
            return PicturesGiven(**stamp, pictures=draft.pictures)
        case ObjectDraft():
            return ObjectPart(**stamp, value=dict(draft.value), complete=draft.complete)
        case ClaimsDraft():
            return ClaimsChecked(
                **stamp,
                claims=draft.claims,
                citations=draft.citations,
                dropped_markers=draft.dropped_markers,
                record=draft.record,
                prompt=draft.prompt,
            )
        case AnswerDraft():
            return AnswerDone(**stamp, answer=draft.answer, usage=draft.answer.usage)
        case ReviewDraft():
            return AnswerReviewed(**stamp, reviewer=draft.reviewer, approved=draft.approved, remark=draft.remark)
        case StepDraft():
            return StepStarted(**stamp, step=draft.step, agent=draft.agent, task=draft.task)
        case CallDraft() | ApprovalDraft() | DecisionDraft() | ProgressDraft() | ReturnDraft():
            return _call_event(draft, stamp)
        case _:
            assert_never(draft)


def _search_event(draft: QueryDraft | WarningDraft | HitsDraft, stamp: Stamp) -> RunEvent:
    match draft:
        case QueryDraft():
            query, kind, by = draft.query, draft.kind, draft.by
            return QueryRewritten(**stamp, query=query, kind=kind, by=by, filters=draft.filters)
        case WarningDraft():
            return SearchWarned(**stamp, code=draft.code, detail=draft.detail)
        case HitsDraft():
            passages = tuple(found_passage(hit) for hit in draft.hits)
            return HitsFound(**stamp, query=draft.query, passages=passages, context=draft.context)
        case _:
            assert_never(draft)


def failed_event(error: Exception, stamp: Stamp) -> RunFailed:
    """The terminal event of a run that an error ended; an error that nobody expected is logged whole."""
    fields = {"run_id": stamp["run_id"], "thread_id": stamp["thread_id"]}
    kind: FailureKind | None = next((kind for known, kind in _KINDS if isinstance(error, known)), None)
    if kind is None:
        logger.error("Run failed", extra=fields, exc_info=error)
        return RunFailed(**stamp, kind="internal_error", message=UNEXPECTED)
    logger.warning("Run failed", extra={**fields, "kind": kind}, exc_info=error)
    return RunFailed(**stamp, kind=kind, message=str(error))


def stamps_of(request: AnswerRequest, *, last: int = 0) -> Stamps:
    """Stamps for a run whose newest event has the number ``last``."""
    return Stamps(request.run_id, request.thread_id, last)


def _call_event(
    draft: CallDraft | ApprovalDraft | DecisionDraft | ProgressDraft | ReturnDraft, stamp: Stamp
) -> RunEvent:
    match draft:
        case CallDraft():
            return ToolCalled(
                **stamp,
                call_id=draft.call_id,
                step=draft.step,
                agent=draft.agent,
                tool=draft.tool,
                server=draft.server,
                risk=draft.risk,
                arguments=dict(draft.arguments),
                action=draft.action,
                reason=draft.reason,
            )
        case ApprovalDraft():
            call = draft.call
            return ApprovalNeeded(
                **stamp,
                call_id=call.call_id,
                tool=draft.tool,
                risk=call.risk,
                arguments_hash=call.arguments_hash,
                state="unknown" if call.state == "unknown" else "pending",
                taint_source=call.taint_source,
                expires_at=call.expires_at,
            )
        case DecisionDraft():
            call = draft.call
            return ApprovalDecided(
                **stamp,
                call_id=call.call_id,
                decision=call.decision or call.state,
                decided_by=call.decided_by or "",
                reason=call.decision_reason or "",
            )
        case ProgressDraft():
            progress, total = draft.progress, draft.total
            return ToolProgress(**stamp, call_id=draft.call_id, progress=progress, total=total, message=draft.message)
        case ReturnDraft():
            call = draft.call
            text = call.result_text or ""
            shown = cap_output(text, max_chars=SHOWN_RESULT_CHARACTERS, handle=call.call_id)
            return ToolReturned(
                **stamp,
                call_id=call.call_id,
                tool=draft.tool,
                state=call.state,
                text=shown.text,
                truncated=shown.truncated,
            )
        case _:
            assert_never(draft)


def found_passage(hit: Hit) -> FoundPassage:
    """A hit as events carry it."""
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
        attachment_id=attachment_of(chunk),
    )
