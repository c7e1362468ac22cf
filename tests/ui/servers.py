"""Starting and ending the servers of UI tests: any ASGI app in a thread, Streamlit as a process."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import uvicorn
from playwright.sync_api import Browser, sync_playwright
from starlette.types import ASGIApp

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Served(NamedTuple):
    """A running application.

    Attributes:
        address: Its base URL.
        call: Runs a function in the application's event loop, soon.
    """

    address: str
    call: Callable[[Callable[[], None]], object]


@contextmanager
def serve(app: ASGIApp, *, port: int = 0) -> Generator[Served]:
    """The application, served by a thread of this process; 0 takes a free port."""
    with socket.socket() as listener:
        # A server that is started again at its address does not wait for the last connections of the one before.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(128)
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1, lifespan="auto")
        server = uvicorn.Server(config)
        runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        loop = runner.get_loop()
        thread = threading.Thread(target=_serve_out, args=(runner, server, listener), daemon=True)
        thread.start()
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            _wait_until_it_answers(f"{address}/api/threads")
            yield Served(address, loop.call_soon_threadsafe)
        finally:
            server.should_exit = True
            thread.join(timeout=10)


def _serve_out(runner: asyncio.Runner, server: uvicorn.Server, listener: socket.socket) -> None:
    """Serve until told to end; what the application still waits for then ends with it."""
    with runner:
        runner.run(server.serve(sockets=[listener]))


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


CHROMIUM = "/usr/bin/chromium"
CHROMIUM_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


@contextmanager
def chromium() -> Generator[Browser]:
    """Debian's Chromium; the test is skipped where there is none."""
    if not Path(CHROMIUM).exists():
        pytest.skip(f"no browser at {CHROMIUM}; install it with: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_FLAGS))
        try:
            yield browser
        finally:
            browser.close()
