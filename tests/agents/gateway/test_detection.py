from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from agents.gateway.capabilities import Capabilities
from agents.gateway.detection import detect


def server(
    *, cards: Sequence[Mapping[str, Any]], refuses: tuple[str, ...] = (), props: Mapping[str, Any] | None = None
) -> httpx.AsyncClient:
    """A client of a server that lists these models and refuses requests in which one of these words stands."""

    async def models(_request: Request) -> JSONResponse:
        return JSONResponse({"object": "list", "data": cards})

    async def complete(request: Request) -> JSONResponse:
        asked = json.dumps(await request.json())
        return JSONResponse({"choices": []}, status_code=400 if any(word in asked for word in refuses) else 200)

    async def properties(_request: Request) -> JSONResponse:
        return JSONResponse(props, status_code=200 if props is not None else 404)

    app = Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/v1/chat/completions", complete, methods=["POST"]),
            Route("/props", properties),
        ]
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://model.test/v1/")


async def test_vllm_tells_its_window_and_its_adapters() -> None:
    cards = [
        {"id": "qwen", "owned_by": "vllm", "max_model_len": 8192, "root": "qwen"},
        {"id": "sql-adapter", "owned_by": "vllm", "max_model_len": None, "parent": "qwen"},
    ]
    async with server(cards=cards, refuses=("image_url",)) as client:
        found = await detect(client, "qwen")

    assert found == Capabilities("vllm", 8192, "native", True, False, None, ("qwen", "sql-adapter"))


async def test_server_without_a_tool_parser_gets_constrained_calls() -> None:
    cards = [{"id": "qwen", "owned_by": "vllm", "max_model_len": 8192}]
    async with server(cards=cards, refuses=("tools", "json_schema")) as client:
        found = await detect(client, "qwen")

    assert (found.tools, found.structured, found.images) == ("constrained", False, True)


async def test_llama_cpp_is_believed_without_requests() -> None:
    cards = [{"id": "small", "owned_by": "llamacpp", "meta": {"n_ctx_train": 32768}}]
    props = {"default_generation_settings": {"n_ctx": 4096}, "modalities": {"vision": True, "audio": False}}
    async with server(cards=cards, refuses=("model",), props=props) as client:
        found = await detect(client, "small")

    assert found == Capabilities("llama.cpp", 4096, "constrained", True, True, None, ("small",))


async def test_unknown_server_and_model_are_asked_all_the_same() -> None:
    async with server(cards=[{"id": "other"}]) as client:
        found = await detect(client, "mine")

    assert found == Capabilities("other", None, "native", True, True, None, ("other",))


async def test_server_without_a_listing_is_an_error() -> None:
    transport = httpx.ASGITransport(Starlette())
    async with httpx.AsyncClient(transport=transport, base_url="http://model.test/v1/") as client:
        with pytest.raises(httpx.HTTPStatusError):
            await detect(client, "mine")


def test_the_operators_word_stands_over_what_was_found() -> None:
    given = Capabilities(context_tokens=2048, images=False)
    found = Capabilities("vllm", 8192, "native", True, True, None, ("qwen",))

    assert given.over(found) == Capabilities("vllm", 2048, "native", True, False, None, ("qwen",))
