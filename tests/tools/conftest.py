"""A ledger over SQLite and over PostgreSQL, with a clock that the test sets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from app.settings import Settings
from tests.tools.samples import START
from tools.ledger import ExecutionLedger
from tools.tables import METADATA


class Clock:
    def __init__(self) -> None:
        self.now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def engine(database_settings: Settings) -> AsyncIterator[AsyncEngine]:
    url = database_settings.database.url
    database = url.get_secret_value() if url else f"sqlite+aiosqlite:///{database_settings.home.database}"
    engine = create_async_engine(database)
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    yield engine
    await engine.dispose()


@pytest.fixture
def ledger(engine: AsyncEngine, clock: Clock) -> ExecutionLedger:
    return ExecutionLedger(engine, clock=clock)
