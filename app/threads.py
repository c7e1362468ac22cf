"""Threads: conversations that runs belong to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, TypeAlias
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from app.errors import ThreadUnknown
from app.schema import ThreadInfo
from app.tables import runs, threads

Origin: TypeAlias = Literal["chat", "completion"]

TITLE_LENGTH = 80
"""Characters of the first question that become the title of a thread without one."""


@dataclass(frozen=True, slots=True)
class ThreadStore:
    """Threads in the database."""

    engine: AsyncEngine

    async def create(self, title: str = "") -> ThreadInfo:
        """A new thread of a person, without runs."""
        return await self.add(new_thread(title), origin="chat")

    async def add(self, info: ThreadInfo, *, origin: Origin) -> ThreadInfo:
        """Write a thread of ``new_thread``."""
        async with self.engine.begin() as connection:
            await connection.execute(insert(info, origin=origin))
        return info

    async def list(self) -> list[ThreadInfo]:
        """Threads of people, latest activity first; threads of single completions are left out."""
        query = _select().where(threads.c.origin == "chat").order_by(threads.c.updated_at.desc(), threads.c.thread_id)
        async with self.engine.connect() as connection:
            rows = (await connection.execute(query)).mappings()
            return [ThreadInfo.model_validate(dict(row)) for row in rows]

    async def get(self, thread_id: str) -> ThreadInfo:
        """The thread of that id; raises ``ThreadUnknown``."""
        async with self.engine.connect() as connection:
            row = (await connection.execute(_select().where(threads.c.thread_id == thread_id))).mappings().first()
        if row is None:
            raise ThreadUnknown(_unknown(thread_id))
        return ThreadInfo.model_validate(dict(row))

    async def set_preset(self, thread_id: str, preset: str) -> ThreadInfo:
        """Take a preset for questions that name none, or take it off with an empty name; raises ``ThreadUnknown``."""
        async with self.engine.begin() as connection:
            await connection.execute(threads.update().where(threads.c.thread_id == thread_id).values(preset=preset))
        return await self.get(thread_id)

    async def delete(self, thread_id: str) -> None:
        """Delete the thread with its runs and their events; raises ``ThreadUnknown``."""
        async with self.engine.begin() as connection:
            deleted = await connection.execute(threads.delete().where(threads.c.thread_id == thread_id))
        if not deleted.rowcount:
            raise ThreadUnknown(_unknown(thread_id))


def new_thread(title: str = "") -> ThreadInfo:
    """A thread that is not written yet."""
    now = utc_now()
    return ThreadInfo(thread_id=uuid4().hex, title=_one_line(title), created_at=now, updated_at=now, runs=0)


def insert(info: ThreadInfo, *, origin: Origin) -> sa.Insert:
    """The statement that writes a new thread."""
    return threads.insert().values(info.model_dump(exclude={"runs"}) | {"origin": origin})


def touch(thread_id: str, *, title: str, at: str) -> sa.Update:
    """The statement that moves a thread to the top of the list and names it if it has no name yet."""
    named = sa.case((threads.c.title == "", _one_line(title)), else_=threads.c.title)
    return threads.update().where(threads.c.thread_id == thread_id).values(updated_at=at, title=named)


def utc_now() -> str:
    """The present moment as ISO 8601 in UTC, always 32 characters, so that text order is time order."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _select() -> sa.Select[str, str, str, str, int, str]:
    count = sa.select(sa.func.count()).where(runs.c.thread_id == threads.c.thread_id).scalar_subquery()
    return sa.select(
        threads.c.thread_id,
        threads.c.title,
        threads.c.created_at,
        threads.c.updated_at,
        count.label("runs"),
        threads.c.preset,
    )


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"


def _unknown(thread_id: str) -> str:
    return f"There is no thread {thread_id!r}; GET /api/threads lists them."
