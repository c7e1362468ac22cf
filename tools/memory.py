"""Long-term memory: short facts about a user, kept over all chats. Written by an approved tool call or by a person.

Knows one table and no model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from tools.errors import FactUnknown, MemoryFull
from tools.facts import BY_A_PERSON, Fact, FactOrigin, one_line
from tools.tables import MEMORY_FACTS

MAX_FACTS = 200
"""Facts of one user. The prompt's budget takes a small part of them; more would only be forgotten unseen."""

_ID_LENGTH = 10
"""Hex digits of a fact's id: short, because the model copies it from its prompt to forget a fact."""


class FactStore:
    """Facts over one database. Every method sees the facts of one user alone."""

    def __init__(
        self,
        engine: AsyncEngine,
        *,
        max_facts: int = MAX_FACTS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._engine = engine
        self._max_facts = max_facts
        self._clock = clock

    async def add(self, user: str, text: str, *, pinned: bool = False, origin: FactOrigin = BY_A_PERSON) -> Fact:
        """Keep a fact; one that is known word for word is returned as it stands, so a repeated call adds nothing.

        Raises:
            FactInvalid: The text is empty or too long.
            MemoryFull: The user has as many facts as are kept.
        """
        line = one_line(text)
        now = self._clock()
        fact = Fact(
            fact_id=uuid4().hex[:_ID_LENGTH],
            text=line,
            pinned=pinned,
            created_at=now,
            updated_at=now,
            **origin.model_dump(),
        )
        async with self._engine.begin() as connection:
            facts = await _facts(connection, user)
            known = next((fact for fact in facts if fact.text.casefold() == line.casefold()), None)
            if known is not None:
                return known
            if len(facts) >= self._max_facts:
                raise MemoryFull(f"The memory is full with {len(facts)} facts; forget one before another is kept.")
            await connection.execute(insert(MEMORY_FACTS).values(user=user, **fact.model_dump()))
        return fact

    async def list(self, user: str) -> list[Fact]:
        """Facts of a user: pinned ones first, then the latest."""
        async with self._engine.connect() as connection:
            return await _facts(connection, user)

    async def edit(self, user: str, fact_id: str, *, text: str | None = None, pinned: bool | None = None) -> Fact:
        """Change the words or the pin of a fact; what is None stays.

        Raises:
            FactUnknown: The user has no such fact.
            FactInvalid: The text is empty or too long.
        """
        values: dict[str, Any] = {"updated_at": self._clock()}
        if text is not None:
            values["text"] = one_line(text)
        if pinned is not None:
            values["pinned"] = pinned
        async with self._engine.begin() as connection:
            changed = await connection.execute(update(MEMORY_FACTS).where(*_is(user, fact_id)).values(**values))
            if not changed.rowcount:
                raise _unknown(fact_id)
            row = (await connection.execute(select(MEMORY_FACTS).where(*_is(user, fact_id)))).mappings().one()
        return _fact(dict(row))

    async def delete(self, user: str, fact_id: str) -> Fact:
        """Forget a fact and return it; raises ``FactUnknown``."""
        async with self._engine.begin() as connection:
            row = (await connection.execute(select(MEMORY_FACTS).where(*_is(user, fact_id)))).mappings().first()
            if row is None:
                raise _unknown(fact_id)
            await connection.execute(delete(MEMORY_FACTS).where(*_is(user, fact_id)))
        return _fact(dict(row))

    async def count(self, user: str) -> int:
        """How many facts are kept of a user."""
        query = select(func.count()).select_from(MEMORY_FACTS).where(MEMORY_FACTS.c.user == user)
        async with self._engine.connect() as connection:
            return int((await connection.execute(query)).scalar_one())


async def _facts(connection: AsyncConnection, user: str) -> list[Fact]:
    query = (
        select(MEMORY_FACTS)
        .where(MEMORY_FACTS.c.user == user)
        .order_by(MEMORY_FACTS.c.pinned.desc(), MEMORY_FACTS.c.created_at.desc(), MEMORY_FACTS.c.fact_id)
    )
    return [_fact(dict(row)) for row in (await connection.execute(query)).mappings()]


def _fact(row: Mapping[str, Any]) -> Fact:
    # SQLite hands times back without their zone, which is UTC.
    times = {name: row[name].replace(tzinfo=UTC) for name in ("created_at", "updated_at") if not row[name].tzinfo}
    return Fact.model_validate({name: value for name, value in row.items() if name != "user"} | times)


def _is(user: str, fact_id: str) -> tuple[Any, Any]:  # SQLAlchemy's own type of a comparison
    return MEMORY_FACTS.c.user == user, MEMORY_FACTS.c.fact_id == fact_id


def _unknown(fact_id: str) -> FactUnknown:
    return FactUnknown(f"There is no remembered fact {fact_id!r}; take the id from the list of facts.")
