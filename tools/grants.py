"""Standing grants that people gave, kept until revoked; giving and revoking are lines of the audit trail."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue
from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from tools.calls import with_zones
from tools.errors import GrantNotAllowed
from tools.policy import NEVER_GRANTED, Grant, GrantScope
from tools.tables import AUDIT, GRANTS
from tools.types import ToolSpec


@dataclass(frozen=True, slots=True)
class StandingGrant:
    """A grant with who gave it, when, and on which call's card; ``call_id`` is empty for one given by itself."""

    grant: Grant
    granted_by: str
    granted_at: datetime
    call_id: str


class GrantStore:
    """Grants over one database."""

    def __init__(self, engine: AsyncEngine, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._engine = engine
        self._clock = clock

    async def give(
        self,
        spec: ToolSpec,
        *,
        thread_id: str,
        granted_by: str,
        arguments: Mapping[str, str] | None = None,
        call_id: str = "",
    ) -> StandingGrant:
        """Remember a yes for one tool in one thread, with globs over its arguments where given.

        The same grant again is the one that stands, so that revoking it takes it away. An empty ``thread_id`` holds
        in every thread and needs globs.

        Raises:
            GrantNotAllowed: Calls of this tool are decided one by one, or the grant would cover everything it does.
        """
        if spec.risk in NEVER_GRANTED:
            raise GrantNotAllowed(f"{spec.qualified_name!r} is {spec.risk}; each call is decided alone.")
        if not (thread_id or arguments):
            raise GrantNotAllowed("Name the chat that the grant holds in, or patterns over the arguments.")
        scope: GrantScope = "arguments" if arguments else "chat"
        grant = Grant(uuid.uuid4().hex, scope, spec.server, spec.name, thread_id, dict(arguments or {}))
        given = StandingGrant(grant, granted_by, self._clock(), call_id)
        async with self._engine.begin() as connection:
            for standing in await _standing(connection):
                if _same(standing.grant, grant):
                    return standing
            await connection.execute(insert(GRANTS).values(**_row(given)))
            await self._audit(connection, call_id, actor=granted_by, event="granted", grant=grant)
        return given

    async def standing(self) -> list[Grant]:
        """Grants that nobody revoked, oldest first, for the policy."""
        return [record.grant for record in await self.records()]

    async def records(self) -> list[StandingGrant]:
        """The same with who gave them, for people."""
        async with self._engine.connect() as connection:
            return await _standing(connection)

    async def revoke(self, grant_id: str, *, revoked_by: str) -> bool:
        """Take a grant back; False when there was none standing."""
        statement = update(GRANTS).where(GRANTS.c.grant_id == grant_id, GRANTS.c.revoked_at.is_(None))
        async with self._engine.begin() as connection:
            revoked = statement.values(revoked_at=self._clock(), revoked_by=revoked_by).returning(*GRANTS.c)
            row = (await connection.execute(revoked)).mappings().first()
            if row is None:
                return False
            standing = _from_row(row)
            await self._audit(connection, standing.call_id, actor=revoked_by, event="revoked", grant=standing.grant)
        return True

    async def _audit(self, connection: AsyncConnection, call_id: str, *, actor: str, event: str, grant: Grant) -> None:
        detail: dict[str, JsonValue] = {
            "grant_id": grant.grant_id,
            "server": grant.server,
            "tool": grant.tool,
            "thread_id": grant.thread_id,
            "patterns": dict(grant.arguments),
        }
        values = {"call_id": call_id, "at": self._clock(), "actor": actor, "event": event, "detail": detail}
        await connection.execute(insert(AUDIT).values(**values))


async def _standing(connection: AsyncConnection) -> list[StandingGrant]:
    query = select(GRANTS).where(GRANTS.c.revoked_at.is_(None)).order_by(GRANTS.c.granted_at, GRANTS.c.grant_id)
    return [_from_row(row) for row in (await connection.execute(query)).mappings()]


def _from_row(row: Mapping[Any, Any]) -> StandingGrant:
    values = with_zones(row)
    grant = Grant(
        values["grant_id"],
        values["scope"],
        values["server"],
        values["tool"],
        values["thread_id"],
        values["arguments"],
    )
    return StandingGrant(grant, values["granted_by"], values["granted_at"], values["call_id"])


def _row(given: StandingGrant) -> dict[str, Any]:
    grant = given.grant
    return {
        "grant_id": grant.grant_id,
        "scope": grant.scope,
        "server": grant.server,
        "tool": grant.tool,
        "thread_id": grant.thread_id,
        "arguments": dict(grant.arguments),
        "granted_by": given.granted_by,
        "granted_at": given.granted_at,
        "call_id": given.call_id,
    }


def _same(one: Grant, other: Grant) -> bool:
    return (one.server, one.tool, one.thread_id, dict(one.arguments)) == (
        other.server,
        other.tool,
        other.thread_id,
        dict(other.arguments),
    )
