"""Attached texts in runs of agents: what the model sees, what they taint, what is cited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.acting.context import ActingParts
from agents.acting.runner import ActingRunner
from agents.attached import AttachedText
from agents.attachments import Attachments
from agents.events import RunEvent
from agents.testing import ScriptedCalls, ScriptedChatModel
from tests.agents.acting.harness import Bench, answer_of, ask
from tests.agents.test_attached import QUESTION, REPLY, REPORT, attached

RAISE = ScriptedCalls((("set_memory_limit", '{"name": "orders-api", "limit": "1Gi"}'),))


class AttachedBench(Bench):
    """A bench whose threads have one attached text."""

    @property
    def parts(self) -> ActingParts:
        async def read(ids: Sequence[str]) -> Sequence[AttachedText]:
            return [attached(*REPORT)] if ids else []

        return replace(super().parts, attachments=Attachments(read))


async def _run(bench: Bench, *, prompt: str = "", attachments: tuple[str, ...] = ("a1",)) -> list[RunEvent]:
    request = replace(ask(QUESTION), attachments=attachments, prompt=prompt)
    runner = ActingRunner(leases=bench.leases, checkpointer=bench.saver)
    return [event async for event in runner.run(request, bench.parts)]


@pytest.mark.parametrize("mode", ["native", "constrained"])
async def test_agent_sees_the_attached_text_before_it_decides_and_cites_it(engine: AsyncEngine, mode: str) -> None:
    first = REPLY if mode == "native" else ScriptedCalls((("answer", "{}"),))
    bench = AttachedBench(engine, ScriptedChatModel([first, REPLY]), texts=(), mode=mode)
    answer = answer_of(await _run(bench))
    assert REPORT[1] in bench.model.prompts[0][-1].content
    assert answer.status == "answered"
    assert [citation.attachment_id for citation in answer.citations] == ["a1"]


async def test_attached_text_taints_the_calls_of_its_thread(engine: AsyncEngine) -> None:
    bench = AttachedBench(engine, ScriptedChatModel([RAISE, REPLY]), texts=())
    await _run(bench)
    (call,) = await bench.waiting()
    assert call.taint_source == "attached text report.md"


async def test_question_made_from_a_servers_prompt_taints_as_well(engine: AsyncEngine) -> None:
    bench = AttachedBench(engine, ScriptedChatModel([RAISE, REPLY]), texts=())
    await _run(bench, prompt="notes/sum_up", attachments=())
    (call,) = await bench.waiting()
    assert call.taint_source == "prompt notes/sum_up"
