"""A real vLLM, started by ``serve-model`` as a person starts it. Collected only where ``make test-vllm`` has made one.

It takes both cores of a small machine for minutes, so it is no part of the suite.
"""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from agents.openai_chat import OpenAIChatModel
from agents.settings import AnswerSettings, ModelSettings
from app.settings import Settings
from evals.prefix_cache import KeepingModel
from tests.app.conftest import Served
from tests.ui.servers import ROOT, free_port

# Read before the guard of all tests takes the variables away.
_HOME = os.environ.get("GROUNDWORK_TEST_VLLM", "")
_REPORT = os.environ.get("GROUNDWORK_TEST_VLLM_REPORT", "")
START_SECONDS = 1500.0
STOP_SECONDS = 60.0
KEY = "key-of-the-test"
CONTEXT_TOKENS = 8192

collect_ignore_glob = [] if _HOME else ["test_*.py"]


@dataclass(slots=True)
class VllmServer:
    """A vLLM that answers."""

    base_url: str
    figures: dict[str, float] = field(default_factory=dict[str, float])
    """What was measured, by name; written to ``GROUNDWORK_TEST_VLLM_REPORT`` at the end."""

    @property
    def address(self) -> str:
        """Its base URL without ``/v1``."""
        return self.base_url.removesuffix("/v1")

    def counters(self) -> Mapping[str, float]:
        """vLLM's own series, summed over their labels."""
        sums: dict[str, float] = {}
        for line in httpx.get(f"{self.address}/metrics", timeout=30).text.splitlines():
            found = re.fullmatch(r"(vllm:\w+)(?:\{.*\})? (\S+)", line)
            if found:
                sums[found[1]] = sums.get(found[1], 0.0) + float(found[2])
        return sums

    @property
    def running(self) -> float:
        """Requests that it works on or keeps waiting."""
        counters = self.counters()
        return counters["vllm:num_requests_running"] + counters["vllm:num_requests_waiting"]


@pytest.fixture(scope="session")
def engine_home() -> Path:
    """Home whose ``engines`` hold vLLM and the weights."""
    return Path(_HOME)


@pytest.fixture(scope="session")
def vllm(engine_home: Path) -> Generator[VllmServer]:
    """``groundwork serve-model --profile cpu-small``, ready; ended with one Ctrl-C, with nothing left behind."""
    command = [sys.executable, "-m", "app", "--home", str(engine_home), "serve-model", "--profile", "cpu-small"]
    port = free_port()
    began = time.monotonic()
    environ = {**os.environ, "GROUNDWORK_SERVING__API_KEY": KEY}
    with subprocess.Popen(
        [*command, "--port", str(port), "--quiet"], cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True
    ) as process:
        _wait_for(process, "The model server is ready at")
        server = VllmServer(f"http://127.0.0.1:{port}/v1", {"start_seconds": time.monotonic() - began})
        try:
            yield server
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(STOP_SECONDS)
            _write_report(server)
    assert process.returncode == 0
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.address}/health")


@pytest.fixture
def settings(settings: Settings, vllm: VllmServer) -> Settings:
    """Settings whose chat model is that vLLM, with answers short enough for a CPU."""
    model = ModelSettings(
        base_url=vllm.base_url, name="chat", api_key=SecretStr(KEY), context_tokens=CONTEXT_TOKENS
    )  # fmt: skip
    return settings.model_copy(update={"model": model, "answer": AnswerSettings(max_tokens=80)})


@pytest.fixture
async def model(vllm: VllmServer) -> AsyncGenerator[KeepingModel]:
    """The chat model of the API; its calls are kept with vLLM's own counts."""
    inner = OpenAIChatModel(vllm.base_url, name="chat", context_tokens=CONTEXT_TOKENS, api_key=KEY)
    yield KeepingModel(inner)
    await inner.aclose()


@pytest.fixture
async def served(settings: Settings, model: KeepingModel) -> AsyncGenerator[Served]:
    """The API with hashed embeddings over that vLLM."""
    from tests.vllm.api import serving

    async with serving(settings, model) as served:
        yield served


def _wait_for(process: subprocess.Popen[str], beginning: str) -> None:
    assert process.stdout
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        if select.select([process.stdout], [], [], 1.0)[0] and process.stdout.readline().startswith(beginning):
            return
    pytest.fail(f"vLLM did not become ready (exit code {process.poll()}); see logs/serve-vllm.log of the home")


def _write_report(server: VllmServer) -> None:
    if _REPORT:
        figures = {name: round(value, 3) for name, value in sorted(server.figures.items())}
        Path(_REPORT).write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
