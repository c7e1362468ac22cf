"""A run as far as its events tell it: what a page draws while the run goes on, and of one that ended without answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, assert_never

from agents.answer import ContextReport, FoundPassage
from agents.events import (
    AnswerDone,
    AnswerReviewed,
    ClaimsChecked,
    HitsFound,
    ObjectPart,
    PicturesGiven,
    QueryRewritten,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunStarted,
    RunWaiting,
    SearchWarned,
    StepStarted,
    Token,
)
from ui.step_view import CallEvent, Steps, begin, speak, take_call

Stage: TypeAlias = Literal["searching", "reading", "thinking", "acting", "waiting", "writing", "checking", "ended"]


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewing agent said of the answer."""

    reviewer: str
    approved: bool
    remark: str


@dataclass(frozen=True, slots=True)
class RunView:
    """The fold of a run's events.

    Attributes:
        seq: Number of the last event taken in; where to attach again.
        stage: What the run is at.
        text: What the model has written as its answer.
        query: What was searched, once known.
        passages: What the search found, best first.
        warnings: What the search went on without, a sentence each.
        context: How the context window was filled.
        steps: Turns of agents with their calls, in order; none for an answer from documents alone.
        reviews: What reviewing agents said, in order.
    """

    seq: int = 0
    stage: Stage = "searching"
    text: str = ""
    query: str = ""
    passages: tuple[FoundPassage, ...] = ()
    warnings: tuple[str, ...] = ()
    context: ContextReport = field(default_factory=ContextReport)
    steps: Steps = ()
    reviews: tuple[Review, ...] = ()

    @property
    def ended(self) -> bool:
        """Whether the terminal event was taken in."""
        return self.stage == "ended"

    @property
    def answer_text(self) -> str:
        """The answer as far as it is written: its own text, or that of a last step that called nothing."""
        last = self.steps[-1] if self.steps else None
        return self.text or (last.text if last and not last.calls else "")


def fold(events: Iterable[RunEvent], view: RunView | None = None) -> RunView:
    """The view behind the events; one that was taken in before changes nothing."""
    view = view or RunView()
    for event in events:
        if event.seq > view.seq:
            view = replace(_apply(view, event), seq=event.seq)
    return view


def _apply(view: RunView, event: RunEvent) -> RunView:
    match event:
        case RunStarted():
            return replace(view, query=event.question)
        case QueryRewritten() | SearchWarned() | HitsFound():
            return _searched(view, event)
        case PicturesGiven():
            # The run itself says it, with its question.
            return view
        case Token() | ObjectPart():
            return _written(view, event)
        case RunWaiting():
            return replace(view, stage="waiting")
        case AnswerReviewed():
            return _reviewed(view, event)
        case ClaimsChecked() | AnswerDone():
            return replace(view, stage="checking")
        case RunCancelled():
            return replace(view, stage="ended", text=event.partial)
        case RunFailed() | RunFinished():
            return replace(view, stage="ended")
        case _:
            return _acted(view, event)


def _searched(view: RunView, event: QueryRewritten | SearchWarned | HitsFound) -> RunView:
    match event:
        case QueryRewritten():
            return replace(view, query=event.query)
        case SearchWarned():
            return replace(view, warnings=(*view.warnings, event.detail))
        case HitsFound():
            # The context of an answer is filled before it is written: what an earlier attempt wrote is void.
            found, context = event.passages or view.passages, event.context
            return replace(view, stage="reading", query=event.query, passages=found, context=context, text="")
        case _:
            assert_never(event)


def _written(view: RunView, event: Token | ObjectPart) -> RunView:
    if isinstance(event, ObjectPart):
        shown = json.dumps(event.value, ensure_ascii=False, indent=2)
        return replace(view, stage="writing", text=f"```json\n{shown}\n```")
    if event.step:
        return replace(view, stage="writing", steps=speak(view.steps, event.step, event.text))
    return replace(view, stage="writing", text=view.text + event.text)


def _acted(view: RunView, event: StepStarted | CallEvent) -> RunView:
    if isinstance(event, StepStarted):
        return replace(view, stage="thinking", steps=begin(view.steps, event))
    return replace(view, stage="acting", steps=take_call(view.steps, event))


def _reviewed(view: RunView, event: AnswerReviewed) -> RunView:
    review = Review(event.reviewer, event.approved, event.remark)
    text = view.text if event.approved else ""
    return replace(view, stage="checking", reviews=(*view.reviews, review), text=text)
