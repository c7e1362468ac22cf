"""What becomes of runs of agents that their process left behind: which can go on, and what their calls now are.

A call that a dead process had started is unknown and goes to a person, unless it may be tried again unasked. Knows no
task and no graph.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass

from app.run_log import RunLog
from tools.leases import ThreadLeases
from tools.ledger import ExecutionLedger

logger = logging.getLogger(__name__)

LEFT_BEHIND = "Groundwork ended while this call was running."


@dataclass(frozen=True, slots=True)
class Recovery:
    """Over one database; safe from several processes."""

    log: RunLog
    ledger: ExecutionLedger
    leases: ThreadLeases

    async def at_start(self) -> int:
        """Take down what the process before this one, of the same home, was working on; returns how many runs."""
        left = await self.log.running_agents()
        for run in left:
            await self._abandon(run.run_id, run.thread_id)
        return len(left)

    async def left_behind(self, *, busy: Collection[str]) -> list[str]:
        """Runs of any process whose lease ran out; their calls are settled as far as code may.

        Calls that are started though their run is not running are settled as well: their result could not be written.

        Args:
            busy: Threads that this process works on, however late it is with their leases.
        """
        runs: list[str] = []
        for thread_id, runner in await self.leases.expired():
            if thread_id in busy:
                continue
            for run in await self.log.running_agents(thread_id=thread_id):
                await self.settle_calls(run.run_id)
                runs.append(run.run_id)
            await self.leases.release(thread_id, runner)
        for call in await self.ledger.find(states=("started",)):
            if call.thread_id not in busy and not await self.log.is_running(call.run_id):
                await self.ledger.give_up(call, why=LEFT_BEHIND)
        return runs

    async def can_go_on(self, run_id: str) -> bool:
        """Whether an attempt would get further than the one before."""
        return await self.ledger.can_go_on(run_id)

    async def reject_calls(self, run_id: str, *, why: str) -> None:
        """Reject every call of a run that has not started."""
        await self.ledger.supersede(run_id, why=why, approved=True)

    async def _abandon(self, run_id: str, thread_id: str) -> None:
        await self.settle_calls(run_id)
        await self.leases.clear(thread_id)
        await self.log.release(run_id)
        logger.warning("A run was left behind and is taken up again", extra={"run_id": run_id})

    async def settle_calls(self, run_id: str) -> None:
        """Say of every call that a dead process had started what may be said: it may start again, or is unknown."""
        for call in await self.ledger.find(states=("started",), run_id=run_id):
            await self.ledger.give_up(call, why=LEFT_BEHIND)
