from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import create_async_engine

from tests.tools.samples import RESTART
from tools.errors import GrantNotAllowed
from tools.grants import GrantStore
from tools.policy import decide
from tools.tables import METADATA


async def test_a_grant_covers_its_thread_until_it_is_revoked(tmp_path: Path) -> None:
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'grants.db'}")
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    store = GrantStore(engine)
    grant = await store.give(RESTART.spec, thread_id="t1", granted_by="ana", arguments={"name": "web*"})

    async def action(thread_id: str, name: str) -> str:
        grants = await store.standing()
        decision = decide(RESTART.spec, {"name": name}, rules=(), grants=grants, thread_id=thread_id, tainted=False)
        return decision.action

    asked = [await action("t1", "web-1"), await action("t1", "db"), await action("t2", "web-1")]
    assert asked == ["allow", "ask", "ask"]
    assert await store.revoke(grant.grant_id)
    assert not await store.revoke(grant.grant_id)
    assert await action("t1", "web-1") == "ask"
    with pytest.raises(GrantNotAllowed):
        await store.give(replace(RESTART.spec, risk="destructive"), thread_id="t1", granted_by="ana")
    await engine.dispose()
