"""Run the MCP server: on standard streams, or as streamable HTTP on loopback."""

from __future__ import annotations

import asyncio
import sys

import uvicorn
from mcp.server.stdio import stdio_server

from app.cli.invocation import Connect
from app.mcp_server.gateway import open_gateway
from app.mcp_server.server import build_server
from app.serve import listen
from app.settings import Settings

LOOPBACK = "127.0.0.1"
_GRACE_SECONDS = 2


def serve_stdio(settings: Settings, connect: Connect, *, collections: tuple[str, ...] = ()) -> None:
    """Serve until standard input ends; standard output carries the protocol alone."""
    asyncio.run(_stdio(settings, connect, collections))


def serve_http(settings: Settings, connect: Connect, *, port: int, collections: tuple[str, ...] = ()) -> None:
    """Serve on loopback until SIGINT or SIGTERM; requests for other hosts or from foreign pages are refused.

    Raises:
        PortTaken: The port is in use.
    """
    asyncio.run(_http(settings, connect, port, collections))


async def _stdio(settings: Settings, connect: Connect, collections: tuple[str, ...]) -> None:
    async with open_gateway(settings, connect) as gateway, stdio_server() as (reading, writing):
        server = build_server(gateway.client, collections=collections)
        await server.run(reading, writing, server.create_initialization_options())


async def _http(settings: Settings, connect: Connect, port: int, collections: tuple[str, ...]) -> None:
    listener = listen(LOOPBACK, port)
    async with open_gateway(settings, connect) as gateway:
        server = build_server(gateway.client, collections=collections)
        # For this host the SDK itself refuses foreign Host and Origin headers, against DNS rebinding.
        app = server.streamable_http_app(host=LOOPBACK)
        config = uvicorn.Config(app, log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE_SECONDS)
        sys.stderr.write(f"MCP at http://{LOOPBACK}:{listener.getsockname()[1]}/mcp\n")
        sys.stderr.flush()
        await uvicorn.Server(config).serve(sockets=[listener])
