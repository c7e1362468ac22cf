"""What nodes say while they work; agents/stream.py makes events of it, with run, thread, number and time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import JsonValue

from agents.answer import Answer, Citation, Claim, ContextReport, QueryKind
from agents.picture_record import GivenPicture
from agents.prompt_record import PromptRecord
from agents.proof_record import ProofRecord
from retrieval.explanation import SearchWarningCode
from retrieval.types import Hit
from tools.calls import ToolCall
from tools.types import Risk


@dataclass(frozen=True, slots=True)
class QueryDraft:
    """The search asks something else than the person did, or something more."""

    query: str
    kind: QueryKind = "follow_up"
    by: Literal["rules", "model"] = "rules"
    filters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WarningDraft:
    """A step of the search failed and was left out; ``detail`` is one sentence for people."""

    code: SearchWarningCode
    detail: str


@dataclass(frozen=True, slots=True)
class PicturesDraft:
    """What the model is given of pictures."""

    pictures: tuple[GivenPicture, ...]


@dataclass(frozen=True, slots=True)
class HitsDraft:
    """The search is done and the context is filled."""

    query: str
    hits: tuple[Hit, ...]
    context: ContextReport


@dataclass(frozen=True, slots=True)
class TokenDraft:
    """A piece of the answer, markers taken out."""

    text: str
    step: int = 0


@dataclass(frozen=True, slots=True)
class ObjectDraft:
    """An object as far as the model has written it."""

    value: Mapping[str, JsonValue]
    complete: bool = False


@dataclass(frozen=True, slots=True)
class ClaimsDraft:
    """The proof is done."""

    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    dropped_markers: int
    record: ProofRecord
    prompt: PromptRecord | None = None


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    """The answer as it stands; ids and timings are filled in by the stream."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class StepDraft:
    """An agent's turn begins."""

    step: int
    agent: str
    task: str


@dataclass(frozen=True, slots=True)
class CallDraft:
    """The model asks for a call."""

    call_id: str
    step: int
    agent: str
    tool: str
    action: Literal["allow", "ask", "deny", "refused"]
    reason: str
    server: str = ""
    risk: Risk = "unknown"
    arguments: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])


@dataclass(frozen=True, slots=True)
class ApprovalDraft:
    """A call waits for a person."""

    call: ToolCall
    tool: str


@dataclass(frozen=True, slots=True)
class DecisionDraft:
    """A person decided a call."""

    call: ToolCall


@dataclass(frozen=True, slots=True)
class ProgressDraft:
    """A tool tells how far it is."""

    call_id: str
    progress: float
    total: float | None
    message: str


@dataclass(frozen=True, slots=True)
class ReturnDraft:
    """What became of a call."""

    call: ToolCall
    tool: str


@dataclass(frozen=True, slots=True)
class ReviewDraft:
    """A reviewing agent judged the answer."""

    reviewer: str
    approved: bool
    remark: str


Draft: TypeAlias = (
    QueryDraft
    | WarningDraft
    | PicturesDraft
    | HitsDraft
    | TokenDraft
    | ObjectDraft
    | StepDraft
    | CallDraft
    | ApprovalDraft
    | DecisionDraft
    | ProgressDraft
    | ReturnDraft
    | ReviewDraft
    | ClaimsDraft
    | AnswerDraft
)
