"""Logging in to an MCP server: one connection with a person at a browser, whose tokens later ones use."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import httpx2

from app.settings import Settings
from tools.errors import ServerUnavailable, ServerUnknown
from tools.mcp.catalog import list_tools
from tools.mcp.config import McpServerConfig, read_mcp_servers
from tools.mcp.connection import McpConnection
from tools.mcp.oauth import CALLBACK_PORT, TokenFile, browser_login
from tools.mcp.transport import client_factory

LOGIN_SECONDS = 300.0
"""Time that a person has in the browser."""


def log_in(
    settings: Settings, environ: Mapping[str, str], name: str, *, port: int | None, show: Callable[[str], None]
) -> int:
    """Log in to the HTTP server of that name; returns how many tools it then lists.

    Args:
        settings: Whose home keeps the tokens.
        environ: Variables that ``mcp.json`` may name.
        name: Name of the server.
        port: Port that the browser is sent back to; None takes the usual one, 0 a free one.
        show: Shows the address that the person has to open.

    Raises:
        ServerUnknown: No HTTP server of that name is configured.
        ServerUnavailable: The server cannot be reached, or the login was refused.
    """
    read = read_mcp_servers(settings.mcp_config, environ)
    config = read.servers.get(name)
    if config is None:
        raise ServerUnknown(
            read.problems.get(name) or f"No MCP server {name!r} stands in {str(settings.mcp_config)!r}."
        )
    if not config.url:
        raise ServerUnknown(f"MCP server {name!r} is a program of this machine; only servers behind a URL have logins.")
    return asyncio.run(_log_in(settings, name, config, port=CALLBACK_PORT if port is None else port, show=show))


async def _log_in(
    settings: Settings, name: str, config: McpServerConfig, *, port: int, show: Callable[[str], None]
) -> int:
    storage = TokenFile(settings.home.mcp_logins, config.url)
    storage.delete()

    async def show_url(url: str) -> None:
        show(url)

    try:
        async with browser_login(config, storage, show_url=show_url, port=port) as provider:
            proof: httpx2.Auth = provider
            factory = client_factory(name, config, log_folder=settings.home.logs, auth=lambda _name, _config: proof)
            connection = McpConnection(name, factory, connect_timeout_seconds=LOGIN_SECONDS)
            try:
                tools = await list_tools(connection)
            finally:
                await connection.close()
            if await storage.get_tokens():
                storage.keep_issuer(provider)
            return len(tools)
    except OSError as error:
        raise ServerUnavailable(f"Port {port} is taken; choose another one with --port.") from error
