"""Runs as background work: started, followed by anyone, cancelled, and ended by exactly one terminal event.

Tokens reach followers at once and the log in batches; the terminal event is in the log before anyone sees it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from time import perf_counter
from typing import Literal, Protocol, TypeAlias, assert_never

from sqlalchemy.exc import SQLAlchemyError

from agents.chat_model import ChatMessage
from agents.events import RunCancelled, RunEvent, RunFailed, RunFinished, Token
from agents.request import AnswerRequest
from app.live_run import LiveRun
from app.metrics import Metrics
from app.run_log import RunLog, interrupted
from app.schema import RunInfo
from app.threads import utc_now

logger = logging.getLogger(__name__)

Terminal: TypeAlias = RunFailed | RunCancelled | RunFinished
StopReason: TypeAlias = Literal["cancelled", "interrupted"]

FLUSH_SECONDS = 0.25
"""Longest time that a shown token is not in the log yet; a lost one is lost with its run, which ends interrupted."""
_REMOTE_POLL_SECONDS = 0.5
"""How often the log is read for a run that another API of the same database carries out."""


class AnswerSource(Protocol):
    """Answers one question by events; ``agents.stream.Answerer``, and scripted ones in tests."""

    def run(self, request: AnswerRequest) -> AsyncGenerator[RunEvent]:
        """Events numbered from 1, the last one terminal. Closing the generator stops the model."""
        ...


class RunService:
    """Carries out runs and keeps their log. Belongs to one event loop."""

    def __init__(self, log: RunLog, answerer: AnswerSource, metrics: Metrics) -> None:
        self._log = log
        self._answerer = answerer
        self._metrics = metrics
        self._working: dict[str, _Work] = {}

    async def start(self, request: AnswerRequest) -> RunInfo:
        """Start a run and return at once; it goes on whoever listens.

        Raises:
            RunActive: The thread has a run that has not ended.
            ThreadUnknown: There is no such thread.
        """
        run = RunInfo(
            run_id=request.run_id,
            thread_id=request.thread_id,
            question=request.question,
            state="running",
            created_at=utc_now(),
            last_seq=0,
        )
        await self._log.create(run)
        live = LiveRun(run.run_id, run.thread_id)
        # A task of its own, so that a cancellation ends the model's work and nothing of what follows it.
        consumer = asyncio.create_task(self._consume(live, request), name=f"answer-{run.run_id}")
        work = self._working[run.run_id] = _Work(run, live, consumer)
        work.task = asyncio.create_task(self._carry_out(work), name=f"run-{run.run_id}")
        return run

    async def get(self, run_id: str) -> RunInfo:
        """The run as it stands; raises ``RunUnknown``."""
        run = await self._log.get(run_id)
        return self._current(run)

    async def of_thread(self, thread_id: str) -> list[RunInfo]:
        """Runs of a thread, oldest first."""
        return [self._current(run) for run in await self._log.of_thread(thread_id)]

    async def history(self, thread_id: str) -> tuple[ChatMessage, ...]:
        """Questions and answers of a thread so far, oldest first; runs without an answer are left out."""
        messages: list[ChatMessage] = []
        for run in await self._log.of_thread(thread_id):
            if run.answer is not None and run.state in ("answered", "abstained"):
                messages += [ChatMessage("user", run.question), ChatMessage("assistant", run.answer.answer)]
        return tuple(messages)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[RunEvent]:
        """Events with a number above ``after``: those in the log, then those to come, no gap and none twice.

        Leaving the iteration does not touch the run. Raises ``RunUnknown`` before the iteration.
        """
        if work := self._working.get(run_id):
            return work.live.follow(after)
        await self._log.get(run_id)
        return self._read_log(run_id, after)

    def request_cancel(self, run_id: str, reason: StopReason = "cancelled") -> None:
        """Stop the run soon, its model included; nothing happens to a run that has ended."""
        if work := self._working.get(run_id):
            work.stop_reason = reason
            work.consumer.cancel()

    async def cancel(self, run_id: str) -> RunInfo:
        """Stop the run and return it as it ended; a run that had ended is returned as it is. Raises ``RunUnknown``."""
        work = self._working.get(run_id)
        if work is not None and work.task is not None:
            self.request_cancel(run_id)
            await asyncio.wait([work.task])
        return await self.get(run_id)

    async def cancel_thread(self, thread_id: str) -> None:
        """Stop the run of a thread, if it has one."""
        for work in list(self._working.values()):
            if work.run.thread_id == thread_id:
                await self.cancel(work.run.run_id)

    async def close(self) -> None:
        """End all runs as interrupted; called when the API ends."""
        tasks = [work.task for work in self._working.values() if work.task is not None]
        for run_id in list(self._working):
            self.request_cancel(run_id, "interrupted")
        if tasks:
            await asyncio.wait(tasks)

    def _current(self, run: RunInfo) -> RunInfo:
        work = self._working.get(run.run_id)
        return run.model_copy(update={"last_seq": work.live.last_seq}) if work else run

    async def _read_log(self, run_id: str, after: int) -> AsyncGenerator[RunEvent]:
        while True:
            # State first: what is read after a run has ended is all there is.
            run = await self._log.get(run_id)
            if run.state != "running" and after > run.last_seq:
                # The follower saw tokens that a killed process had not written; it still gets its end.
                after = run.last_seq - 1
            for event in await self._log.events(run_id, after=after):
                yield event
                after = event.seq
            if run.state != "running":
                return
            await asyncio.sleep(_REMOTE_POLL_SECONDS)

    async def _carry_out(self, work: _Work) -> None:
        fields = {"run_id": work.run.run_id, "thread_id": work.run.thread_id}
        logger.info("Run started", extra=fields)
        while not (await asyncio.wait([work.consumer], timeout=FLUSH_SECONDS))[0]:
            await self._flush(work)
        terminal = work.terminal()
        ended = _ended(work, terminal)
        try:
            await self._log.finish(ended, [*work.unwritten(), terminal])
        except SQLAlchemyError:
            # The run stays in memory, so that its followers see its end; the next start calls it interrupted.
            logger.exception("End of run not written", extra=fields)
            terminal = work.live.failed("internal_error", "The run log cannot be written; check the database and disk.")
            work.live.publish(terminal)
        else:
            work.live.publish(terminal)
            del self._working[work.run.run_id]
        self._metrics.run_ended(ended)
        logger.info("Run ended", extra=fields | {"state": ended.state})

    async def _consume(self, live: LiveRun, request: AnswerRequest) -> Terminal | None:
        """Publish what the graph says; the terminal event is returned, for it is shown when it is in the log."""
        started = perf_counter()
        first_token = True
        async with aclosing(self._answerer.run(request)) as events:
            async for event in events:
                if isinstance(event, RunFailed | RunCancelled | RunFinished):
                    return event
                if first_token and isinstance(event, Token):
                    first_token = False
                    self._metrics.ttft_seconds.observe(perf_counter() - started)
                live.publish(event)
        return None

    async def _flush(self, work: _Work) -> None:
        events = work.unwritten()
        if not events:
            return
        try:
            await self._log.append(events)
        except SQLAlchemyError:
            logger.exception("Events not written yet", extra={"run_id": work.run.run_id})
        else:
            work.written += len(events)


@dataclass(slots=True)
class _Work:
    """A run that is going on, with its tasks and how much of it is in the log."""

    run: RunInfo
    live: LiveRun
    consumer: asyncio.Task[Terminal | None]
    task: asyncio.Task[None] | None = None
    written: int = 0
    stop_reason: StopReason = "cancelled"

    def unwritten(self) -> list[RunEvent]:
        return self.live.events[self.written :]

    def terminal(self) -> Terminal:
        """How it ended; the consumer is done."""
        if self.consumer.cancelled():
            if self.stop_reason == "interrupted":
                return interrupted(self.run.run_id, self.run.thread_id, seq=self.live.last_seq + 1)
            return self.live.cancelled()
        if error := self.consumer.exception():
            logger.error("Run broke off", extra={"run_id": self.run.run_id}, exc_info=error)
            return self.live.failed("internal_error", "The answer broke off by a fault of Groundwork; see its log.")
        return self.consumer.result() or self.live.failed("internal_error", "The answer has no end; ask again.")


def _ended(work: _Work, terminal: Terminal) -> RunInfo:
    match terminal:
        case RunFinished():
            state, error = terminal.status, None
        case RunCancelled():
            state, error = "cancelled", None
        case RunFailed():
            state, error = "failed", terminal.message
        case _:
            assert_never(terminal)
    changes = {"state": state, "error": error, "answer": work.live.answer, "last_seq": terminal.seq}
    return work.run.model_copy(update=changes)
