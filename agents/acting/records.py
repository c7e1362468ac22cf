"""State of an acting run as plain JSON values, so that a checkpoint holds no classes and can be read by any version."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, cast

from pydantic import TypeAdapter

from agents.draught import Draught
from agents.request import AnswerRequest
from retrieval.types import Hit, SearchFilter

_HITS: TypeAdapter[tuple[Hit, ...]] = TypeAdapter(tuple[Hit, ...])
_REPLY: TypeAdapter[Draught] = TypeAdapter(Draught)
_REQUEST: TypeAdapter[AnswerRequest] = TypeAdapter(AnswerRequest)
_SCOPE: TypeAdapter[SearchFilter] = TypeAdapter(SearchFilter)


class CallRecord(TypedDict):
    """A call as the model wrote it, and what it became."""

    call_id: str
    """Id in the ledger; empty when it never became a call."""
    request_id: str
    """Id on the model's wire; a model's own ids repeat, so ours are sent back to it."""
    name: str
    arguments: str
    """JSON text as written."""
    error: str
    """Why it did not become a call, for the model to read."""


class TurnRecord(TypedDict):
    """One turn of the model with the results of its calls, in their order."""

    step: int
    text: str
    calls: list[CallRecord]
    results: list[str]


class Frame(TypedDict):
    """An agent at work on a task; the last frame of the stack is the active one."""

    agent: str
    task: str
    turns: list[TurnRecord]
    variables: dict[str, str]
    """Results of workflow steps by name."""


class ActingInput(TypedDict):
    """What a run begins with."""

    request: dict[str, Any]


class ActingState(TypedDict):
    """One run on its way through the acting graph; the first node fills every field."""

    request: dict[str, Any]
    frames: list[Frame]
    turn: TurnRecord | None
    """The turn whose calls are being decided and run."""
    step: int
    query: str
    hits: list[dict[str, Any]]
    attached: NotRequired[list[dict[str, Any]]]
    """Passages of texts attached to the thread; runs begun by earlier versions have none."""
    top_cosine: float | None
    timings: dict[str, float]
    taint: str
    """Where untrusted text in the thread came from; empty when there is none."""
    usage: dict[str, int]
    reply: dict[str, Any] | None
    """What the model wrote as its answer, where it wrote one itself."""
    report: NotRequired[dict[str, Any]]
    """How the window of the latest turn was filled; runs begun by earlier versions have none."""
    facts: NotRequired[str]
    """What was remembered of the person when the model was first asked; runs begun by earlier versions have none."""
    instruction: str
    """How a workflow wants the answer written."""
    observed: list[str]
    """Ids of calls whose results are evidence."""
    ended: bool
    """Nothing but the answer is left to do."""
    answer: dict[str, Any] | None
    """The whole result, once it stands."""


def dump_request(request: AnswerRequest) -> dict[str, Any]:
    """A request as JSON values."""
    return cast(dict[str, Any], _REQUEST.dump_python(request, mode="json"))


def load_request(values: dict[str, Any]) -> AnswerRequest:
    """The request that ``dump_request`` was given."""
    return _REQUEST.validate_python(values)


def load_scope(values: dict[str, Any]) -> SearchFilter:
    """What a person may see, from a stored request's ``search_filter``."""
    return _SCOPE.validate_python(values)


def dump_hits(hits: tuple[Hit, ...]) -> list[dict[str, Any]]:
    """Hits as JSON values."""
    return cast(list[dict[str, Any]], _HITS.dump_python(hits, mode="json"))


def load_hits(values: list[dict[str, Any]]) -> tuple[Hit, ...]:
    """The hits that ``dump_hits`` was given."""
    return _HITS.validate_python(values)


def dump_reply(reply: Draught) -> dict[str, Any]:
    """A reply as JSON values."""
    return cast(dict[str, Any], _REPLY.dump_python(reply, mode="json"))


def load_reply(values: dict[str, Any]) -> Draught:
    """The reply that ``dump_reply`` was given."""
    return _REPLY.validate_python(values)
