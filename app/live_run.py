"""A run that is going on: its events in memory, for its writer and any number of followers. Knows no database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from agents.answer import Answer
from agents.events import AnswerDone, FailureKind, RunCancelled, RunEvent, RunFailed, Token, is_terminal


class LiveRun:
    """Events so far, in order. A follower is a position in them, so that a slow one costs nothing but its position."""

    def __init__(self, run_id: str, thread_id: str) -> None:
        self.run_id = run_id
        self.thread_id = thread_id
        self.events: list[RunEvent] = []
        self._changed = asyncio.Event()

    @property
    def last_seq(self) -> int:
        """Number of the newest event; 0 before the first."""
        return len(self.events)

    @property
    def ended(self) -> bool:
        """Whether the terminal event is there."""
        return bool(self.events) and is_terminal(self.events[-1])

    @property
    def text(self) -> str:
        """What the model has written."""
        return "".join(event.text for event in self.events if isinstance(event, Token))

    @property
    def answer(self) -> Answer | None:
        """The answer, once it stands."""
        return next((event.answer for event in reversed(self.events) if isinstance(event, AnswerDone)), None)

    def publish(self, event: RunEvent) -> None:
        """Show an event to all followers."""
        self.events.append(event)
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()

    async def follow(self, after: int) -> AsyncGenerator[RunEvent]:
        """Events with a higher number, those that are there and those to come; ends behind the terminal event."""
        position = after
        while True:
            while position < len(self.events):
                yield self.events[position]
                position += 1
            if self.ended:
                return
            await self._changed.wait()

    def cancelled(self) -> RunCancelled:
        """The terminal event of a run that somebody stopped now."""
        return RunCancelled(
            run_id=self.run_id,
            thread_id=self.thread_id,
            seq=self.last_seq + 1,
            at=datetime.now(UTC),
            partial=self.text,
        )

    def failed(self, kind: FailureKind, message: str) -> RunFailed:
        """The terminal event of a run that cannot go on."""
        return RunFailed(
            run_id=self.run_id,
            thread_id=self.thread_id,
            seq=self.last_seq + 1,
            at=datetime.now(UTC),
            kind=kind,
            message=message,
        )
