from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

from sqlalchemy.ext.asyncio import create_async_engine

from tests.tools.conftest import Clock
from tools.leases import ThreadLeases
from tools.tables import METADATA


async def test_one_runner_holds_a_thread_until_it_lets_go_or_dies(tmp_path: Path, clock: Clock) -> None:
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'leases.db'}")
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    leases = ThreadLeases(engine, clock=clock)

    taken = await asyncio.gather(*(leases.acquire("t1", f"r{n}") for n in range(5)))
    assert sum(taken) == 1
    winner = f"r{taken.index(True)}"
    assert await leases.acquire("t1", winner), "the holder renews"
    assert await leases.acquire("t2", "other"), "threads are apart"

    clock.now += timedelta(seconds=31)
    assert {thread for thread, _ in await leases.expired()} == {"t1", "t2"}
    assert await leases.acquire("t1", "heir")
    await leases.release("t1", winner)
    assert not await leases.acquire("t1", winner), "a release by the dead holder changes nothing"
    await leases.release("t1", "heir")
    assert await leases.acquire("t1", winner)
    await engine.dispose()
