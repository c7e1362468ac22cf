"""The measurements of model servers, over a small server of the test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from itertools import product
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from agents.chat_model import ChatMessage
from evals import engine_cancel, overhead, prefix_cache
from evals.engine.chats import body_of, open_client, timed_chat
from evals.engine.servers import Engine
from evals.errors import WorldUnusable
from evals.prefix_cache import Call
from tests.app.model_stub import chunk
from tests.ui.servers import serve

WORDS = "The memory limit of the orders service is 512 MiB and its CPU limit is 500m."
PROMPT = (ChatMessage("user", "What is the limit?"),)
SERIES = """# HELP vllm:num_requests_running Requests
vllm:num_requests_running{engine="0",model_name="chat"} 2.0
vllm:num_requests_running{engine="1",model_name="chat"} 1.0
vllm:num_requests_waiting{engine="0",model_name="chat"} 3.0
llamacpp:requests_deferred 0
"""
REMEMBER = '{"tool": "remember", "arguments": {"text": "The orders team owns orders-api."}}'
ANSWER = '{"tool": "answer", "arguments": {}}'


class _Server:
    """Answers with the same words, or calls a tool where it has to, and counts the words of its prompt as tokens."""

    def __init__(self, *, reads_seconds: float = 0.0, words: str = WORDS, pause: float = 0.0) -> None:
        self.prompts: list[str] = []
        self.running = 0
        self._reads_seconds = reads_seconds
        self._words = words
        self._pause = pause

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
                Route("/metrics", self._metrics),
            ]
        )

    async def _metrics(self, _request: Request) -> Response:
        return PlainTextResponse(f"{SERIES}llamacpp:requests_processing {self.running}\n")

    async def _complete(self, request: Request) -> Response:
        body = json.loads(await request.body())
        prompt = json.dumps(body["messages"])
        self.prompts.append(prompt)
        told = sum(len(message["content"].split()) for message in body["messages"])
        words = self._words
        if "tool_call" in json.dumps(body.get("response_format", "")):
            words = ANSWER if "Result of" in prompt else REMEMBER
        pieces = words.split()[: body["max_tokens"]]
        usage = {"prompt_tokens": told, "completion_tokens": len(pieces), "total_tokens": told + len(pieces)}
        usage = {**usage, "prompt_tokens_details": {"cached_tokens": told - 1}}

        async def sent() -> AsyncIterator[bytes]:
            self.running += 1
            try:
                await asyncio.sleep(self._reads_seconds)
                yield chunk({"role": "assistant", "content": ""})
                for piece in pieces:
                    yield chunk({"content": f"{piece} "})
                    await asyncio.sleep(self._pause)
                yield chunk(finish="length")
                yield chunk(usage=usage)
                yield b"data: [DONE]\n\n"
            finally:
                self.running -= 1

        return StreamingResponse(sent(), media_type="text/event-stream")


@pytest.fixture
def server() -> _Server:
    return _Server()


@pytest.fixture
async def engine(server: _Server) -> AsyncGenerator[Engine]:
    with serve(server.app) as served:
        yield Engine("vllm", f"{served.address}/v1", "key", "stub", 4096)


@pytest.fixture
async def http(engine: Engine) -> AsyncGenerator[httpx.AsyncClient]:
    async with open_client(engine.headers) as client:
        yield client


async def test_running_requests_are_those_of_all_engines_and_of_the_queue(
    engine: Engine, http: httpx.AsyncClient
) -> None:
    assert await engine.running(http) == 6
    assert await Engine("llama.cpp", engine.base_url, "", "", 0).running(http) == 0


async def test_chat_is_timed_to_its_first_words_and_its_end(engine: Engine, http: httpx.AsyncClient) -> None:
    timed = await timed_chat(http, engine.base_url, body_of(PROMPT, model="stub", max_tokens=5))
    assert 0 < timed.first <= timed.total
    assert (timed.prompt_tokens, timed.cached_tokens, timed.completion_tokens) == (4, 3, 5)
    assert timed.reply_id == "1"


async def test_chat_without_words_is_no_measurement(engine: Engine, http: httpx.AsyncClient) -> None:
    with pytest.raises(WorldUnusable, match="without words"):
        await timed_chat(http, engine.base_url, body_of(PROMPT, model="stub", max_tokens=0))
    with pytest.raises(WorldUnusable, match="refused with 404"):
        await timed_chat(http, f"{engine.base_url}/x", body_of(PROMPT, model="stub", max_tokens=5))


def test_share_of_a_prompt_that_nobody_counted_is_none() -> None:
    assert Call(PROMPT, False, 0.1, 200, 150).share == 0.75
    assert Call(PROMPT, False, 0.1, 0, 0).share == 0.0


@pytest.mark.integration
@pytest.mark.timeout(600)
async def test_platform_sends_what_is_sent_directly(engine: Engine, server: _Server, model_home: Path) -> None:
    plan = overhead.Plan(prompts=3, max_tokens=8, chats=2, rounds=1)
    added, at_once = await overhead.measure(engine, model_home, plan, say=lambda _: None)
    assert added.pairs == 3
    assert added.added_total_ms_p50 > 0
    assert added.search_ms_p50 > 0
    assert added.added_first_ms_p50_without_search < added.added_first_ms_p50
    assert at_once.ratio > 0
    assert len(set(server.prompts)) == 3


@pytest.mark.integration
@pytest.mark.timeout(600)
async def test_clients_leave_in_every_way_while_the_engine_reads_and_while_it_writes(model_home: Path) -> None:
    server = _Server(reads_seconds=3, words=" ".join([WORDS] * 100), pause=0.05)
    with serve(server.app) as served:
        engine = Engine("llama.cpp", f"{served.address}/v1", "key", "stub", 4096)
        figures = await engine_cancel.measure(engine, model_home, samples=1, say=lambda _: None)
    assert {(way, phase) for way, phases in figures.items() for phase in phases} == set(
        product(("stop", "closed", "killed"), ("reading", "writing"))
    )
    assert server.running == 0
    assert len(server.prompts) == 6
    assert sum("Keep this note" in prompt for prompt in server.prompts) == 3


@pytest.mark.integration
@pytest.mark.timeout(600)
async def test_second_turn_and_second_round_are_found_and_sent_anew(model_home: Path) -> None:
    server = _Server(words="The memory limit of booking-api is 512Mi.")
    with serve(server.app) as served:
        engine = Engine("llama.cpp", f"{served.address}/v1", "key", "stub", 4096)
        reuse = await prefix_cache.measure(engine, model_home, chats=1, tasks=1, say=lambda _: None)
    assert reuse["second_turn"].prompts == reuse["second_tool_round"].prompts == 1
    assert reuse["second_turn"].cached_share_least > 0.9
    anew = [prompt for prompt in server.prompts if '"content": "1. ' in prompt]
    assert len(anew) == 1
    assert anew[0].replace('"1. ', '"') in server.prompts
