"""Runs in the database: their state, and the append-only log of their events. Knows no task and no subscriber."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from agents.acting.records import dump_request, load_request
from agents.answer import Answer
from agents.events import EVENT_ADAPTER, ClaimsChecked, RunEvent, RunFailed
from agents.request import AnswerRequest
from app.errors import RunActive, RunUnknown, ThreadUnknown
from app.limits import UserLimits, charge
from app.schema import RunInfo, ThreadInfo
from app.tables import run_events, run_seals, runs
from app.threads import insert, touch, utc_now

_NOT_SHOWN = frozenset({"owner", "answer", "request", "asked_by", "tokens"})
_INTERRUPTED = "Groundwork ended while this run was going on; ask again."


@dataclass(frozen=True, slots=True)
class RunLog:
    """Runs and their events.

    Attributes:
        engine: The database.
        owner: Name of this API among all that share the database; runs are marked with it.
        limits: What one user may start; None sets no limit.
    """

    engine: AsyncEngine
    owner: str
    limits: UserLimits | None = None

    async def require_room(self, user: str) -> None:
        """Return when the user may start a run now; raises ``UserBusy`` or ``TokensSpent``."""
        if self.limits is not None:
            await self.limits.require_room(user)

    async def create(self, run: RunInfo, *, request: AnswerRequest, completion: ThreadInfo | None = None) -> None:
        """Write a run that starts now; that of an agent with its request, from which it can be taken up again.

        Args:
            run: The run.
            request: What is asked.
            completion: A new thread that is written with it, both or neither; None where the thread is there.

        Raises:
            RunActive: The thread has a run that has not ended.
            ThreadUnknown: There is no such thread.
            UserBusy, TokensSpent: The user has asked for as much as is allowed now.
        """
        stored = json.dumps(dump_request(request)) if run.agent else ""
        values = run.model_dump(exclude={"answer"}) | {"owner": self.owner, "request": stored, "asked_by": request.user}
        values["pictures"] = json.dumps(values["pictures"])
        try:
            async with self.engine.begin() as connection:
                if completion is not None:
                    await connection.execute(insert(completion, origin="completion"))
                await connection.execute(runs.insert().values(values))
                if self.limits is not None:
                    await self.limits.admit(connection, request.user)
                if completion is None:
                    await connection.execute(touch(run.thread_id, title=run.question, at=run.created_at))
        except IntegrityError as error:
            if await self._active(run.thread_id):
                raise RunActive(
                    f"The thread {run.thread_id!r} has a run that has not ended; wait for it or cancel it."
                ) from error
            raise ThreadUnknown(f"There is no thread {run.thread_id!r}; GET /api/threads lists them.") from error

    async def append(self, events: Sequence[RunEvent]) -> None:
        """Add events of one run behind those that are there."""
        async with self.engine.begin() as connection:
            await _insert(connection, events)

    async def finish(self, run: RunInfo, events: Sequence[RunEvent], *, seal: str = "", tokens: int = 0) -> None:
        """Add the last events, the seal of the answer, the tokens of this attempt and the final state, or nothing."""
        async with self.engine.begin() as connection:
            await _insert(connection, events)
            await charge(connection, run.run_id, tokens)
            if seal:
                await connection.execute(run_seals.insert().values(run_id=run.run_id, data=seal))
            await connection.execute(
                runs.update()
                .where(runs.c.run_id == run.run_id)
                .values(
                    state=run.state,
                    last_seq=run.last_seq,
                    error=run.error,
                    answer=run.answer.model_dump_json() if run.answer else None,
                )
            )
            await connection.execute(touch(run.thread_id, title=run.question, at=utc_now()))

    async def park(self, run: RunInfo, events: Sequence[RunEvent], *, tokens: int = 0) -> None:
        """Add the last events of an attempt and its tokens, and say that the run waits, all or nothing."""
        parked = runs.update().where(runs.c.run_id == run.run_id, runs.c.state == "running")
        async with self.engine.begin() as connection:
            await _insert(connection, events)
            await charge(connection, run.run_id, tokens)
            await connection.execute(parked.values(state="waiting", last_seq=run.last_seq))

    async def claim(self, run_id: str) -> bool:
        """Make a waiting run a running one of ours; True for exactly one caller."""
        waiting = runs.update().where(runs.c.run_id == run_id, runs.c.state == "waiting")
        async with self.engine.begin() as connection:
            claimed = await connection.execute(waiting.values(state="running", owner=self.owner))
        return claimed.rowcount == 1

    async def release(self, run_id: str) -> None:
        """Make a running run of an agent wait, whose attempt ended without a word."""
        running = runs.update().where(runs.c.run_id == run_id, runs.c.state == "running", runs.c.agent != "")
        async with self.engine.begin() as connection:
            await connection.execute(running.values(state="waiting"))

    async def waiting(self) -> list[str]:
        """Ids of all runs that wait."""
        query = sa.select(runs.c.run_id).where(runs.c.state == "waiting").order_by(runs.c.created_at)
        async with self.engine.connect() as connection:
            return list(await connection.scalars(query))

    async def waiting_in(self, thread_id: str) -> str | None:
        """The run of a thread that waits, if there is one."""
        query = sa.select(runs.c.run_id).where(runs.c.state == "waiting", runs.c.thread_id == thread_id)
        async with self.engine.connect() as connection:
            return await connection.scalar(query)

    async def running_agents(self, *, thread_id: str = "") -> list[RunInfo]:
        """Runs of agents that are running: those of this owner, or the one of a thread whoever owns it."""
        query = sa.select(runs).where(runs.c.state == "running", runs.c.agent != "")
        query = query.where(runs.c.thread_id == thread_id if thread_id else runs.c.owner == self.owner)
        async with self.engine.connect() as connection:
            return [_run(row) for row in (await connection.execute(query)).mappings()]

    async def is_running(self, run_id: str) -> bool:
        """Whether a run is being worked on, or was when its process died."""
        query = sa.select(runs.c.run_id).where(runs.c.run_id == run_id, runs.c.state == "running")
        async with self.engine.connect() as connection:
            return await connection.scalar(query) is not None

    async def request(self, run_id: str) -> AnswerRequest:
        """What a run of an agent was asked; raises ``RunUnknown`` for other runs."""
        query = sa.select(runs.c.request).where(runs.c.run_id == run_id)
        async with self.engine.connect() as connection:
            stored = await connection.scalar(query)
        if not stored:
            raise RunUnknown(f"There is no run of an agent {run_id!r}.")
        return load_request(json.loads(stored))

    async def last_seq(self, run_id: str) -> int:
        """Number of the newest stored event; 0 without any."""
        query = sa.select(sa.func.max(run_events.c.seq)).where(run_events.c.run_id == run_id)
        async with self.engine.connect() as connection:
            return await connection.scalar(query) or 0

    async def get(self, run_id: str) -> RunInfo:
        """The run of that id; raises ``RunUnknown``."""
        async with self.engine.connect() as connection:
            row = (await connection.execute(sa.select(runs).where(runs.c.run_id == run_id))).mappings().first()
        if row is None:
            raise RunUnknown(f"There is no run {run_id!r}.")
        return _run(row)

    async def of_thread(self, thread_id: str) -> list[RunInfo]:
        """Runs of a thread, oldest first; empty for an unknown thread."""
        query = sa.select(runs).where(runs.c.thread_id == thread_id).order_by(runs.c.created_at, runs.c.run_id)
        async with self.engine.connect() as connection:
            return [_run(row) for row in (await connection.execute(query)).mappings()]

    async def events(self, run_id: str, *, after: int) -> list[RunEvent]:
        """Stored events with a higher number, in order."""
        query = (
            sa.select(run_events.c.data)
            .where(run_events.c.run_id == run_id, run_events.c.seq > after)
            .order_by(run_events.c.seq)
        )
        async with self.engine.connect() as connection:
            return [EVENT_ADAPTER.validate_json(data) for data in (await connection.scalars(query))]

    async def claims(self, run_id: str) -> ClaimsChecked | None:
        """The last proof of a run; None where nothing was proved."""
        query = (
            sa.select(run_events.c.data)
            .where(run_events.c.run_id == run_id, run_events.c.type == "claims_checked")
            .order_by(run_events.c.seq.desc())
        )
        async with self.engine.connect() as connection:
            data = await connection.scalar(query.limit(1))
        return ClaimsChecked.model_validate_json(data) if data else None

    async def stored_events(self, run_id: str) -> list[str]:
        """The events of a run in order, each as the text that is stored."""
        query = sa.select(run_events.c.data).where(run_events.c.run_id == run_id).order_by(run_events.c.seq)
        async with self.engine.connect() as connection:
            return list(await connection.scalars(query))

    async def seal(self, run_id: str) -> str | None:
        """What was true when the answer was given, as JSON; None without an answer, and for those of older versions."""
        query = sa.select(run_seals.c.data).where(run_seals.c.run_id == run_id)
        async with self.engine.connect() as connection:
            return await connection.scalar(query)

    async def interrupt_running(self) -> int:
        """End every answer that this owner left running when it died, with its one terminal event; returns how many.

        Runs of agents are not ended: they are taken up again.
        """
        query = sa.select(runs).where(runs.c.state == "running", runs.c.owner == self.owner, runs.c.agent == "")
        async with self.engine.connect() as connection:
            left = [_run(row) for row in (await connection.execute(query)).mappings()]
        for run in left:
            last_seq = await self.last_seq(run.run_id)
            event = interrupted(run.run_id, run.thread_id, seq=last_seq + 1)
            ended = run.model_copy(update={"state": "failed", "error": event.message, "last_seq": event.seq})
            await self.finish(ended, [event])
        return len(left)

    async def _active(self, thread_id: str) -> bool:
        active = runs.c.state.in_(("running", "waiting"))
        query = sa.select(runs.c.run_id).where(runs.c.thread_id == thread_id, active)
        async with self.engine.connect() as connection:
            return await connection.scalar(query) is not None


def interrupted(run_id: str, thread_id: str, *, seq: int) -> RunFailed:
    """The terminal event of a run whose process ended before it."""
    return RunFailed(
        run_id=run_id, thread_id=thread_id, seq=seq, at=datetime.now(UTC), kind="interrupted", message=_INTERRUPTED
    )


async def _insert(connection: AsyncConnection, events: Sequence[RunEvent]) -> None:
    rows = [
        {"run_id": event.run_id, "seq": event.seq, "type": event.type, "data": event.model_dump_json()}
        for event in events
    ]
    if rows:
        await connection.execute(run_events.insert(), rows)


def _run(row: sa.RowMapping) -> RunInfo:
    values = {key: value for key, value in row.items() if key not in _NOT_SHOWN}
    answer = Answer.model_validate_json(row["answer"]) if row["answer"] else None
    return RunInfo.model_validate(values | {"answer": answer, "pictures": json.loads(row["pictures"])})
