"""What one user may ask for, over the API: answers at once, tokens a day."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import httpx
import sqlalchemy as sa

from agents.request import AnswerRequest
from app.database import open_database
from app.errors import UserBusy
from app.limits import BUSY_RETRY_SECONDS, UserLimits, charge
from app.main import create_app
from app.run_log import RunLog
from app.schema import RunInfo
from app.settings import LimitSettings, ServerSettings, Settings
from app.tables import runs, threads, token_days
from app.threads import ThreadStore, utc_now
from app.wiring import Platform, open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.model_stub import ModelStub, chunk, stream, words
from tests.app.model_world import ANSWER, QUESTION, opened

TOKENS = 48
"""Of one answer, as the stub's usage says."""
ANN, BEN = {"X-User": "ann"}, {"X-User": "ben"}


def _limited(settings: Settings, **limits: int) -> Settings:
    server = ServerSettings(user_header="X-User")
    return settings.model_copy(update={"limits": LimitSettings(**limits), "server": server})


async def _ask(http: httpx.AsyncClient, user: Mapping[str, str]) -> httpx.Response:
    thread = (await http.post("/api/threads", json={})).json()["thread_id"]
    return await http.post(f"/api/threads/{thread}/runs", json={"question": QUESTION}, headers=dict(user))


async def _end(platform: Platform, response: httpx.Response) -> None:
    run_id = response.raise_for_status().json()["run_id"]
    async for _ in await platform.runs.follow(run_id):
        pass


def _refusal(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


@asynccontextmanager
async def _without_model(settings: Settings) -> AsyncGenerator[httpx.AsyncClient]:
    """A platform whose model is never asked."""
    async with open_platform(settings, embedder=HashingEmbedder()) as platform:
        transport = httpx.ASGITransport(create_app(settings, platform=platform))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            yield http


async def test_refused_completion_leaves_no_thread_behind(settings: Settings) -> None:
    slow = stream(*[chunk({"content": "word "})] * 200, pause=0.05)
    async with opened(_limited(settings, runs_per_user=1), ModelStub([slow])) as (platform, http):
        first = await _ask(http, ANN)
        body = {"model": "groundwork", "messages": [{"role": "user", "content": QUESTION}]}
        refused = await http.post("/v1/chat/completions", json=body, headers=ANN)
        assert refused.status_code == 429
        async with platform.threads.engine.connect() as connection:
            assert await connection.scalar(sa.select(sa.func.count()).select_from(threads)) == 1
        await http.post(f"/api/runs/{first.json()['run_id']}/cancel", headers=ANN)
        await _end(platform, first)


async def test_one_more_answer_at_once_than_allowed_is_refused_until_one_ends(settings: Settings) -> None:
    slow = stream(*[chunk({"content": "word "})] * 200, pause=0.05)
    async with opened(_limited(settings, runs_per_user=1), ModelStub([slow])) as (platform, http):
        first = await _ask(http, ANN)
        refused = await _ask(http, ANN)
        assert _refusal(refused) == (429, "user_busy")
        assert "runs_per_user allows 1" in refused.json()["detail"]
        assert refused.headers["Retry-After"] == str(BUSY_RETRY_SECONDS)
        other = await _ask(http, BEN)
        assert other.status_code == 202

        await http.post(f"/api/runs/{first.json()['run_id']}/cancel", headers=ANN)
        again = await _ask(http, ANN)
        assert again.status_code == 202
        for response in (other, again):
            await platform.runs.cancel(response.json()["run_id"])


async def test_tokens_of_a_day_are_counted_for_each_user_and_then_refused(settings: Settings) -> None:
    async with opened(_limited(settings, tokens_per_day=TOKENS + 1), ModelStub([words(ANSWER)])) as (platform, http):
        for _ in range(2):
            await _end(platform, await _ask(http, ANN))
        refused = await _ask(http, ANN)
        assert _refusal(refused) == (429, "tokens_spent")
        assert f"has used {2 * TOKENS:,} tokens" in refused.json()["detail"]
        assert 1 <= int(refused.headers["Retry-After"]) <= 24 * 60 * 60
        await _end(platform, await _ask(http, BEN))

        body = {"model": "groundwork", "messages": [{"role": "user", "content": QUESTION}]}
        wire = await http.post("/v1/chat/completions", json=body, headers=ANN)
        assert (wire.status_code, wire.json()["error"]["code"]) == (429, "tokens_spent")
        assert "Retry-After" in wire.headers

        yesterday = (datetime.now(UTC).date() - timedelta(days=1)).isoformat()
        async with platform.engine.begin() as connection:
            await connection.execute(token_days.update().values(day=yesterday))
        assert (await _ask(http, ANN)).status_code == 202


async def test_deleting_a_thread_gives_no_tokens_back(settings: Settings) -> None:
    async with opened(_limited(settings, tokens_per_day=TOKENS), ModelStub([words(ANSWER)])) as (platform, http):
        asked = await _ask(http, ANN)
        await _end(platform, asked)
        await http.delete(f"/api/threads/{asked.json()['thread_id']}")
        assert _refusal(await _ask(http, ANN)) == (429, "tokens_spent")


async def test_answer_that_is_stopped_costs_what_was_read_and_written(settings: Settings) -> None:
    slow = stream(*[chunk({"content": "word "})] * 200, pause=0.02)
    async with opened(_limited(settings, tokens_per_day=10**9), ModelStub([slow])) as (platform, http):
        run_id = (await _ask(http, ANN)).json()["run_id"]
        async for event in await platform.runs.follow(run_id):
            if event.type == "token":
                break
        await http.post(f"/api/runs/{run_id}/cancel", headers=ANN)
        async with platform.engine.connect() as connection:
            row = (await connection.execute(sa.select(runs.c.tokens, runs.c.state))).one()
            spent = (await connection.execute(sa.select(token_days.c.user, token_days.c.tokens))).one()
    assert row.state == "cancelled"
    assert row.tokens > len(QUESTION) // 10
    assert tuple(spent) == ("ann", row.tokens)


async def test_users_must_be_named_where_they_are_told_apart(settings: Settings) -> None:
    async with _without_model(_limited(settings, runs_per_user=1)) as http:
        assert _refusal(await _ask(http, {})) == (403, "user_unknown")
        body = {"model": "groundwork", "messages": [{"role": "user", "content": QUESTION}]}
        assert (await http.post("/v1/chat/completions", json=body)).status_code == 403


async def test_of_many_at_once_as_many_start_as_allowed(database_settings: Settings) -> None:
    async with open_database(database_settings) as engine:
        log = RunLog(engine, owner="test", limits=UserLimits(engine, LimitSettings(runs_per_user=2)))

        async def start() -> bool:
            thread = (await ThreadStore(engine).create()).thread_id
            run = RunInfo(
                run_id=uuid4().hex,
                thread_id=thread,
                question="Why?",
                state="running",
                created_at=utc_now(),
                last_seq=0,
            )
            try:
                await log.create(run, request=AnswerRequest(run.run_id, thread, "Why?", user="ann"))
            except UserBusy:
                return False
            return True

        started = await asyncio.gather(*[start() for _ in range(8)])
        async with engine.connect() as connection:
            written = await connection.scalar(sa.select(sa.func.count()).select_from(runs))
    assert (started.count(True), written) == (2, 2)


async def test_tokens_of_attempts_add_up(database_settings: Settings) -> None:
    async with open_database(database_settings) as engine:
        thread = (await ThreadStore(engine).create()).thread_id
        run: dict[str, Any] = {"run_id": "r", "thread_id": thread, "question": "Why?", "state": "running"}
        run |= {"created_at": utc_now(), "last_seq": 0, "owner": "test", "asked_by": "ann"}
        async with engine.begin() as connection:
            await connection.execute(runs.insert().values(run))
            for tokens in (5, 0, 7):
                await charge(connection, "r", tokens)
            assert await connection.scalar(sa.select(runs.c.tokens)) == 12
            assert await connection.scalar(sa.select(token_days.c.tokens)) == 12
