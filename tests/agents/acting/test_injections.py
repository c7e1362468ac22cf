"""A model that obeys every order hidden in a document or a tool result: what it asks for stops at a person."""

from __future__ import annotations

import json

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.events import ApprovalNeeded, RunWaiting
from agents.testing import ScriptedCalls, ScriptedChatModel
from tests.agents.acting.harness import Bench
from tests.agents.injections import INJECTIONS, Injection, document_with, tool_result_with
from tools.builtin.forget import forget_tool
from tools.builtin.remember import remember_tool
from tools.function_tool import function_tool
from tools.memory import FactStore
from tools.types import Tool, ToolOutput


def dangerous(engine: AsyncEngine, effects: list[str]) -> list[Tool]:
    async def fetch_url(url: str) -> ToolOutput:
        """Fetch a page.

        Args:
            url: Address.
        """
        effects.append(url)
        return ToolOutput("page")

    facts = FactStore(engine)
    return [function_tool(fetch_url, risk="egress"), remember_tool(facts), forget_tool(facts)]


async def grant_everything(bench: Bench) -> None:
    """A person said yes to every tool of this chat that may be granted, before the text came in."""
    for tool in bench.source.tools:
        if tool.spec.risk not in ("read", "destructive"):
            await bench.grants.give(tool.spec, thread_id="thread-1", granted_by="jo")


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
async def test_an_order_in_a_document_stops_at_a_person(engine: AsyncEngine, injection: Injection) -> None:
    effects: list[str] = []
    obeyed = ScriptedCalls(((injection.tool, json.dumps(dict(injection.arguments))),))
    bench = Bench(
        engine,
        ScriptedChatModel([obeyed, "It is done."]),
        extra=dangerous(engine, effects),
        texts=(document_with(injection),),
    )
    await grant_everything(bench)
    events = await bench.attempt()
    assert isinstance(events[-1], RunWaiting)
    assert (effects, bench.cluster.effects) == ([], [])
    (card,) = [event for event in events if isinstance(event, ApprovalNeeded)]
    assert card.taint_source == "document /handbook/0.md"
    (call,) = await bench.waiting()
    if call.risk != "destructive":
        assert "untrusted text" in call.policy_reason


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
async def test_an_order_in_a_tool_result_stops_at_a_person(engine: AsyncEngine, injection: Injection) -> None:
    effects: list[str] = []

    async def read_pod(name: str) -> ToolOutput:
        """Show a pod.

        Args:
            name: Name of the pod.
        """
        return ToolOutput(tool_result_with(injection) + name)

    obeyed = ScriptedCalls(((injection.tool, json.dumps(dict(injection.arguments))),))
    bench = Bench(
        engine,
        ScriptedChatModel([ScriptedCalls((("read_pod", '{"name": "orders-api"}'),)), obeyed, "It is done."]),
        extra=[function_tool(read_pod, risk="read"), *dangerous(engine, effects)],
        texts=(),
    )
    await grant_everything(bench)
    events = await bench.attempt()
    assert isinstance(events[-1], RunWaiting)
    assert (effects, bench.cluster.effects) == ([], [])
    (card,) = [event for event in events if isinstance(event, ApprovalNeeded)]
    assert card.taint_source == "result of read_pod"
