"""The API with small real parts: hashed embeddings, Qdrant Edge, a scripted chat model."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from app.client import ApiClient
from app.main import create_app
from app.schema import Job
from app.serve import answering
from app.settings import Settings
from app.wiring import Platform, open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tests.fakes import GatedChatModel

HANDBOOK = """# Memory limits

A container that uses more memory than its limit is killed by the kernel.
Its last state is OOMKilled with exit code 137. Raise the memory limit, or find the leak.

# Probes

A failing liveness probe restarts the container.
"""


@pytest.fixture
def chat_model() -> GatedChatModel:
    """Says one sentence that the handbook supports."""
    return GatedChatModel("Its last state is OOMKilled with exit code 137.")


@pytest.fixture
async def platform(settings: Settings, chat_model: GatedChatModel) -> AsyncGenerator[Platform]:
    """An open platform without documents."""
    async with open_platform(settings, embedder=HashingEmbedder(), chat_model=chat_model) as platform:
        yield platform


@pytest.fixture
async def http(settings: Settings, platform: Platform) -> AsyncGenerator[httpx.AsyncClient]:
    """Plain HTTP to the application in this process; streams come whole."""
    transport = httpx.ASGITransport(create_app(settings, platform=platform), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


@dataclass(frozen=True, slots=True)
class Served:
    """A platform behind a real server on a private socket."""

    platform: Platform
    socket: Path
    api: ApiClient


@pytest.fixture
async def served(settings: Settings, platform: Platform) -> AsyncGenerator[Served]:
    """A real server without documents, and its typed client."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "api.sock"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        async with (
            answering(settings, platform, listener),
            ApiClient("http://localhost", token=platform.local_token, uds=path) as client,
        ):
            yield Served(platform, path, client)


@pytest.fixture
def api(served: Served) -> ApiClient:
    """The typed client of a real server without documents."""
    return served.api


@pytest.fixture
def handbook(tmp_path: Path) -> Path:
    """A small document."""
    path = tmp_path / "handbook.md"
    path.write_text(HANDBOOK, encoding="utf-8")
    return path


async def ended(client: ApiClient, job: Job) -> Job:
    """The job once it is over."""
    async with asyncio.timeout(30):
        while job.state in ("queued", "running"):
            await asyncio.sleep(0.01)
            job = await client.job(job.job_id)
    return job
