"""Starting and ending the servers of UI tests: any ASGI app in a thread, Streamlit as a process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from starlette.types import ASGIApp

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serve(app: ASGIApp) -> Generator[str]:
    """The address of the application, served by a thread of this process."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(128)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, lifespan="auto")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            _wait_until_it_answers(f"{address}/api/threads")
            yield address
        finally:
            server.should_exit = True
            thread.join(timeout=10)


@contextmanager
def streamlit(api_url: str, log: Path) -> Generator[str]:
    """The address of a chat UI in front of an API; its output goes to ``log``."""
    port = free_port()
    command = [
        sys.executable, "-m", "streamlit", "run", str(ROOT / "ui" / "main.py"),
        "--server.headless", "true", "--server.address", "127.0.0.1", "--server.port", str(port),
    ]  # fmt: skip
    environment: Mapping[str, str] = {**os.environ, "GROUNDWORK_API_URL": api_url}
    with log.open("wb") as output:
        process = subprocess.Popen(command, env=environment, cwd=log.parent, stdout=output, stderr=output)
    try:
        _wait_until_it_answers(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_it_answers(url: str) -> None:
    transport = httpx.HTTPTransport(retries=0)
    waiting = threading.Event()
    with httpx.Client(transport=transport, trust_env=False, timeout=5) as client:
        for _ in range(int(START_SECONDS / 0.1)):
            try:
                client.get(url)
            except httpx.TransportError:
                waiting.wait(0.1)
            else:
                return
    raise TimeoutError(f"nothing answered at {url} within {START_SECONDS:.0f} s")
