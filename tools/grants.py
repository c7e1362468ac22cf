"""Standing grants that people gave, kept until revoked."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncEngine

from tools.errors import GrantNotAllowed
from tools.policy import NEVER_GRANTED, Grant, GrantScope
from tools.tables import GRANTS
from tools.types import ToolSpec


class GrantStore:
    """Grants over one database."""

    def __init__(self, engine: AsyncEngine, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._engine = engine
        self._clock = clock

    async def give(
        self, spec: ToolSpec, *, thread_id: str, granted_by: str, arguments: Mapping[str, str] | None = None
    ) -> Grant:
        """Remember a yes for one tool in one thread, with globs over its arguments where given.

        Raises:
            GrantNotAllowed: Calls of this tool are decided one by one.
        """
        if spec.risk in NEVER_GRANTED:
            raise GrantNotAllowed(f"{spec.qualified_name!r} is {spec.risk}; each call is decided alone.")
        scope: GrantScope = "arguments" if arguments else "chat"
        grant = Grant(uuid.uuid4().hex, scope, spec.server, spec.name, thread_id, dict(arguments or {}))
        values: dict[str, Any] = {
            "grant_id": grant.grant_id,
            "scope": scope,
            "server": grant.server,
            "tool": grant.tool,
            "thread_id": thread_id,
            "arguments": dict(grant.arguments),
            "granted_by": granted_by,
            "granted_at": self._clock(),
        }
        async with self._engine.begin() as connection:
            await connection.execute(insert(GRANTS).values(**values))
        return grant

    async def standing(self) -> list[Grant]:
        """Grants that nobody revoked, oldest first."""
        query = select(GRANTS).where(GRANTS.c.revoked_at.is_(None)).order_by(GRANTS.c.granted_at)
        async with self._engine.connect() as connection:
            rows = (await connection.execute(query)).mappings()
            return [
                Grant(row["grant_id"], row["scope"], row["server"], row["tool"], row["thread_id"], row["arguments"])
                for row in rows
            ]

    async def revoke(self, grant_id: str) -> bool:
        """Take a grant back; False when there was none standing."""
        statement = update(GRANTS).where(GRANTS.c.grant_id == grant_id, GRANTS.c.revoked_at.is_(None))
        async with self._engine.begin() as connection:
            return (await connection.execute(statement.values(revoked_at=self._clock()))).rowcount == 1
