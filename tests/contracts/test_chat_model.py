"""What every chat model promises (``agents.chat_model.ChatModel``)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import cast

import pytest
import pytest_asyncio

from agents.chat_model import ChatDelta, ChatMessage, ChatModel, Sampling
from agents.openai_chat import OpenAIChatModel
from agents.settings import ModelSettings
from agents.testing import ScriptedChatModel
from app.home import Home
from app.model_server import EmbeddedModelServer
from app.models.store import ModelStore
from app.settings import ModelStoreSettings

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUESTION = (ChatMessage("system", "You write words, no digits."), ChatMessage("user", "Count from one to one hundred."))


@pytest_asyncio.fixture(
    scope="module",
    loop_scope="module",
    params=["scripted", pytest.param("embedded", marks=[pytest.mark.e2e, pytest.mark.timeout(400)])],
)
async def chat_model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[ChatModel]:
    if request.param == "scripted":
        yield ScriptedChatModel(["One two three four five six seven eight nine ten eleven twelve."])
        return
    model_home: Path = request.getfixturevalue("model_home")
    settings = ModelSettings()
    path = ModelStore(Home(model_home), ModelStoreSettings(offline=True)).chat_model_path(settings.name)
    server = EmbeddedModelServer(path, settings, tmp_path_factory.mktemp("server") / "model.log")
    model = OpenAIChatModel(
        server.base_url,
        name=settings.name,
        context_tokens=settings.context_tokens,
        api_key=server.api_key,
        llama_cpp=lambda: True,
    )
    await server.start()
    await server.base_url()
    yield model
    await model.aclose()
    await server.stop()


def streaming(model: ChatModel, *, max_tokens: int = 8) -> aclosing[AsyncGenerator[ChatDelta]]:
    reply: AsyncIterator[ChatDelta] = model.stream(QUESTION, Sampling(max_tokens=max_tokens))
    return aclosing(cast("AsyncGenerator[ChatDelta]", reply))


async def test_reply_is_text_first_and_usage_last(chat_model: ChatModel) -> None:
    async with streaming(chat_model) as reply:
        deltas = [delta async for delta in reply]

    assert "".join(delta.text for delta in deltas).strip()
    assert all(delta.usage is None and delta.finish_reason is None for delta in deltas[:-1])
    last = deltas[-1]
    assert last.text == ""
    assert last.finish_reason == "length"
    assert last.usage
    assert last.usage.completion_tokens == 8
    assert last.usage.prompt_tokens > 0


async def test_closed_reply_leaves_the_model_free_for_the_next(chat_model: ChatModel) -> None:
    async with streaming(chat_model, max_tokens=400) as reply:
        await anext(reply)

    async with streaming(chat_model, max_tokens=2) as reply:
        assert [delta async for delta in reply][-1].usage


async def test_cancelled_reader_leaves_the_model_free_for_the_next(chat_model: ChatModel) -> None:
    started = asyncio.Event()

    async def read() -> None:
        async with streaming(chat_model, max_tokens=400) as reply:
            await anext(reply)
            started.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(read())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    async with streaming(chat_model, max_tokens=2) as reply:
        assert [delta async for delta in reply][-1].usage


async def test_tokens_are_counted_in_order_and_no_text_has_none(chat_model: ChatModel) -> None:
    short, empty, longer = await chat_model.count_tokens(["pod", "", "the pod was killed by the kernel"])

    assert empty == 0
    assert 0 < short < longer


async def test_texts_counted_together_have_the_tokens_that_each_has_alone(chat_model: ChatModel) -> None:
    alone = {  # as the server counted each in a request of its own
        "The limit of the orders service is 512 MiB.": 14,
        "OOMKilled: exit code 137 — the container": 13,
        "\n\n  indented yaml:\n    a: 1": 11,
        "": 0,
        " leading space": 2,
        "<|im_start|>user": 2,
    }

    counts = await chat_model.count_tokens(list(alone))

    assert len(counts) == len(alone)
    if isinstance(chat_model, OpenAIChatModel):
        assert counts == list(alone.values())


async def test_ready_model_passes_its_check(chat_model: ChatModel) -> None:
    await chat_model.check()

    assert chat_model.name
    assert chat_model.context_tokens >= 1024
