"""Runs of agents through the whole platform: parked, decided, taken up after a restart, ended by a new message."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import sqlalchemy as sa

from agents.events import RunEvent, is_terminal
from agents.testing import ScriptedCalls, ScriptedChatModel
from app.approval_schema import Approval, DecisionRequest, SettlementRequest
from app.asking import ask
from app.errors import RunActive
from app.schema import RunInfo, RunRequest
from app.settings import Settings
from app.tables import runs
from app.wiring import Platform, open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tools.leases import ThreadLeases
from tools.ledger import ExecutionLedger
from tools.memory import FactStore
from tools.policy import PolicyRule
from tools.settings import ToolSettings
from tools.tables import TOOL_CALLS

REMEMBER = ScriptedCalls((("remember", '{"text": "The orders team owns orders-api."}'),))
CLOSING = "The orders team owns orders-api."
WAIT_SECONDS = 60


@asynccontextmanager
async def opened(settings: Settings, *replies: str | ScriptedCalls) -> AsyncGenerator[Platform]:
    model = ScriptedChatModel(replies or (REMEMBER, CLOSING))
    async with open_platform(settings, embedder=HashingEmbedder(), chat_model=model) as platform:
        yield platform


@pytest.fixture
def native(database_settings: Settings) -> Settings:
    agents = database_settings.agents.model_copy(update={"tool_mode": "native"})
    return database_settings.model_copy(update={"agents": agents})


async def begun(platform: Platform, thread_id: str = "", question: str = "Who owns orders-api?") -> RunInfo:
    thread_id = thread_id or (await platform.threads.create()).thread_id
    return await ask(platform, thread_id, RunRequest(question=question, agent="operator"))


async def reaches(platform: Platform, run: RunInfo, *states: str) -> RunInfo:
    async with asyncio.timeout(WAIT_SECONDS):
        while True:
            current = await platform.runs.get(run.run_id)
            if current.state in states:
                return current
            await asyncio.sleep(0.02)


async def card(platform: Platform, run: RunInfo) -> Approval:
    (approval,) = (await platform.approvals.list(run_id=run.run_id)).approvals
    return approval


async def approve(platform: Platform, run: RunInfo) -> None:
    waiting = await card(platform, run)
    request = DecisionRequest(decision="approve", seen_hash=waiting.arguments_hash)
    await platform.approvals.decide(waiting.call_id, request, actor="jo")


async def facts(platform: Platform) -> list[str]:
    return [fact.text for fact in await FactStore(platform.engine).list("local")]


async def events(platform: Platform, run: RunInfo) -> list[RunEvent]:
    return [event async for event in await platform.runs.follow(run.run_id)]


async def test_a_run_waits_for_its_approval_and_ends_with_one_terminal_event(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        following = asyncio.create_task(events(platform, run))
        await reaches(platform, run, "waiting")
        assert await facts(platform) == []
        await approve(platform, run)
        ended = await reaches(platform, run, "answered", "abstained")
        seen = await asyncio.wait_for(following, WAIT_SECONDS)
        assert await facts(platform) == ["The orders team owns orders-api."]
        assert seen == await events(platform, run)
        assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
        assert sum(is_terminal(event) for event in seen) == 1
        assert ended.last_seq == seen[-1].seq


async def test_a_fact_that_is_remembered_meanwhile_changes_nothing_of_the_prompt_before_it(native: Settings) -> None:
    model = ScriptedChatModel([REMEMBER, CLOSING])
    async with open_platform(native, embedder=HashingEmbedder(), chat_model=model) as platform:
        run = await reaches(platform, await begun(platform), "waiting")
        await approve(platform, run)
        await reaches(platform, run, "answered", "abstained")
        assert await facts(platform) == [CLOSING]
        await reaches(platform, await begun(platform), "answered", "abstained")
    first, second, *_, later = model.prompts
    assert second[: len(first)] == first
    assert CLOSING not in first[0].content
    assert CLOSING in later[0].content


async def test_a_card_outlives_a_restart(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        await reaches(platform, run, "waiting")
    async with opened(native, CLOSING) as platform:
        assert (await platform.runs.get(run.run_id)).state == "waiting"
        await approve(platform, run)
        await reaches(platform, run, "answered", "abstained")
        assert await facts(platform) == ["The orders team owns orders-api."]
        assert sum(is_terminal(event) for event in await events(platform, run)) == 1


async def test_a_decision_made_elsewhere_is_found(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        await reaches(platform, run, "waiting")
        waiting = await card(platform, run)
        await ExecutionLedger(platform.engine).decide(
            waiting.call_id, "reject", seen_hash=waiting.arguments_hash, actor="jo", reason="no"
        )
        await reaches(platform, run, "answered", "abstained")
        assert await facts(platform) == []


async def test_a_new_message_ends_the_run_that_waits(native: Settings) -> None:
    async with opened(native, REMEMBER, CLOSING) as platform:
        run = await begun(platform)
        await reaches(platform, run, "waiting")
        waiting = await card(platform, run)
        second = await begun(platform, run.thread_id, "What does the handbook say?")
        assert (await platform.runs.get(run.run_id)).state == "cancelled"
        call = (await platform.approvals.card(waiting.call_id)).approval
        assert call.state == "rejected"
        await reaches(platform, second, "answered", "abstained")
        assert await facts(platform) == []
        assert sum(is_terminal(event) for event in await events(platform, run)) == 1


async def test_a_stopped_run_never_acts(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        await reaches(platform, run, "waiting")
        stopped = await platform.runs.cancel(run.run_id)
        assert stopped.state == "cancelled"
        assert (await platform.approvals.list()).counts.pending == 0
        assert await facts(platform) == []


async def killed_while_calling(platform: Platform, run: RunInfo, *, retryable: bool) -> str:
    """Leave the database as a process leaves it that is killed between the start of a call and its result."""
    await reaches(platform, run, "waiting")
    waiting = await card(platform, run)
    ledger = ExecutionLedger(platform.engine)
    async with platform.engine.begin() as connection:
        await connection.execute(sa.update(runs).values(state="running"))
        await connection.execute(sa.update(TOOL_CALLS).values(retryable=retryable))
    await ledger.decide(waiting.call_id, "approve", seen_hash=waiting.arguments_hash, actor="jo")
    await ledger.start(waiting.call_id, runner="dead")
    await ThreadLeases(platform.engine).acquire(run.thread_id, "dead")
    return waiting.call_id


async def test_a_call_that_a_dead_process_had_started_goes_to_a_person(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        call_id = await killed_while_calling(platform, run, retryable=False)
    async with opened(native, CLOSING) as platform:
        await reaches(platform, run, "waiting")
        assert (await card(platform, run)).state == "unknown"
        await platform.approvals.settle(call_id, SettlementRequest(settlement="happened", note=CLOSING), actor="jo")
        await reaches(platform, run, "answered", "abstained")
        assert await facts(platform) == []


async def test_a_started_call_of_a_run_that_ended_goes_to_a_person(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        await killed_while_calling(platform, run, retryable=False)
        async with platform.engine.begin() as connection:
            await connection.execute(sa.update(runs).values(state="failed"))
        await platform.runs.sweep()
        assert (await card(platform, run)).state == "unknown"


async def test_a_run_whose_request_cannot_be_read_ends_in_words(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        await reaches(platform, run, "waiting")
        async with platform.engine.begin() as connection:
            await connection.execute(sa.update(runs).values(request='{"of": "another version"}'))
        await approve(platform, run)
        ended = await reaches(platform, run, "failed")
        assert "cannot be read any more" in (ended.error or "")
        assert sum(is_terminal(event) for event in await events(platform, run)) == 1
        assert await facts(platform) == []


async def test_a_call_that_may_be_tried_again_is(native: Settings) -> None:
    async with opened(native) as platform:
        run = await begun(platform)
        await killed_while_calling(platform, run, retryable=True)
    async with opened(native, CLOSING) as platform:
        await reaches(platform, run, "answered", "abstained")
        assert await facts(platform) == ["The orders team owns orders-api."]


async def test_a_running_agent_keeps_its_thread(native: Settings) -> None:
    slow = PolicyRule(action="ask")
    settings = native.model_copy(update={"tools": ToolSettings(policy=(slow,))})
    async with opened(settings) as platform:
        run = await begun(platform)
        with pytest.raises(RunActive):
            await begun(platform, run.thread_id)
        await reaches(platform, run, "waiting")
