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
from agents.chat_model import Image
from agents.events import PicturesGiven, RunEvent, SearchWarned
from agents.picture_record import GivenPicture
from agents.pictures import PictureContent
from agents.testing import ScriptedCalls, ScriptedChatModel
from retrieval.types import SearchWarning
from tests.agents.acting.harness import Bench, answer_of, ask
from tests.agents.passages import OOM, WordSearch
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


async def test_agent_sees_a_picture_in_its_task_and_a_picture_taints(engine: AsyncEngine) -> None:
    given = GivenPicture(
        attachment_id="p1", name="shot.png", media_type="image/png", width=90, height=90, sha256="", words=2, seen=True
    )

    async def read(_ids: Sequence[str]) -> Sequence[PictureContent]:
        return [PictureContent("p1", "shot.png", "image/png", b"png", "exit code 137")]

    class PictureBench(Bench):
        @property
        def parts(self) -> ActingParts:
            return replace(super().parts, attachments=Attachments(pictures=read))

    bench = PictureBench(engine, ScriptedChatModel([RAISE, REPLY]), texts=())
    runner = ActingRunner(leases=bench.leases, checkpointer=bench.saver)
    request = replace(ask(QUESTION), pictures=(given,))
    events = [event async for event in runner.run(request, bench.parts)]

    (task,) = [message for message in bench.model.prompts[0] if message.images]
    assert task.images == (Image("image/png", b"png"),)
    assert "> exit code 137" in task.content
    assert [event.pictures for event in events if isinstance(event, PicturesGiven)] == [(given,)]
    (call,) = await bench.waiting()
    assert call.taint_source == "picture shot.png"


async def test_run_of_an_agent_tells_what_its_search_lost(engine: AsyncEngine) -> None:
    lost = SearchWarning("rerank_failed", "The reranker did not answer.")

    class WarnedBench(Bench):
        @property
        def parts(self) -> ActingParts:
            return replace(super().parts, retriever=WordSearch((OOM,), warnings=(lost,)))

    bench = WarnedBench(engine, ScriptedChatModel([REPLY]), texts=(OOM,))
    runner = ActingRunner(leases=bench.leases, checkpointer=bench.saver)
    events = [event async for event in runner.run(ask(QUESTION), bench.parts)]
    assert [event.detail for event in events if isinstance(event, SearchWarned)] == [lost.detail]
