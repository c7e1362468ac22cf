"""Events of a run: one union for SSE, run log, UI, evals and tests (DESIGN 4.3). Imports pydantic alone."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from agents.answer import Answer, Citation, Claim, ContextReport, FoundPassage, QueryKind, Usage
from agents.picture_record import GivenPicture
from agents.prompt_record import PromptRecord
from agents.proof_record import ProofRecord
from retrieval.explanation import SearchWarningCode
from tools.calls import CallState
from tools.types import Risk

FailureKind: TypeAlias = Literal[
    "model_unavailable",
    "model_timeout",
    "model_error",
    "output_invalid",
    "store_unavailable",
    "interrupted",
    "internal_error",
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
    """A query beside the question itself, before it is searched."""

    type: Literal["query_rewritten"] = "query_rewritten"
    query: str
    kind: QueryKind = "follow_up"
    by: Literal["rules", "model"] = "rules"
    """Who wrote it."""
    filters: tuple[str, ...] = ()
    """Filters that were read from the question, such as ``collection=runbooks``."""


class SearchWarned(_Event):
    """A step of the search failed and was left out; the order before it stands."""

    type: Literal["search_warned"] = "search_warned"
    code: SearchWarningCode
    detail: str
    """One sentence for people."""


class PicturesGiven(_Event):
    """What the model is given of the pictures beside the question, those of earlier turns included."""

    type: Literal["pictures_given"] = "pictures_given"
    pictures: tuple[GivenPicture, ...]


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
    step: int = 0
    """Turn of an agent that the text belongs to; text of a turn that ends in calls is no answer. 0 for answers."""


class ObjectPart(_Event):
    """The object as far as the model has written it; each replaces the one before, a repaired reply begins anew."""

    type: Literal["object_part"] = "object_part"
    value: dict[str, JsonValue]
    complete: bool = False
    """Whole, and it fits the schema."""


class StepStarted(_Event):
    """An agent's model begins a turn; text shown of an earlier attempt at the same step is void."""

    type: Literal["step_started"] = "step_started"
    step: int
    agent: str
    task: str = ""
    """What a supervisor asked of the agent; empty for the agent that was asked by the person."""


class ToolCalled(_Event):
    """The model asks for a call. It has not run: ``action`` says what becomes of it."""

    type: Literal["tool_called"] = "tool_called"
    call_id: str
    step: int
    agent: str
    tool: str
    """Name on the model's wire."""
    server: str = ""
    risk: Risk = "unknown"
    arguments: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])
    action: Literal["allow", "ask", "deny", "refused"]
    """``refused``: no such tool, or arguments that do not fit; nothing was proposed."""
    reason: str = ""
    """Policy line, grant, or why it was refused."""


class ApprovalNeeded(_Event):
    """A call waits for a person: to be decided, or, with state ``unknown``, to be settled."""

    type: Literal["approval_needed"] = "approval_needed"
    call_id: str
    tool: str
    risk: Risk
    arguments_hash: str
    state: Literal["pending", "unknown"] = "pending"
    taint_source: str = ""
    expires_at: datetime | None = None


class ApprovalDecided(_Event):
    """A call was decided."""

    type: Literal["approval_decided"] = "approval_decided"
    call_id: str
    decision: str
    decided_by: str
    reason: str = ""


class ToolProgress(_Event):
    """How far a running tool says it is."""

    type: Literal["tool_progress"] = "tool_progress"
    call_id: str
    progress: float
    total: float | None = None
    message: str = ""


class ToolReturned(_Event):
    """What became of a call."""

    type: Literal["tool_returned"] = "tool_returned"
    call_id: str
    tool: str
    state: CallState
    text: str
    """The result, long ones cut in the middle; the whole stands under the call's id."""
    truncated: bool = False


class RunWaiting(_Event):
    """Nothing more happens until a person decides or settles these calls. Not terminal: the run goes on then."""

    type: Literal["run_waiting"] = "run_waiting"
    call_ids: tuple[str, ...]


class AnswerReviewed(_Event):
    """A reviewing agent judged the answer against its evidence."""

    type: Literal["answer_reviewed"] = "answer_reviewed"
    reviewer: str
    approved: bool
    remark: str = ""


class ClaimsChecked(_Event):
    """Every claim of the answer with its verdict."""

    type: Literal["claims_checked"] = "claims_checked"
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    dropped_markers: int
    record: ProofRecord | None = None
    """What the proof was made from, so that it can be made again; None in logs of earlier versions."""
    prompt: PromptRecord | None = None
    """What was sent and written, so that the next turn can stand behind it; None for agents' own words."""


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
    | SearchWarned
    | PicturesGiven
    | HitsFound
    | Token
    | ObjectPart
    | StepStarted
    | ToolCalled
    | ApprovalNeeded
    | ApprovalDecided
    | ToolProgress
    | ToolReturned
    | RunWaiting
    | AnswerReviewed
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
