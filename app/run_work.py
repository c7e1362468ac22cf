"""A run that this process works on: its tasks, how much of it is in the log, and how it ended."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Literal, TypeAlias, assert_never

from agents.answer import Answer
from agents.events import RunCancelled, RunEvent, RunFailed, RunFinished, RunWaiting
from agents.gateway.meter import TokenMeter
from agents.request import AnswerRequest
from app.live_run import LiveRun
from app.run_log import interrupted
from app.schema import RunInfo

logger = logging.getLogger(__name__)

Terminal: TypeAlias = RunFailed | RunCancelled | RunFinished
StopReason: TypeAlias = Literal["cancelled", "interrupted"]


@dataclass(slots=True)
class Work:
    """A run that is going on, with its tasks and how much of it is in the log."""

    run: RunInfo
    live: LiveRun
    consumer: asyncio.Task[Terminal | None]
    request: AnswerRequest
    meter: TokenMeter
    """Tokens of this attempt."""
    task: asyncio.Task[None] | None = None
    written: int = 0
    stop_reason: StopReason = "cancelled"
    again: bool = False
    """A call of the run was decided while it was worked on."""

    @property
    def parks(self) -> bool:
        """Whether the run of an agent stops here and goes on later; the consumer is done."""
        if not self.run.agent:
            return False
        if self.consumer.cancelled():
            return self.stop_reason == "interrupted"
        if self.consumer.exception() or self.consumer.result():
            return False
        return not self.live.events or isinstance(self.live.events[-1], RunWaiting)

    def unwritten(self) -> list[RunEvent]:
        """Events that are not in the log yet."""
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


def ended_run(run: RunInfo, terminal: Terminal, answer: Answer | None) -> RunInfo:
    """The run in the state that its terminal event says."""
    match terminal:
        case RunFinished():
            state, error = terminal.status, None
        case RunCancelled():
            state, error = "cancelled", None
        case RunFailed():
            state, error = "failed", terminal.message
        case _:
            assert_never(terminal)
    return run.model_copy(update={"state": state, "error": error, "answer": answer, "last_seq": terminal.seq})
