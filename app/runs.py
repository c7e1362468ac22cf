"""Runs as background work: started, followed by anyone, parked, taken up, cancelled, and ended by one terminal event.

Tokens reach followers at once and the log in batches; the terminal event is in the log before anyone sees it. A run
of an agent that waits for a person is nobody's work: whoever decides, or finds it left behind, takes it up again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing, suppress
from time import perf_counter
from typing import Protocol, TypeAlias

from sqlalchemy.exc import SQLAlchemyError

from agents.chat_model import ChatMessage
from agents.events import ClaimsChecked, RunCancelled, RunEvent, RunFailed, RunFinished, Token, is_terminal
from agents.gateway.meter import TokenMeter, metering
from agents.request import AnswerRequest
from app.errors import RunUnknown
from app.live_run import LiveRun
from app.metrics import Metrics
from app.recovery import Recovery
from app.run_log import RunLog
from app.run_work import StopReason, Terminal, Work, ended_run
from app.schema import RunInfo, ThreadInfo
from app.telemetry import run_span
from app.threads import utc_now
from app.turns import history_of
from ingestion.errors import LedgerUnavailable

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 1.0
"""Longest time that a shown token is not in the log yet; a lost one is lost with its run, which ends interrupted."""
_REMOTE_POLL_SECONDS = 0.5
"""How often the log is read for a run that another API of the same database carries out, or nobody does."""
SWEEP_SECONDS = 2.0
"""How often runs are looked for that can go on and that nobody works on."""
SEQ_GAP = 1000
"""Left out between the attempts of a run whose process died: followers may have seen numbers that were never stored."""
NEW_MESSAGE = "A new message came instead of a decision."
STOPPED = "The run was stopped."
UNREADABLE = "What this run was asked cannot be read any more, of another version perhaps; ask again."

Seal: TypeAlias = Callable[[AnswerRequest, Sequence[RunEvent]], Awaitable[str]]
"""Keeps what is true when an answer is given, as text for the log; raises ``LedgerUnavailable``."""


class AnswerSource(Protocol):
    """Answers one question by events; ``agents.stream.Answerer``, and scripted ones in tests."""

    def run(self, request: AnswerRequest) -> AsyncGenerator[RunEvent]:
        """Events numbered from 1, the last one terminal. Closing the generator stops the model."""
        ...


class ActingSource(Protocol):
    """Carries out runs of agents; ``agents.acting.runner.ActingRunner``."""

    async def require_agent(self, name: str) -> None:
        """Raises ``AgentUnknown`` when there is no such agent."""
        ...

    def run(self, request: AnswerRequest, *, last_seq: int = 0) -> AsyncGenerator[RunEvent]:
        """Events of one attempt; the last one terminal or ``run_waiting``, none when another attempt is at it."""
        ...

    async def forget(self, run_id: str) -> None:
        """Drop what was kept to take a run up again."""
        ...


class RunService:
    """Carries out runs and keeps their log. Belongs to one event loop."""

    def __init__(
        self,
        log: RunLog,
        answerer: AnswerSource,
        metrics: Metrics,
        *,
        acting: ActingSource,
        recovery: Recovery,
        seal: Seal | None = None,
    ) -> None:
        self._log = log
        self._answerer = answerer
        self._acting = acting
        self._recovery = recovery
        self._metrics = metrics
        self._seal = seal
        self._working: dict[str, Work] = {}
        self._closing = False

    async def start(self, request: AnswerRequest, *, completion: ThreadInfo | None = None) -> RunInfo:
        """Start a run and return at once; it goes on whoever listens.

        A run of the thread that waits for a person is ended: its undecided calls are rejected.

        Args:
            request: What is asked.
            completion: The run's own thread, which is written with it; None where the thread is there.

        Raises:
            RunActive: The thread has a run that has not ended.
            ThreadUnknown: There is no such thread.
            AgentUnknown: There is no such agent.
            UserBusy, TokensSpent: The user has asked for as much as is allowed now; nothing was changed.
        """
        if request.agent:
            await self._acting.require_agent(request.agent)
        await self._log.require_room(request.user)
        if completion is None and (waiting := await self._log.waiting_in(request.thread_id)):
            await self._end_waiting(waiting, why=NEW_MESSAGE)
        run = RunInfo(
            run_id=request.run_id,
            thread_id=request.thread_id,
            question=request.question,
            state="running",
            created_at=utc_now(),
            last_seq=0,
            agent=request.agent,
            replaces=request.replaces,
            continues=request.continues,
            pictures=request.pictures,
            preset=request.guidance.preset,
            preset_version=request.guidance.version,
        )
        await self._log.create(run, request=request, completion=completion)
        self._begin(run, request, LiveRun(run.run_id, run.thread_id))
        return run

    async def get(self, run_id: str) -> RunInfo:
        """The run as it stands; raises ``RunUnknown``."""
        run = await self._log.get(run_id)
        return self._current(run)

    async def of_thread(self, thread_id: str) -> list[RunInfo]:
        """Runs of a thread, oldest first."""
        return [self._current(run) for run in await self._log.of_thread(thread_id)]

    async def history(self, thread_id: str) -> tuple[ChatMessage, ...]:
        """Questions and answers of a thread so far, see ``app.turns.history_of``."""
        return history_of(await self._log.of_thread(thread_id))

    async def claims(self, run_id: str) -> ClaimsChecked | None:
        """The last proof of a run that has ended; None where nothing was proved."""
        return await self._log.claims(run_id)

    async def follow(self, run_id: str, *, after: int = 0) -> AsyncGenerator[RunEvent]:
        """Events with a number above ``after``: those in the log, then those to come, no gap and none twice.

        Leaving the iteration does not touch the run. Raises ``RunUnknown`` before the iteration.
        """
        if run_id not in self._working:
            await self._log.get(run_id)
        return self._follow(run_id, after)

    async def wake(self, run_id: str) -> None:
        """Take up a run whose calls were decided or settled; nothing happens to one that is being worked on.

        Never raises: the decision is stored, and the sweep tries again.
        """
        if work := self._working.get(run_id):
            work.again = True
            return
        try:
            if not self._closing and await self._log.claim(run_id):
                await self._take_up(run_id)
        except Exception:
            logger.exception("Run not taken up; tried again soon", extra={"run_id": run_id})
            with suppress(SQLAlchemyError):
                await self._log.release(run_id)

    async def sweep(self) -> None:
        """Take up every run that can go on and that nobody works on: left behind by a process, or decided elsewhere."""
        busy = {work.run.thread_id for work in self._working.values()}
        for run_id in await self._recovery.left_behind(busy=busy):
            await self._log.release(run_id)
        for run_id in await self._log.waiting():
            if await self._recovery.can_go_on(run_id):
                await self.wake(run_id)

    async def keep_going(self) -> None:
        """Sweep for ever."""
        while True:
            try:
                await self.sweep()
            except Exception:
                # A background worker: whatever fails now, the database away for example, is tried again.
                logger.exception("Runs not looked after; tried again soon")
            await asyncio.sleep(SWEEP_SECONDS)

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
        await self._end_waiting(run_id, why=STOPPED)
        return await self.get(run_id)

    async def cancel_thread(self, thread_id: str) -> None:
        """Stop the run of a thread, if it has one."""
        for work in list(self._working.values()):
            if work.run.thread_id == thread_id:
                await self.cancel(work.run.run_id)
        if waiting := await self._log.waiting_in(thread_id):
            await self._end_waiting(waiting, why=STOPPED)

    async def close(self) -> None:
        """End answers as interrupted and leave runs of agents for the next start; called when the API ends."""
        self._closing = True
        tasks = [work.task for work in self._working.values() if work.task is not None]
        for run_id in list(self._working):
            self.request_cancel(run_id, "interrupted")
        if tasks:
            await asyncio.wait(tasks)

    def _begin(self, run: RunInfo, request: AnswerRequest, live: LiveRun) -> None:
        # A task of its own, so that a cancellation ends the model's work and nothing of what follows it.
        meter = TokenMeter()
        consumer = asyncio.create_task(self._consume(live, request, meter), name=f"answer-{run.run_id}")
        work = self._working[run.run_id] = Work(run, live, consumer, request, meter)
        work.task = asyncio.create_task(self._carry_out(work), name=f"run-{run.run_id}")

    async def _take_up(self, run_id: str) -> None:
        run, stored = await self._log.get(run_id), await self._log.last_seq(run_id)
        try:
            request = await self._log.request(run_id)
        except (ValueError, RunUnknown):
            logger.exception("Run cannot be taken up", extra={"run_id": run_id})
            await self._end(run, LiveRun(run_id, run.thread_id, after=stored).failed("internal_error", UNREADABLE))
            return
        # A parked run has stored all it showed; one that was left behind may have shown more.
        known = stored if stored == run.last_seq else stored + SEQ_GAP
        self._begin(run, request, LiveRun(run_id, run.thread_id, after=known))

    async def _end_waiting(self, run_id: str, *, why: str) -> None:
        """End a run that waits, if it does: its calls that have not started are rejected."""
        if await self._log.claim(run_id):
            run = await self._log.get(run_id)
            live = LiveRun(run_id, run.thread_id, after=await self._log.last_seq(run_id))
            await self._end(run, live.cancelled(), why=why)

    async def _end(self, run: RunInfo, terminal: Terminal, *, why: str = STOPPED) -> None:
        """End a run that is ours and that nobody works on."""
        await self._recovery.reject_calls(run.run_id, why=why)
        ended = ended_run(run, terminal, None)
        await self._log.finish(ended, [terminal])
        await self._forget(ended)
        self._metrics.run_ended(ended)

    def _current(self, run: RunInfo) -> RunInfo:
        work = self._working.get(run.run_id)
        # Between the commit of the end and its publication the stored number is the newer one.
        return run.model_copy(update={"last_seq": max(run.last_seq, work.live.last_seq)}) if work else run

    async def _follow(self, run_id: str, after: int) -> AsyncGenerator[RunEvent]:
        while True:
            work = self._working.get(run_id)
            if work is not None:
                async for event in self._follow_live(work.live, after):
                    yield event
                    after = event.seq
                if work.live.events and is_terminal(work.live.events[-1]):
                    return
            else:
                # State before events: what is read after a run has ended is all there is.
                run = await self._log.get(run_id)
                ended = run.state not in ("running", "waiting")
                if ended and after > run.last_seq:
                    # The follower saw tokens that a killed process had not written; it still gets its end.
                    after = run.last_seq - 1
                for event in await self._log.events(run_id, after=after):
                    yield event
                    after = event.seq
                if ended:
                    return
            if self._working.get(run_id) is work:
                await asyncio.sleep(_REMOTE_POLL_SECONDS)

    async def _follow_live(self, live: LiveRun, after: int) -> AsyncGenerator[RunEvent]:
        """Events of the attempts before, from the log, then those of this one."""
        if after < live.after:
            for event in await self._log.events(live.run_id, after=after):
                if event.seq <= live.after:
                    yield event
        async for event in live.follow(after):
            yield event

    async def _carry_out(self, work: Work) -> None:
        fields = {"run_id": work.run.run_id, "thread_id": work.run.thread_id}
        logger.info("Run started", extra=fields)
        while not (await asyncio.wait([work.consumer], timeout=FLUSH_SECONDS))[0]:
            await self._flush(work)
        if work.parks:
            await self._park(work)
            return
        terminal = work.terminal()
        ended = ended_run(work.run, terminal, work.live.answer)
        try:
            if work.run.agent and not isinstance(terminal, RunFinished):
                await self._recovery.reject_calls(work.run.run_id, why=STOPPED)
            last = [*work.unwritten(), terminal]
            await self._log.finish(ended, last, seal=await self._sealed(work), tokens=work.meter.tokens)
        except SQLAlchemyError:
            # The run stays in memory, so that its followers see its end; the next start calls it interrupted.
            logger.exception("End of run not written", extra=fields)
            terminal = work.live.failed("internal_error", "The run log cannot be written; check the database and disk.")
            work.live.publish(terminal)
        else:
            del self._working[work.run.run_id]
            work.live.publish(terminal)
            await self._forget(ended)
        self._metrics.run_ended(ended)
        logger.info("Run ended", extra=fields | {"state": ended.state})

    async def _sealed(self, work: Work) -> str:
        """The seal of the answer; empty without an answer, and where it cannot be made: the answer counts for more."""
        if self._seal is None or work.live.answer is None:
            return ""
        try:
            return await self._seal(work.request, work.live.events)
        except LedgerUnavailable:
            logger.exception("Answer not sealed", extra={"run_id": work.run.run_id})
            return ""

    async def _park(self, work: Work) -> None:
        """Leave a run of an agent to whoever can take it up; at once to ourselves when a decision came meanwhile."""
        run_id = work.run.run_id
        parked = work.run.model_copy(update={"last_seq": work.live.last_seq})
        try:
            await self._log.park(parked, work.unwritten(), tokens=work.meter.tokens)
        except SQLAlchemyError:
            logger.exception("Run not parked; the next start takes it up", extra={"run_id": run_id})
        del self._working[run_id]
        work.live.close()
        logger.info("Run waits", extra={"run_id": run_id, "thread_id": work.run.thread_id})
        if not self._closing and (work.again or await self._recovery.can_go_on(run_id)):
            await self.wake(run_id)

    async def _forget(self, run: RunInfo) -> None:
        if not run.agent:
            return
        try:
            await self._acting.forget(run.run_id)
        except Exception:
            # What is left over takes space and does no harm.
            logger.exception("Checkpoints not deleted", extra={"run_id": run.run_id})

    async def _consume(self, live: LiveRun, request: AnswerRequest, meter: TokenMeter) -> Terminal | None:
        """Publish what the graph says; the terminal event is returned, for it is shown when it is in the log."""
        started = perf_counter()
        first_token = True
        source = self._acting.run(request, last_seq=live.after) if request.agent else self._answerer.run(request)
        with run_span(request), metering(meter):
            async with aclosing(source) as events:
                async for event in events:
                    if isinstance(event, RunFailed | RunCancelled | RunFinished):
                        return event
                    if first_token and isinstance(event, Token):
                        first_token = False
                        self._metrics.ttft_seconds.observe(perf_counter() - started)
                    live.publish(event)
        return None

    async def _flush(self, work: Work) -> None:
        events = work.unwritten()
        if not events:
            return
        try:
            await self._log.append(events)
        except SQLAlchemyError:
            logger.exception("Events not written yet", extra={"run_id": work.run.run_id})
        else:
            work.written += len(events)
