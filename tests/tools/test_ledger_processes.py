from __future__ import annotations

import asyncio
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from tests.tools.samples import pending_call
from tools.ledger import ExecutionLedger
from tools.tables import METADATA

ROOT = Path(__file__).parents[2]
CALLS = [f"c{number:02}" for number in range(30)]
NAMES = ("left", "right")


@pytest.mark.integration
async def test_of_two_processes_that_decide_and_start_the_same_calls_one_wins_each(postgres_url: str) -> None:
    engine = create_async_engine(postgres_url)
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    ledger, now = ExecutionLedger(engine), datetime.now(UTC)
    for call_id in CALLS:
        times = {"proposed_at": now, "expires_at": now + timedelta(hours=1)}
        await ledger.propose(pending_call(call_id).model_copy(update=times))

    workers = [await _worker(postgres_url, name) for name in NAMES]
    for worker in workers:
        assert worker.stdout is not None
        assert await worker.stdout.readline() == b"ready\n"
    said = await asyncio.gather(*(worker.communicate(b"go\n") for worker in workers))
    won = [json.loads(output) for output, _ in said]

    for what in ("decided", "started"):
        assert sorted(won[0][what] + won[1][what]) == CALLS
    calls = {call.call_id: call for call in await ledger.find()}
    for name, wins in zip(NAMES, won, strict=True):
        assert {call_id for call_id in CALLS if calls[call_id].decided_by == name} == set(wins["decided"])
        assert {call_id for call_id in CALLS if calls[call_id].runner == name} == set(wins["started"])
    assert {call.attempt for call in calls.values()} == {1}
    events = [entry.event for entry in await ledger.audit()]
    assert [events.count(event) for event in ("proposed", "decided", "started")] == [len(CALLS)] * 3
    await engine.dispose()


async def _worker(url: str, name: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.tools.race_worker",
        url,
        name,
        *CALLS,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
