"""Model servers to measure: llama.cpp as the API embeds it, vLLM as ``serve-model`` starts it, or one by address."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import signal
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import httpx

from agents.settings import ModelSettings
from app.home import Home
from app.model_server import EmbeddedModelServer
from app.models.store import ModelStore
from app.processes import ROOT
from app.settings import ModelStoreSettings
from app.supervisor import claim_port
from evals.errors import WorldUnusable

EngineKind: TypeAlias = Literal["llama.cpp", "vllm"]

START_SECONDS = 1500.0
STOP_SECONDS = 60.0
_READY = b"The model server is ready at"
_RUNNING: dict[EngineKind, tuple[str, ...]] = {
    "llama.cpp": ("llamacpp:requests_processing", "llamacpp:requests_deferred"),
    "vllm": ("vllm:num_requests_running", "vllm:num_requests_waiting"),
}
"""Series of requests that are worked on, and of those that wait."""
_SERIES = re.compile(r"([\w:]+)(?:\{.*\})? (\S+)")


@dataclass(frozen=True, slots=True)
class Engine:
    """A model server that answers.

    Attributes:
        kind: Which one.
        base_url: Its address, which ends in ``/v1``.
        api_key: What it wants from its clients.
        model: Name it serves.
        context_tokens: Window of one request.
    """

    kind: EngineKind
    base_url: str
    api_key: str
    model: str
    context_tokens: int

    @property
    def headers(self) -> dict[str, str]:
        """What a request carries; no connection is kept, for llama.cpp closes kept ones without notice."""
        return {"Authorization": f"Bearer {self.api_key}", "Connection": "close"}

    async def series(self, client: httpx.AsyncClient) -> dict[str, float]:
        """Its own Prometheus series, summed over their labels; the client sends ``headers``."""
        text = (await client.get(f"{self.base_url.removesuffix('/v1')}/metrics")).raise_for_status().text
        sums: dict[str, float] = {}
        for found in filter(None, map(_SERIES.fullmatch, text.splitlines())):
            sums[found[1]] = sums.get(found[1], 0.0) + float(found[2])
        return sums

    async def running(self, client: httpx.AsyncClient) -> float:
        """Requests that it works on or keeps waiting, by its own count."""
        series = await self.series(client)
        return sum(series[name] for name in _RUNNING[self.kind])


@asynccontextmanager
async def open_engine(
    kind: EngineKind, home: Path, *, parallel: int = 1, context_tokens: int = 4096
) -> AsyncGenerator[Engine]:
    """A server with the chat model of a home, ended with the context.

    Args:
        kind: Which one; vLLM comes as the profile ``cpu-small``, with its own window.
        home: Home with the models, and for vLLM with its environment.
        parallel: Requests at once.
        context_tokens: Window of one request.

    Raises:
        WorldUnusable: The server did not start.
        ModelFilesMissing: The chat model has not been pulled.
    """
    opened = _vllm(home, parallel) if kind == "vllm" else _llama_cpp(home, parallel, context_tokens)
    async with opened as engine:
        yield engine


@asynccontextmanager
async def _llama_cpp(home: Path, parallel: int, context_tokens: int) -> AsyncGenerator[Engine]:
    settings = ModelSettings(parallel=parallel, context_tokens=context_tokens)
    path = ModelStore(Home(home), ModelStoreSettings(offline=True)).chat_model_path(settings.name)
    with tempfile.TemporaryDirectory(prefix="groundwork-engine-") as folder:
        server = EmbeddedModelServer(path, settings, Path(folder) / "model.log")
        await server.start()
        try:
            base_url = await server.base_url()
            yield Engine("llama.cpp", base_url, server.api_key, settings.name, context_tokens)
        finally:
            await server.stop()


@asynccontextmanager
async def _vllm(home: Path, parallel: int) -> AsyncGenerator[Engine]:
    from app.serving.profiles import read_profile

    profile = read_profile("cpu-small").settings
    key, port = secrets.token_urlsafe(16), claim_port("127.0.0.1", 0, option="--port")
    argv = ["-m", "app", "--home", str(home), "serve-model", "--profile", "cpu-small", "--quiet", "--force"]
    argv += ["--port", str(port), "--max-num-seqs", str(max(parallel, profile.max_num_seqs))]
    environ = {**os.environ, "GROUNDWORK_SERVING__API_KEY": key}
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, *argv, cwd=ROOT, env=environ, stdout=pipe)
    try:
        await _wait_until_ready(process, home)
        base_url = f"http://127.0.0.1:{port}/v1"
        yield Engine("vllm", base_url, key, profile.served_name, profile.max_model_len)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()


async def _wait_until_ready(process: asyncio.subprocess.Process, home: Path) -> None:
    assert process.stdout, "spawned with a pipe"
    async with asyncio.timeout(START_SECONDS):
        async for line in process.stdout:
            if line.startswith(_READY):
                return
    raise WorldUnusable(f"vLLM did not start; see {Home(home).logs / 'serve-vllm.log'}.")
