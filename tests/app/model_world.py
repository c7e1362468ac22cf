"""A platform with one document whose chat models are servers of the test, and what a client does with it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager

import httpx

from agents.events import RunEvent
from agents.settings import EndpointSettings
from app.main import create_app
from app.schema import RunRequest
from app.settings import Settings
from app.wiring import Platform, open_platform
from ingestion.sources import discover
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.conftest import HANDBOOK
from tests.app.model_stub import ModelStub
from tests.ui.servers import serve

ANSWER = "Its last state is OOMKilled with exit code 137."
QUESTION = "What is the last state of a container that used more memory than its limit?"


@asynccontextmanager
async def opened(
    settings: Settings, main: ModelStub, other: ModelStub | None = None, *, fallback: bool = False
) -> AsyncGenerator[tuple[Platform, httpx.AsyncClient]]:
    """A platform with one document whose models are these servers."""
    with ExitStack() as servers:
        address = servers.enter_context(serve(main.app)).address
        changed: dict[str, object] = {"base_url": f"{address}/v1", "name": "main", "token_timeout_seconds": 1.0}
        changed["fallback"] = ("other",) if fallback else ()
        update: dict[str, object] = {"model": settings.model.model_copy(update=changed)}
        if other is not None:
            address = servers.enter_context(serve(other.app)).address
            update["endpoints"] = {"other": EndpointSettings(base_url=f"{address}/v1", model="stub")}
        changed_settings = settings.model_copy(update=update)
        async with AsyncExitStack() as stack:
            platform = await stack.enter_async_context(open_platform(changed_settings, embedder=HashingEmbedder()))
            transport = httpx.ASGITransport(create_app(changed_settings, platform=platform))
            http = await stack.enter_async_context(
                httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=30)
            )
            document = settings.home_path.parent / "handbook.md"
            document.write_text(HANDBOOK, encoding="utf-8")
            await platform.ingester.ingest(discover([str(document)]), collection="default")
            yield platform, http


async def ask(http: httpx.AsyncClient, **values: object) -> str:
    """Start a run and return its id."""
    thread = (await http.post("/api/threads", json={})).json()["thread_id"]
    body = RunRequest.model_validate({"question": QUESTION, **values}).model_dump(mode="json")
    return (await http.post(f"/api/threads/{thread}/runs", json=body)).raise_for_status().json()["run_id"]


async def events_of(platform: Platform, run_id: str) -> list[RunEvent]:
    return [event async for event in await platform.runs.follow(run_id)]
