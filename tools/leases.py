"""One runner per thread: a lease row with an end, renewed while its holder lives."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, insert, or_, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from tools.tables import LEASES


class ThreadLeases:
    """Leases over one database; times are the callers' clocks, so hosts must keep time to within the duration."""

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        duration: timedelta = timedelta(seconds=30),
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._duration = duration
        self._clock = clock

    async def acquire(self, thread_id: str, runner: str) -> bool:
        """Take or renew the lease; False while another runner holds it."""
        now = self._clock()
        values = {"runner": runner, "expires_at": now + self._duration}
        free_or_mine = or_(LEASES.c.runner == runner, LEASES.c.expires_at <= now)
        try:
            async with self._engine.begin() as connection:
                statement = update(LEASES).where(LEASES.c.thread_id == thread_id, free_or_mine).values(**values)
                if (await connection.execute(statement)).rowcount == 1:
                    return True
                held = await connection.scalar(select(LEASES.c.runner).where(LEASES.c.thread_id == thread_id))
                if held is not None:
                    return False
                await connection.execute(insert(LEASES).values(thread_id=thread_id, **values))
        except IntegrityError:
            return False
        return True

    async def release(self, thread_id: str, runner: str) -> None:
        """Give the lease back; a lease that somebody else took meanwhile stays theirs."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(LEASES).where(LEASES.c.thread_id == thread_id, LEASES.c.runner == runner))

    async def expired(self) -> list[tuple[str, str]]:
        """Thread and runner of every lease whose holder did not renew it in time."""
        query = select(LEASES.c.thread_id, LEASES.c.runner).where(LEASES.c.expires_at <= self._clock())
        async with self._engine.connect() as connection:
            return [(row.thread_id, row.runner) for row in await connection.execute(query)]

    async def clear(self, thread_id: str) -> None:
        """End a lease whoever holds it; for the process that knows its holder to be dead."""
        async with self._engine.begin() as connection:
            await connection.execute(delete(LEASES).where(LEASES.c.thread_id == thread_id))
