from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from tests.tools.samples import RESTART
from tools.errors import GrantNotAllowed
from tools.grants import GrantStore
from tools.ledger import ExecutionLedger
from tools.policy import decide


@pytest.fixture
def store(engine: AsyncEngine) -> GrantStore:
    return GrantStore(engine)


async def test_a_grant_covers_its_thread_until_it_is_revoked(engine: AsyncEngine, store: GrantStore) -> None:
    given = await store.give(RESTART.spec, thread_id="t1", granted_by="ana", arguments={"name": "web*"}, call_id="c1")

    async def action(thread_id: str, name: str) -> str:
        grants = await store.standing()
        decision = decide(RESTART.spec, {"name": name}, rules=(), grants=grants, thread_id=thread_id, tainted=False)
        return decision.action

    asked = [await action("t1", "web-1"), await action("t1", "db"), await action("t2", "web-1")]
    assert asked == ["allow", "ask", "ask"]
    again = await store.give(RESTART.spec, thread_id="t1", granted_by="bo", arguments={"name": "web*"})
    assert again == given
    assert await store.revoke(given.grant.grant_id, revoked_by="cy")
    assert not await store.revoke(given.grant.grant_id, revoked_by="cy")
    assert await action("t1", "web-1") == "ask"
    trail = await ExecutionLedger(engine).audit(call_id="c1")
    assert [(entry.actor, entry.event) for entry in trail] == [("ana", "granted"), ("cy", "revoked")]


async def test_a_grant_is_refused_for_destructive_tools_and_for_everything_everywhere(store: GrantStore) -> None:
    with pytest.raises(GrantNotAllowed):
        await store.give(replace(RESTART.spec, risk="destructive"), thread_id="t1", granted_by="ana")
    with pytest.raises(GrantNotAllowed):
        await store.give(RESTART.spec, thread_id="", granted_by="ana")
    assert await store.standing() == []
