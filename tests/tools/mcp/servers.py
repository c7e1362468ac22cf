"""Real servers for the tests of the MCP client: as child processes, and over HTTP in this process."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import uvicorn
from mcp.client.client import Client
from mcp.server import MCPServer
from starlette.types import ASGIApp

from tools.elicitation import ElicitationBroker
from tools.mcp.adapter import ToolLimits, adapt_tool
from tools.mcp.catalog import list_tools
from tools.mcp.config import McpServerConfig, ProtocolMode
from tools.mcp.connection import McpConnection
from tools.mcp.transport import AuthFactory, client_factory
from tools.types import CallContext, Tool

NOTES_SERVER = Path(__file__).parent / "notes_server.py"
CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")
LIMITS = ToolLimits(timeout_seconds=30, question_seconds=60)


def notes_config(notes: Path, **fields: object) -> McpServerConfig:
    """The configuration of the notes server."""
    entry = {"command": sys.executable, "args": [str(NOTES_SERVER), str(notes)], "trusted": True, **fields}
    return McpServerConfig.model_validate(entry)


@asynccontextmanager
async def connect(
    name: str,
    config: McpServerConfig,
    log_folder: Path,
    *,
    broker: ElicitationBroker | None = None,
    auth: AuthFactory | None = None,
    connect_timeout_seconds: float = 20.0,
) -> AsyncGenerator[McpConnection]:
    """A connection that is closed with its context."""
    factory = client_factory(name, config, log_folder=log_folder, auth=auth)
    connection = McpConnection(name, factory, broker=broker, connect_timeout_seconds=connect_timeout_seconds)
    try:
        yield connection
    finally:
        await connection.close()


@asynccontextmanager
async def connect_in_process(
    server: MCPServer, *, mode: ProtocolMode = "auto", broker: ElicitationBroker | None = None
) -> AsyncGenerator[McpConnection]:
    """A connection to a server in this process, which starts at once."""
    connection = McpConnection(
        "notes", lambda hooks: Client(server, mode=mode, elicitation_callback=hooks.elicitation), broker=broker
    )
    try:
        yield connection
    finally:
        await connection.close()


async def tools_of(connection: McpConnection, config: McpServerConfig) -> dict[str, Tool]:
    """The server's tools by name."""
    adapted = [adapt_tool(tool, connection, config, LIMITS) for tool in await list_tools(connection)]
    return {item.spec.name: item.tool for item in adapted if item.tool}


def free_port() -> int:
    """A port that nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@asynccontextmanager
async def serve_http(app: ASGIApp, *, port: int = 0) -> AsyncGenerator[str]:
    """Serve an application on loopback as long as the context; its address without a path."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=1, lifespan="on")
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await server.listening.wait()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


class _Server(uvicorn.Server):
    """Leaves signals to the tests, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    def install_signal_handlers(self) -> None:
        pass

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()
