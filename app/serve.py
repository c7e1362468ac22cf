"""Run the API in this process: on its TCP address until somebody ends it, or on a private socket for one command."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import tempfile
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Unpack

import uvicorn
import uvloop

from app.client import ApiClient
from app.errors import PortTaken
from app.home_lock import ApiAddress, announced_api
from app.log import configure_logging, logging_to
from app.main import Overrides, create_app
from app.processes import local_url
from app.settings import Settings
from app.wiring import Platform, open_platform

_BACKLOG = 2048
COMMAND_LOG = "cli.log"
"""Log of commands that run without an API process, under the home's ``logs``; their stderr is for the person."""
_GRACE_SECONDS = 5
"""Time that open requests have to end after the runs have ended."""


def serve(settings: Settings, **overrides: Unpack[Overrides]) -> None:
    """Run the API with its model server until SIGINT or SIGTERM.

    Raises:
        PortTaken: The address cannot be bound.
        HomeLocked: Another process has the home open; see ``open_platform`` for further errors.
    """
    configure_logging(settings.log.level)
    uvloop.run(_serve(settings, Overrides(start_model=True) | overrides))


@asynccontextmanager
async def serve_embedded(settings: Settings, **overrides: Unpack[Overrides]) -> AsyncGenerator[ApiClient]:
    """A client of an API that lives in this process as long as the context, reachable by this user alone."""
    with tempfile.TemporaryDirectory(prefix="groundwork-") as folder:  # mode 0700
        path = Path(folder) / "api.sock"
        async with open_platform(settings, **overrides) as platform:
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(path))
            with logging_to(settings.home.logs / COMMAND_LOG, settings.log.level):
                async with (
                    answering(settings, platform, listener),
                    ApiClient("http://localhost", token=platform.local_token, uds=path) as client,
                ):
                    yield client


@asynccontextmanager
async def answering(
    settings: Settings, platform: Platform, listener: socket.socket
) -> AsyncGenerator[asyncio.Task[None]]:
    """Answer on an open socket as long as the context; the task of the server ends early only when it failed."""
    config = uvicorn.Config(
        create_app(settings, platform=platform),
        log_config=None,
        access_log=False,
        lifespan="on",
        server_header=False,
        # The address of a client is that of whoever connects: a trusted proxy is known by it.
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
    server = _Server(config, platform)
    task = asyncio.create_task(server.serve(sockets=[listener]), name="http-server")
    listening = asyncio.create_task(server.listening.wait())
    try:
        await asyncio.wait([task, listening], return_when=asyncio.FIRST_COMPLETED)
        yield task
    finally:
        listening.cancel()
        server.should_exit = True
        await task


def listen(host: str, port: int) -> socket.socket:
    """A bound socket whose connections send small events at once; raises ``PortTaken``."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio switches Nagle's algorithm off only where the protocol is named; without it each event of a stream
    # waits 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise PortTaken(f"Cannot listen on {host}:{port} ({error.strerror}); choose another --port.") from error
    return listener


async def _serve(settings: Settings, overrides: Overrides) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    listener = listen(settings.server.host, settings.server.port)
    async with open_platform(settings, **overrides) as platform:
        url = local_url(settings.server.host, listener.getsockname()[1])
        address = ApiAddress(url=url, pid=os.getpid(), token=platform.local_token)
        async with answering(settings, platform, listener) as server:
            with announced_api(settings.home, address):
                await asyncio.wait([asyncio.ensure_future(stop.wait()), server], return_when=asyncio.FIRST_COMPLETED)


class _Server(uvicorn.Server):
    """Leaves signals to the process, says when it listens, and ends runs first so that their followers leave."""

    def __init__(self, config: uvicorn.Config, platform: Platform) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self._platform = platform

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._platform.runs.close()
        await super().shutdown(sockets)
