"""Acting runs: begun, parked while a person decides, taken up again by whichever process comes first.

A run's state is its checkpoint, the truth about its calls is the ledger. One attempt at a time holds the thread's
lease; a second one finds it taken and leaves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from time import perf_counter
from typing import cast
from uuid import uuid4

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from agents.acting.context import ActingContext, ActingParts
from agents.acting.graph import build_acting_graph
from agents.acting.records import ActingInput, dump_request
from agents.answer import Answer
from agents.closing import closing
from agents.drafts import Draft
from agents.event_stream import UNEXPECTED, Stamps, event_of, failed_event, stamps_of
from agents.events import AnswerDone, RunEvent, RunFailed, RunFinished, RunStarted, RunWaiting
from agents.request import AnswerRequest
from tools.leases import ThreadLeases

logger = logging.getLogger(__name__)

MAX_TURNS_IN_GRAPH = 1000
"""LangGraph's own limit of steps, far above what ``max_steps`` of the agents allows: ours ends a run in words."""


class ActingRunner:
    """Carries out runs of agents. Belongs to one event loop; holds nothing of a run between attempts."""

    def __init__(self, *, leases: ThreadLeases, checkpointer: BaseCheckpointSaver[str], heartbeat: float = 5.0) -> None:
        self._leases = leases
        self._checkpointer = checkpointer
        self._heartbeat = heartbeat
        self._graph = build_acting_graph(checkpointer)

    async def run(self, request: AnswerRequest, parts: ActingParts, *, last_seq: int = 0) -> AsyncGenerator[RunEvent]:
        """Events of one attempt, numbered from ``last_seq + 1``.

        The last event is terminal, or ``run_waiting``: then the run goes on with another attempt once a person has
        decided. Nothing at all comes when another attempt holds the thread.

        Args:
            request: The run; the same one for every attempt.
            parts: What it works with; may be newer than that of the attempt before.
            last_seq: Number of the newest event of the attempts before; 0 for the first.
        """
        runner = f"{request.run_id[:8]}-{uuid4().hex[:12]}"
        if not await self._leases.acquire(request.thread_id, runner):
            return
        async with self._holding(request.thread_id, runner):
            stamps = stamps_of(request, last=last_seq)
            if last_seq == 0:
                yield RunStarted(**stamps.next(), question=request.question, model=parts.chat_model.name)
            async with closing(
                self._attempt(request, ActingContext(parts, runner, started=perf_counter()), stamps)
            ) as events:
                async for event in events:
                    yield event

    async def forget(self, run_id: str) -> None:
        """Delete the checkpoints of a run that has ended."""
        await self._checkpointer.adelete_thread(run_id)

    async def _attempt(
        self, request: AnswerRequest, context: ActingContext, stamps: Stamps
    ) -> AsyncGenerator[RunEvent]:
        config: RunnableConfig = {"configurable": {"thread_id": request.run_id}, "recursion_limit": MAX_TURNS_IN_GRAPH}
        status = None
        try:
            begun = (await self._graph.aget_state(config)).values
            if begun.get("answer"):
                # Killed between the last checkpoint and the end of the run: the answer stands.
                result = Answer.model_validate(begun["answer"])
                status = result.status
                yield AnswerDone(**stamps.next(), answer=result, usage=result.usage)
            start = None if begun else ActingInput(request=dump_request(request))
            parts = self._graph.astream(
                start, config, context=context, stream_mode="custom", version="v2", durability="sync"
            )
            async with closing(parts) as drafts:
                async for part in drafts:
                    event = event_of(cast(Draft, part["data"]), stamps.next())
                    if isinstance(event, AnswerDone):
                        status = event.answer.status
                    yield event
            parked = [
                str(raised.value["call_id"])
                for task in (await self._graph.aget_state(config)).tasks
                for raised in task.interrupts
            ]
        except Exception as error:  # noqa: BLE001  # a run never ends without its event
            yield failed_event(error, stamps.next())
            return
        if status == "answered" or status == "abstained":
            yield RunFinished(**stamps.next(), status=status)
        elif parked:
            yield RunWaiting(**stamps.next(), call_ids=tuple(parked))
        else:
            yield RunFailed(**stamps.next(), kind="internal_error", message=UNEXPECTED)

    @asynccontextmanager
    async def _holding(self, thread_id: str, runner: str) -> AsyncGenerator[None]:
        """Renew the lease while the attempt works; give it back behind it."""

        async def renew() -> None:
            while True:
                await asyncio.sleep(self._heartbeat)
                try:
                    await self._leases.acquire(thread_id, runner)
                except Exception:
                    # The lease runs out by itself; the ledger keeps every effect single.
                    logger.exception("Lease not renewed", extra={"thread_id": thread_id})

        renewing = asyncio.create_task(renew(), name=f"lease-{thread_id}")
        try:
            yield
        finally:
            renewing.cancel()
            await asyncio.shield(self._leases.release(thread_id, runner))
