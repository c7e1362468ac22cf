from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
import sqlalchemy as sa

from agents.errors import ModelUnavailable
from app.tables import runs
from tests.app.conftest import Served, ended
from tests.fakes import GatedChatModel

QUESTION: Any = [{"role": "user", "content": "What is the exit code of a container that was OOMKilled?"}]
ANSWER = "Its last state is OOMKilled with exit code 137."


@pytest.fixture
async def client(served: Served, handbook: Path) -> AsyncGenerator[openai.AsyncOpenAI]:
    """OpenAI's own client at a real server that holds the handbook."""
    await ended(served.api, await served.api.upload([handbook], collection="handbook"))
    transport = httpx2.AsyncHTTPTransport(uds=str(served.socket))
    async with httpx2.AsyncClient(transport=transport) as http:
        yield openai.AsyncOpenAI(base_url="http://localhost/v1", api_key="unused", http_client=http, max_retries=0)


async def test_stream_brings_the_answer_and_then_its_proof(client: openai.AsyncOpenAI) -> None:
    stream = await client.chat.completions.create(
        model="groundwork", messages=QUESTION, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text.strip() == ANSWER
    *_, last, usage = chunks
    assert last.choices[0].finish_reason == "stop"
    proof: Any = last.choices[0].delta
    assert proof.status == "answered"
    assert proof.answer.startswith(ANSWER.removesuffix("."))
    assert [claim["verdict"] for claim in proof.claims] == ["verified"]
    assert [citation["source"] for citation in proof.citations] == ["upload:handbook.md"]
    assert usage.usage is not None
    assert usage.usage.total_tokens == usage.usage.prompt_tokens + usage.usage.completion_tokens > 0
    assert len({chunk.id for chunk in chunks}) == 1


async def test_whole_answer_carries_citations_claims_and_usage(client: openai.AsyncOpenAI) -> None:
    completion = await client.chat.completions.create(model="groundwork", messages=QUESTION)
    message: Any = completion.choices[0].message
    assert "[1]" in message.content
    assert message.citations[0]["quote"] in "Its last state is OOMKilled with exit code 137."
    assert message.claims[0]["verdict"] == "verified"
    assert completion.usage is not None
    assert completion.usage.completion_tokens == len(ANSWER.split())


@pytest.mark.parametrize("stream", [False, True])
async def test_abstention_is_an_ordinary_message(client: openai.AsyncOpenAI, *, stream: bool) -> None:
    messages: Any = [{"role": "user", "content": "Zeppelin xylophone quetzal?"}]
    if stream:
        chunks = [
            chunk
            async for chunk in await client.chat.completions.create(model="groundwork", messages=messages, stream=True)
        ]
        status: Any = chunks[-1].choices[0].delta
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    else:
        completion = await client.chat.completions.create(model="groundwork", messages=messages)
        status = completion.choices[0].message
        text = completion.choices[0].message.content or ""
    assert status.status == "abstained"
    assert text.strip()


async def test_earlier_messages_are_the_history(client: openai.AsyncOpenAI, chat_model: GatedChatModel) -> None:
    messages: Any = [
        {"role": "system", "content": "Talk like a pirate."},
        {"role": "user", "content": "What does the kernel do with too much memory?"},
        {"role": "assistant", "content": "It kills the container."},
        *QUESTION,
    ]
    await client.chat.completions.create(model="groundwork", messages=messages)
    prompt = " ".join(message.content for message in chat_model.prompts[-1])
    assert "It kills the container." in prompt
    assert "pirate" not in prompt


async def test_model_server_down_is_an_error_of_openais_client(
    client: openai.AsyncOpenAI, chat_model: GatedChatModel
) -> None:
    chat_model.error = ModelUnavailable("The model server is down; start it.")
    with pytest.raises(openai.InternalServerError) as refusal:
        await client.chat.completions.create(model="groundwork", messages=QUESTION)
    assert (refusal.value.status_code, refusal.value.code) == (503, "model_unavailable")
    stream = await client.chat.completions.create(model="groundwork", messages=QUESTION, stream=True)
    with pytest.raises(openai.APIError, match="start it"):
        _ = [chunk async for chunk in stream]


async def test_unknown_model_and_collection_are_not_found(client: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as refusal:
        await client.chat.completions.create(model="gpt-none", messages=QUESTION)
    assert refusal.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError) as refusal:
        await client.chat.completions.create(
            model="groundwork", messages=QUESTION, extra_body={"collections": ["misspelt"]}
        )
    assert refusal.value.code == "collection_unknown"


async def test_models_lists_the_names_that_work(client: openai.AsyncOpenAI) -> None:
    names = [model.id async for model in client.models.list()]
    assert names == ["groundwork", "gated"]
    for name in names:
        assert (await client.chat.completions.create(model=name, messages=QUESTION)).model == name


@pytest.mark.parametrize("stream", [False, True])
async def test_client_that_leaves_cancels_its_run(
    client: openai.AsyncOpenAI, served: Served, chat_model: GatedChatModel, *, stream: bool
) -> None:
    chat_model.gated = True

    async def ask() -> None:
        if stream:
            async for _ in await client.chat.completions.create(model="groundwork", messages=QUESTION, stream=True):
                pass
        else:
            await client.chat.completions.create(model="groundwork", messages=QUESTION)

    asking = asyncio.create_task(ask())
    async with asyncio.timeout(30):
        await chat_model.held.wait()
        asking.cancel()
        await asyncio.wait([asking])
        run_id = await _only_run(served)
        events = [event async for event in served.api.events(run_id)]
    assert events[-1].type == "run_cancelled"
    assert chat_model.stopped_early == 1
    assert (await served.api.threads()).threads == []


async def _only_run(served: Served) -> str:
    async with served.platform.engine.connect() as connection:
        return str(await connection.scalar(sa.select(runs.c.run_id)))
