"""A process that decides and starts calls as fast as it can: ``python -m tests.tools.race_worker URL NAME CALL_ID...``.

Says ``ready``, waits for a line, then prints which decisions and which starts it won, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys

from sqlalchemy.ext.asyncio import create_async_engine

from tools.errors import DecisionConflict
from tools.ledger import ExecutionLedger


async def race(url: str, name: str, call_ids: list[str]) -> dict[str, list[str]]:
    """Calls that this process won, by what it won."""
    engine = create_async_engine(url)
    ledger = ExecutionLedger(engine)
    won: dict[str, list[str]] = {"decided": [], "started": []}
    calls = [await ledger.get(call_id) for call_id in call_ids]
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.readline)
    for call in calls:
        try:
            await ledger.decide(call.call_id, "approve", seen_hash=call.arguments_hash, actor=name)
            won["decided"].append(call.call_id)
        except DecisionConflict:
            pass
        if await ledger.start(call.call_id, runner=name):
            won["started"].append(call.call_id)
    await engine.dispose()
    return won


if __name__ == "__main__":
    json.dump(asyncio.run(race(sys.argv[1], sys.argv[2], sys.argv[3:])), sys.stdout)
