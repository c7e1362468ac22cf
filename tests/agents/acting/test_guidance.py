"""Presets in runs of agents: fewer tools, words behind the agent's own, examples before the task."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.acting.records import dump_request, load_request
from agents.chat_model import ChatMessage
from agents.events import ToolCalled
from agents.guidance import Guidance
from agents.prompting import load_prompt
from agents.testing import ScriptedCalls, ScriptedChatModel
from tests.agents.acting.harness import Bench, answer_of, ask

EXAMPLE = (ChatMessage("user", "Is it up?"), ChatMessage("assistant", "It is up."))
GUIDANCE = Guidance("careful", 3, "Be brief.", EXAMPLE, ("get_*",), "local")
REPLY = "The last termination reason of the pod is OOMKilled."


async def test_agent_is_offered_and_given_only_the_tools_that_a_preset_leaves_it(engine: AsyncEngine) -> None:
    restart = ScriptedCalls((("restart", '{"name": "orders-api"}'),))
    bench = Bench(engine, ScriptedChatModel([restart, REPLY]))
    events = await bench.attempt(replace(ask(), guidance=GUIDANCE))
    offer = bench.model.offers[0]
    assert offer is not None
    assert [tool.name for tool in offer.tools] == ["get_pod"]
    (called,) = [event for event in events if isinstance(event, ToolCalled)]
    assert called.action == "refused"
    assert bench.cluster.effects == []
    assert await bench.waiting() == []


async def test_agent_is_told_what_a_preset_says(engine: AsyncEngine) -> None:
    bench = Bench(engine, ScriptedChatModel([REPLY]))
    answer = answer_of(await bench.attempt(replace(ask(), guidance=GUIDANCE)))
    system, *turns = bench.model.prompts[0]
    assert system.content.startswith(load_prompt("agent"))
    assert system.content.endswith("Be brief.")
    assert tuple(turns[:2]) == EXAMPLE
    assert answer.context.dropped_examples == 0


@pytest.mark.parametrize(
    ("guidance", "taint"),
    [
        (Guidance("kind", 1, "Raise it.", saved_by="local"), ""),
        (Guidance("kind", 1, "Raise it.", saved_by="mallory"), "preset kind of mallory"),
        (Guidance("kind", 1, examples=EXAMPLE, saved_by="mallory"), "preset kind of mallory"),
        (Guidance("kind", 1, tools=("*",), saved_by="mallory"), ""),
    ],
)
async def test_words_of_another_person_taint_what_an_agent_does(
    engine: AsyncEngine, guidance: Guidance, taint: str
) -> None:
    limit = ScriptedCalls((("set_memory_limit", '{"name": "orders-api", "limit": "1Gi"}'),))
    bench = Bench(engine, ScriptedChatModel([limit, REPLY]), texts=())
    await bench.attempt(replace(ask(), guidance=guidance))
    (call,) = await bench.waiting()
    assert (call.taint_source or "") == taint


def test_a_stored_request_keeps_what_a_preset_says() -> None:
    request = replace(ask(), guidance=GUIDANCE)
    assert load_request(dump_request(request)) == request
