"""A run that is being worked on: its events in memory, for its writer and any number of followers. No database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from datetime import UTC, datetime

from agents.answer import Answer
from agents.events import AnswerDone, FailureKind, RunCancelled, RunEvent, RunFailed, Token, is_terminal


class LiveRun:
    """Events of one attempt, in order. A follower is a position in them: a slow one costs nothing but its position.

    Args:
        run_id: The run.
        thread_id: Its thread.
        after: Number of the newest event of the attempts before.
    """

    def __init__(self, run_id: str, thread_id: str, *, after: int = 0) -> None:
        self.run_id = run_id
        self.thread_id = thread_id
        self.after = after
        self.events: list[RunEvent] = []
        self._closed = False
        self._changed = asyncio.Event()

    @property
    def last_seq(self) -> int:
        """Number of the newest event."""
        return self.events[-1].seq if self.events else self.after

    @property
    def ended(self) -> bool:
        """Whether nothing more comes of this attempt."""
        return self._closed or (bool(self.events) and is_terminal(self.events[-1]))

    @property
    def text(self) -> str:
        """What the model has written of the answer."""
        return "".join(event.text for event in self.events if isinstance(event, Token) and event.step == 0)

    @property
    def answer(self) -> Answer | None:
        """The answer, once it stands."""
        return next((event.answer for event in reversed(self.events) if isinstance(event, AnswerDone)), None)

    def publish(self, event: RunEvent) -> None:
        """Show an event to all followers."""
        self.events.append(event)
        self._wake()

    def close(self) -> None:
        """No event follows although the run has not ended: it waits for a person."""
        self._closed = True
        self._wake()

    async def follow(self, after: int) -> AsyncGenerator[RunEvent]:
        """Events with a higher number, those that are there and those to come, until the attempt ends."""
        position = 0
        while True:
            while position < len(self.events):
                event = self.events[position]
                position += 1
                if event.seq > after:
                    yield event
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

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
