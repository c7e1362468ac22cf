"""The platform over a real model server: a document in it, questions to it, and what vLLM counted meanwhile."""

from __future__ import annotations

import asyncio
import socket
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

from agents.chat_model import ChatModel
from agents.events import RunEvent, is_terminal
from app.client import ApiClient
from app.schema import RunInfo, RunRequest, ThreadCreate
from app.serve import answering
from app.settings import Settings
from app.wiring import open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.conftest import Served, ended
from tests.vllm.conftest import VllmServer

PATIENCE_SECONDS = 300.0
_POLL_SECONDS = 0.02


class Turn(NamedTuple):
    """One run: how it ended, its events, and the share of its prompt tokens that vLLM had in its cache."""

    run: RunInfo
    events: list[RunEvent]
    cached_share: float
    ttft_seconds: float


@asynccontextmanager
async def serving(settings: Settings, model: ChatModel) -> AsyncGenerator[Served]:
    """The API on a private socket; embeddings are hashed, for they are not what is tried."""
    async with open_platform(settings, embedder=HashingEmbedder(), chat_model=model) as platform:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "api.sock"
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(path))
            async with (
                answering(settings, platform, listener),
                ApiClient("http://localhost", token=platform.local_token, uds=path) as client,
            ):
                yield Served(platform, path, client)


async def ingest(api: ApiClient, path: Path) -> None:
    """One file, until it can be found."""
    job = await ended(api, await api.upload([path]))
    assert job.state == "done", job


async def turn(api: ApiClient, vllm: VllmServer, thread_id: str, request: RunRequest) -> Turn:
    """Ask, and follow until the run waits for a person or has ended."""
    before, began = vllm.counters(), time.monotonic()
    run = await api.start_run(thread_id, request)
    events: list[RunEvent] = []
    first_token = 0.0
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for event in api.events(run.run_id):
            events.append(event)
            first_token = first_token or (time.monotonic() - began if event.type == "token" else 0.0)
            if is_terminal(event) or event.type == "run_waiting":
                break
        # That a run waits is said before it is written, and no event tells of that.
        while (current := await api.run(run.run_id)).state == "running":  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
    return Turn(current, events, cached_share(before, vllm), first_token)


def cached_share(before: Mapping[str, float], vllm: VllmServer) -> float:
    """Share of the prompt tokens since ``before`` that vLLM's prefix cache had."""
    after = vllm.counters()
    hits, queries = (
        after[f"vllm:prefix_cache_{name}_total"] - before[f"vllm:prefix_cache_{name}_total"]
        for name in ("hits", "queries")
    )
    return hits / queries if queries else 0.0


async def settled(api: ApiClient, run_id: str) -> RunInfo:
    """The run once nobody works on it or waits for it."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for event in api.events(run_id):
            if is_terminal(event):
                break
    return await api.run(run_id)


async def new_thread(api: ApiClient) -> str:
    """Id of a fresh thread."""
    return (await api.create_thread(ThreadCreate())).thread_id


async def seconds_until(condition: Callable[[], bool], *, patience_seconds: float = 60.0) -> float:
    """Time until the condition holds."""
    began = time.monotonic()
    async with asyncio.timeout(patience_seconds):
        while not await asyncio.to_thread(condition):  # noqa: ASYNC110 - another process has no event to wait for
            await asyncio.sleep(_POLL_SECONDS)
    return time.monotonic() - began
