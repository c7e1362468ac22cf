from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

import pytest

from agents.openai_chat import OpenAIChatModel, TimeLimits
from tests.agents.model_stub import OpenModel, Stub


@pytest.fixture
async def stub() -> AsyncGenerator[Stub]:
    stub = Stub()
    server = await asyncio.start_server(stub.answer, "127.0.0.1", 0)
    async with server:
        stub.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield stub


@pytest.fixture
async def open_model(stub: Stub) -> AsyncGenerator[OpenModel]:
    models: list[OpenAIChatModel] = []

    def opened(
        base_url: str | Callable[[], Awaitable[str]] | None = None, *, llama_cpp: bool = False, **limits: float
    ) -> OpenAIChatModel:
        model = OpenAIChatModel(
            base_url or stub.base_url,
            name="small",
            context_tokens=4096,
            api_key="secret",
            limits=TimeLimits(**limits),
            llama_cpp=lambda: llama_cpp,
        )
        models.append(model)
        return model

    yield opened
    for model in models:
        await model.aclose()
