"""Events of a run: one union for SSE, run log, UI, evals and tests (DESIGN 4.3). Imports pydantic alone.

Events of agents that act through tools (``tool_called``, ``approval_needed`` and so on) join this union with them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agents.answer import Answer, Citation, Claim, ContextReport, FoundPassage, Usage

FailureKind: TypeAlias = Literal[
    "model_unavailable", "model_timeout", "model_error", "store_unavailable", "interrupted", "internal_error"
]
"""Closed set: why a run failed."""


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)

    run_id: str
    thread_id: str
    seq: int = Field(ge=1)
    """Rises by one within a run; order by it, not by the clock."""
    at: datetime
    """UTC."""


class RunStarted(_Event):
    """The run was accepted."""

    type: Literal["run_started"] = "run_started"
    question: str
    model: str


class QueryRewritten(_Event):
    """A follow-up was made self-contained before the search."""

    type: Literal["query_rewritten"] = "query_rewritten"
    query: str


class HitsFound(_Event):
    """The passages that the search returned, best first, and how the context was filled with them."""

    type: Literal["hits_found"] = "hits_found"
    query: str
    passages: tuple[FoundPassage, ...]
    context: ContextReport


class Token(_Event):
    """A piece of the answer as the model writes it, markers taken out; may be revised by ``answer_done``."""

    type: Literal["token"] = "token"
    text: str


class ClaimsChecked(_Event):
    """Every claim of the answer with its verdict."""

    type: Literal["claims_checked"] = "claims_checked"
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    dropped_markers: int


class AnswerDone(_Event):
    """The answer as it stands; replaces what the tokens showed."""

    type: Literal["answer_done"] = "answer_done"
    answer: Answer
    usage: Usage


class RunFailed(_Event):
    """Terminal: the run ended without an answer; ``message`` is one sentence that names what to do."""

    type: Literal["run_failed"] = "run_failed"
    kind: FailureKind
    message: str


class RunCancelled(_Event):
    """Terminal: somebody stopped the run; ``partial`` is what the model had written."""

    type: Literal["run_cancelled"] = "run_cancelled"
    partial: str


class RunFinished(_Event):
    """Terminal: the run ended with an answer or an abstention."""

    type: Literal["run_finished"] = "run_finished"
    status: Literal["answered", "abstained"]


RunEvent: TypeAlias = (
    RunStarted
    | QueryRewritten
    | HitsFound
    | Token
    | ClaimsChecked
    | AnswerDone
    | RunFailed
    | RunCancelled
    | RunFinished
)
TERMINAL_TYPES: frozenset[str] = frozenset({"run_failed", "run_cancelled", "run_finished"})
EVENT_ADAPTER: TypeAdapter[RunEvent] = TypeAdapter(Annotated[RunEvent, Field(discriminator="type")])
"""Parses one event from JSON or a mapping; raises ``pydantic.ValidationError`` on anything else."""


def is_terminal(event: RunEvent) -> bool:
    """Whether the run ends with this event; every run has exactly one such event."""
    return event.type in TERMINAL_TYPES
