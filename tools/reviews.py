"""What people said of the definitions of servers' tools: a new or changed tool is off until somebody looked at it.

Knows definitions as hashes and JSON; knows no server and no connection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import sqlalchemy as sa
from pydantic import BaseModel, ConfigDict, JsonValue
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from tools.tables import AUDIT, REVIEWS


class ToolKey(NamedTuple):
    """A tool by its server's name and its own."""

    server: str
    tool: str


class Review(BaseModel):
    """The last word on one tool."""

    model_config = ConfigDict(frozen=True)

    server: str
    tool: str
    fingerprint: str
    definition: dict[str, JsonValue]
    """The definition that was looked at, to show what changed since."""
    enabled: bool
    reviewed_by: str
    reviewed_at: datetime


class ReviewStore:
    """Reviews in the database; every word is also a line of the audit trail."""

    def __init__(self, engine: AsyncEngine, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._engine = engine
        self._clock = clock

    async def all(self) -> dict[ToolKey, Review]:
        """Every review, by server and tool."""
        async with self._engine.connect() as connection:
            rows = (await connection.execute(sa.select(REVIEWS))).mappings()
            reviews = [Review.model_validate(dict(row)) for row in rows]
        return {ToolKey(review.server, review.tool): review for review in reviews}

    async def record(
        self, key: ToolKey, *, fingerprint: str, definition: Mapping[str, JsonValue], enabled: bool, actor: str
    ) -> None:
        """Keep that somebody looked at this definition and let it in or not; replaces what was said before."""
        values = {
            "fingerprint": fingerprint,
            "definition": dict(definition),
            "enabled": enabled,
            "reviewed_by": actor,
            "reviewed_at": self._clock(),
        }
        async with self._engine.begin() as connection:
            await connection.execute(sa.delete(REVIEWS).where(*_is(key)))
            await connection.execute(sa.insert(REVIEWS).values(server=key.server, tool=key.tool, **values))
            await self._audit(connection, key, "tool_accepted" if enabled else "tool_declined", actor, fingerprint)

    async def set_enabled(self, key: ToolKey, *, enabled: bool, actor: str) -> bool:
        """Switch a reviewed tool on or off; False when nobody has reviewed it."""
        async with self._engine.begin() as connection:
            changed = await connection.execute(sa.update(REVIEWS).where(*_is(key)).values(enabled=enabled))
            if changed.rowcount == 0:
                return False
            await self._audit(connection, key, "tool_enabled" if enabled else "tool_disabled", actor, "")
        return True

    async def _audit(self, connection: AsyncConnection, key: ToolKey, event: str, actor: str, fingerprint: str) -> None:
        detail = {"server": key.server, "tool": key.tool, "fingerprint": fingerprint}
        line = {"call_id": "", "at": self._clock(), "actor": actor, "event": event, "detail": detail}
        await connection.execute(sa.insert(AUDIT).values(**line))


def _is(key: ToolKey) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return REVIEWS.c.server == key.server, REVIEWS.c.tool == key.tool
