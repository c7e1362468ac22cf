from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import insert

from app.wiring import Platform
from tools.facts import MAX_FACT_CHARS, FactOrigin
from tools.memory import MAX_FACTS, FactStore
from tools.tables import MEMORY_FACTS


async def add(http: httpx.AsyncClient, text: str, **fields: Any) -> dict[str, Any]:
    response = await http.post("/api/memory", json={"text": text, **fields})
    assert response.status_code == 201
    return response.json()


async def listed(http: httpx.AsyncClient) -> list[str]:
    body = (await http.get("/api/memory")).json()
    assert body["max_facts"] == MAX_FACTS
    return [fact["text"] for fact in body["facts"]]


async def test_facts_are_added_listed_edited_and_deleted(http: httpx.AsyncClient) -> None:
    pinned = await add(http, "Works in the\npayments team.", pinned=True)
    latest = await add(http, "Is on call.")
    assert await listed(http) == ["Works in the payments team.", "Is on call."]
    edited = await http.patch(
        f"/api/memory/{latest['fact_id']}", json={"text": "Is on call next week.", "pinned": True}
    )
    assert (edited.json()["text"], edited.json()["pinned"]) == ("Is on call next week.", True)
    deleted = await http.delete(f"/api/memory/{pinned['fact_id']}")
    assert (deleted.status_code, deleted.json()["fact_id"]) == (200, pinned["fact_id"])
    assert await listed(http) == ["Is on call next week."]


async def test_a_fact_of_a_tool_call_names_the_call(http: httpx.AsyncClient, platform: Platform) -> None:
    origin = FactOrigin(thread_id="t", run_id="r", call_id="t:m1:0")
    await FactStore(platform.engine).add("local", "Is on call.", origin=origin)
    [fact] = (await http.get("/api/memory")).json()["facts"]
    assert (fact["thread_id"], fact["run_id"], fact["call_id"]) == ("t", "r", "t:m1:0")
    assert fact["created_at"].endswith("Z")


@pytest.mark.parametrize(
    "body",
    [{}, {"text": " "}, {"text": "x" * (MAX_FACT_CHARS + 1)}, {"text": "\u200b\u0000"}, {"text": "x", "user": "b"}],
)
async def test_a_fact_that_does_not_fit_is_refused(http: httpx.AsyncClient, body: dict[str, str]) -> None:
    response = await http.post("/api/memory", json=body)
    assert (response.status_code, response.json()["code"]) == (422, "request_invalid")
    assert await listed(http) == []


async def test_an_unknown_fact_is_404(http: httpx.AsyncClient) -> None:
    for response in (await http.delete("/api/memory/abc"), await http.patch("/api/memory/abc", json={"pinned": True})):
        assert (response.status_code, response.json()["code"]) == (404, "fact_unknown")


async def test_a_full_memory_is_409(http: httpx.AsyncClient, platform: Platform) -> None:
    now = datetime.now(UTC)
    origin = {"thread_id": "", "run_id": "", "call_id": "", "pinned": False, "created_at": now, "updated_at": now}
    rows = [{"fact_id": str(n), "user": "local", "text": f"Fact {n}.", **origin} for n in range(MAX_FACTS)]
    async with platform.engine.begin() as connection:
        await connection.execute(insert(MEMORY_FACTS), rows)
    response = await http.post("/api/memory", json={"text": "One more."})
    assert (response.status_code, response.json()["code"]) == (409, "memory_full")
