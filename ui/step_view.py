"""Steps and calls of an agent's run, as far as its events tell them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, assert_never

from pydantic import JsonValue

from agents.events import (
    ApprovalDecided,
    ApprovalNeeded,
    StepStarted,
    ToolCalled,
    ToolProgress,
    ToolReturned,
)
from tools.types import Risk

_Told: TypeAlias = ApprovalNeeded | ApprovalDecided | ToolProgress | ToolReturned
CallEvent: TypeAlias = ToolCalled | _Told
CallStage: TypeAlias = Literal["refused", "waiting", "unknown", "running", "done", "failed", "rejected", "expired"]


@dataclass(frozen=True, slots=True)
class CallView:
    """A call of a tool.

    Attributes:
        stage: What it is at; ``waiting`` for a decision, ``unknown`` for somebody who settles it.
        tool: Name on the model's wire.
        reason: Policy line, grant, or why it was refused.
        arguments: What the model asked for; the ledger holds what a person made of it.
        progress: Share done, 0 to 1; None when the tool does not say.
        remark: What the tool says of its progress.
        truncated: Whether ``result`` is cut; the whole is read under the call's id.
        decision: What a person decided; empty when nobody was asked.
    """

    call_id: str
    step: int
    stage: CallStage
    tool: str
    server: str = ""
    risk: Risk = "unknown"
    arguments: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    reason: str = ""
    progress: float | None = None
    remark: str = ""
    result: str = ""
    truncated: bool = False
    decision: str = ""
    decided_by: str = ""
    decision_reason: str = ""


@dataclass(frozen=True, slots=True)
class StepView:
    """A turn of an agent: who, for which task, what it said, what it called."""

    step: int
    agent: str
    task: str = ""
    text: str = ""
    calls: tuple[CallView, ...] = ()


Steps: TypeAlias = tuple[StepView, ...]


def begin(steps: Steps, event: StepStarted) -> Steps:
    """The steps with one that begins; an earlier attempt at it is void, its calls are replaced as they come."""
    kept = tuple(step for step in steps if step.step != event.step)
    return (*kept, StepView(event.step, event.agent, event.task))


def speak(steps: Steps, number: int, text: str) -> Steps:
    """The steps with more text of one of them."""
    return tuple(replace(step, text=step.text + text) if step.step == number else step for step in steps)


def take_call(steps: Steps, event: CallEvent) -> Steps:
    """The steps with what is new of a call; a call that nobody announced is left out."""
    if isinstance(event, ToolCalled):
        return _announce(steps, event)
    return tuple(replace(step, calls=_told(step.calls, event)) for step in steps)


def calls_of(steps: Steps) -> tuple[CallView, ...]:
    """All calls, in order."""
    return tuple(call for step in steps for call in step.calls)


def _announce(steps: Steps, event: ToolCalled) -> Steps:
    call = CallView(
        call_id=event.call_id,
        step=event.step,
        stage="refused" if event.action == "refused" else "running",
        tool=event.tool,
        server=event.server,
        risk=event.risk,
        arguments=event.arguments,
        reason=event.reason,
    )
    if all(step.step != event.step for step in steps):
        steps = (*steps, StepView(event.step, event.agent))
    return tuple(replace(step, calls=_with(step.calls, call)) if step.step == event.step else step for step in steps)


def _with(calls: tuple[CallView, ...], new: CallView) -> tuple[CallView, ...]:
    """A call that is announced again, after a kill, takes its own place."""
    if any(call.call_id == new.call_id for call in calls):
        return tuple(new if call.call_id == new.call_id else call for call in calls)
    return (*calls, new)


def _told(calls: tuple[CallView, ...], event: _Told) -> tuple[CallView, ...]:
    return tuple(_after(call, event) if call.call_id == event.call_id else call for call in calls)


def _after(call: CallView, event: _Told) -> CallView:
    match event:
        case ApprovalNeeded():
            return replace(call, stage="waiting" if event.state == "pending" else "unknown")
        case ApprovalDecided():
            return replace(
                call,
                stage="running",
                decision=event.decision,
                decided_by=event.decided_by,
                decision_reason=event.reason,
            )
        case ToolProgress():
            share = min(1.0, event.progress / event.total) if event.total else None
            return replace(call, stage="running", progress=share, remark=event.message)
        case ToolReturned():
            return replace(call, stage=_final(event), result=event.text, truncated=event.truncated)
        case _:
            assert_never(event)


def _final(event: ToolReturned) -> CallStage:
    match event.state:
        case "done" | "failed" | "rejected" | "expired" | "unknown":
            return event.state
        case "pending" | "started":
            return "running"
        case _:
            assert_never(event.state)
