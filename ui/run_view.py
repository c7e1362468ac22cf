"""A run as far as its events tell it: what a page draws while the run goes on, and of one that ended without answer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias, assert_never

from agents.answer import ContextReport, FoundPassage
from agents.events import (
    AnswerDone,
    ClaimsChecked,
    HitsFound,
    QueryRewritten,
    RunCancelled,
    RunEvent,
    RunFailed,
    RunFinished,
    RunStarted,
    Token,
)

Stage: TypeAlias = Literal["searching", "reading", "writing", "checking", "ended"]


@dataclass(frozen=True, slots=True)
class RunView:
    """The fold of a run's events.

    Attributes:
        seq: Number of the last event taken in; where to attach again.
        stage: What the run is at.
        text: What the model has written.
        query: What was searched, once known.
        passages: What the search found, best first.
        context: How the context window was filled.
    """

    seq: int = 0
    stage: Stage = "searching"
    text: str = ""
    query: str = ""
    passages: tuple[FoundPassage, ...] = ()
    context: ContextReport = field(default_factory=ContextReport)

    @property
    def ended(self) -> bool:
        """Whether the terminal event was taken in."""
        return self.stage == "ended"


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
        case QueryRewritten():
            return replace(view, query=event.query)
        case HitsFound():
            return replace(view, stage="reading", query=event.query, passages=event.passages, context=event.context)
        case Token():
            return replace(view, stage="writing", text=view.text + event.text)
        case ClaimsChecked() | AnswerDone():
            return replace(view, stage="checking")
        case RunCancelled():
            return replace(view, stage="ended", text=event.partial)
        case RunFailed() | RunFinished():
            return replace(view, stage="ended")
        case _:
            assert_never(event)
