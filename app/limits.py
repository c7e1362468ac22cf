"""What one user may ask for: answers on their way at once, and tokens a day. Enforced where a run is created."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.errors import TokensSpent, UserBusy
from app.settings import LimitSettings
from app.tables import runs, token_days

BUSY_RETRY_SECONDS = 5
"""When to ask again while too many answers are on their way: about the time of a short one."""


@dataclass(frozen=True, slots=True)
class UserLimits:
    """Limits over one database; all APIs that share it count together."""

    engine: AsyncEngine
    settings: LimitSettings

    async def require_room(self, user: str) -> None:
        """Return when the user may start a run now.

        Raises:
            UserBusy: Too many of the user's runs are being worked on.
            TokensSpent: The user's tokens of this day are used up.
        """
        if self._off:
            return
        async with self.engine.connect() as connection:
            await self._check(connection, user, started=0)

    async def admit(self, connection: AsyncConnection, user: str) -> None:
        """As ``require_room``, in the transaction that has just inserted a run of the user.

        Two at once are counted one after the other: SQLite has one writer, PostgreSQL is given a lock.
        """
        if self._off:
            return
        if connection.dialect.name == "postgresql":
            await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtext(f"limits:{user}"))))
        await self._check(connection, user, started=1)

    @property
    def _off(self) -> bool:
        return not (self.settings.runs_per_user or self.settings.tokens_per_day)

    async def _check(self, connection: AsyncConnection, user: str, *, started: int) -> None:
        if limit := self.settings.runs_per_user:
            running = sa.select(sa.func.count()).where(runs.c.asked_by == user, runs.c.state == "running")
            others = (await connection.scalar(running) or 0) - started
            if others >= limit:
                raise UserBusy(
                    f"{others} answers for {user!r} are on their way, and [limits] runs_per_user allows {limit}; wait "
                    "for one to end, or stop one.",
                    retry_after=BUSY_RETRY_SECONDS,
                )
        if limit := self.settings.tokens_per_day:
            now = datetime.now(UTC)
            spent = await connection.scalar(_spent(user, now.date().isoformat())) or 0
            if spent >= limit:
                raise TokensSpent(
                    f"{user!r} has used {spent:,} tokens today, and [limits] tokens_per_day allows {limit:,}; ask "
                    "again after midnight UTC, or have the limit raised.",
                    retry_after=_seconds_left(now),
                )


async def charge(connection: AsyncConnection, run_id: str, tokens: int) -> None:
    """Add tokens to a run, and to this day of the user who asked; part of the caller's transaction."""
    if not tokens:
        return
    added = runs.update().where(runs.c.run_id == run_id).values(tokens=runs.c.tokens + tokens)
    user = await connection.scalar(added.returning(runs.c.asked_by))
    if not user:
        return
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    day = datetime.now(UTC).date().isoformat()
    await connection.execute(
        insert(token_days)
        .values(user=user, day=day, tokens=tokens)
        .on_conflict_do_update(
            index_elements=[token_days.c.user, token_days.c.day], set_={"tokens": token_days.c.tokens + tokens}
        )
    )


def _spent(user: str, day: str) -> sa.Select[int]:
    return sa.select(token_days.c.tokens).where(token_days.c.user == user, token_days.c.day == day)


def _seconds_left(now: datetime) -> int:
    """Until the next midnight in UTC, at least one."""
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
    return max(1, int((midnight - now).total_seconds()) + 1)
