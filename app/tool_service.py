"""The tools of this home: built-ins, and those of MCP servers that somebody has reviewed. Decides no call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncEngine

from app.settings import Settings
from app.tool_schema import (
    CompletionAsk,
    CompletionValues,
    PromptInfo,
    PromptLine,
    PromptListing,
    PromptText,
    ResourceInfo,
    ResourceListing,
    ResourcePiece,
    ResourceText,
    ServerInfo,
    ToolInfo,
    ToolListing,
)
from tools.errors import ReviewStale, ServerUnknown
from tools.registry import ToolRegistry
from tools.reviews import ReviewStore, ToolKey
from tools.types import Tool

if TYPE_CHECKING:
    from app.tool_states import Judged
    from tools.elicitation import ElicitationBroker
    from tools.mcp.pool import PoolSettings, Server, ServerPool

PATIENT_SECONDS = 30.0
"""Longest wait for a server when a person asks for its tools, who sees that something is on its way."""


class ToolService:
    """What may be offered to models, and why the rest may not. All methods belong to one event loop.

    MCP is loaded when a home has an ``mcp.json``: the library takes a second to import.
    """

    def __init__(
        self,
        settings: Settings,
        engine: AsyncEngine,
        *,
        environ: Mapping[str, str],
        builtins: Sequence[Tool] = (),
        broker: ElicitationBroker | None = None,
    ) -> None:
        self.config_path = settings.mcp_config
        self._settings = settings
        self._environ = environ
        self._builtins = tuple(builtins)
        self._broker = broker
        self._reviews = ReviewStore(engine)
        self._pool: ServerPool | None = None

    async def registry(self) -> ToolRegistry:
        """Built-ins, and the tools of servers that are reviewed, switched on, and answer now.

        Takes no longer than ``[tools] listing_seconds``, whatever the servers do; never raises because of one.
        """
        judged = await self._judged(wait_seconds=self._settings.tools.listing_seconds)
        offered = [entry.item.tool for entry in judged if entry.state == "offered" and entry.item.tool]
        return ToolRegistry([*self._builtins, *offered])

    async def find(self, server: str, tool: str) -> Tool | None:
        """A tool by its server and name, whose server may be slow or down; None when nobody has let it in."""
        for builtin in self._builtins:
            if (builtin.spec.server, builtin.spec.name) == (server, tool):
                return builtin
        wait = self._settings.tools.listing_seconds
        for patient in (False, True):
            judged = await self._judged(wait_seconds=PATIENT_SECONDS if patient else wait, patient=patient, only=server)
            known = next((entry for entry in judged if entry.key == (server, tool)), None)
            if known:
                return known.item.tool if known.state in ("offered", "unavailable") else None
        return None

    async def listing(self, *, server: str | None = None, patient: bool = False) -> ToolListing:
        """Servers and tools as they stand.

        Args:
            server: This server alone.
            patient: Wait for servers that start slowly.

        Raises:
            ServerUnknown: No server of that name is configured.
        """
        pool = await self._open_pool()
        if pool is None:
            if server is not None:
                raise _no_server(server)
            return ToolListing(servers=[], tools=[])
        if server is not None and server not in pool.problems():
            pool.server(server)
        from app.tool_states import judge, remembered_tools, tool_info

        wait = PATIENT_SECONDS if patient else self._settings.tools.listing_seconds
        listings = await pool.listings(wait_seconds=wait, patient=patient, only=server)
        reviews = await self._reviews.all()
        tools = [tool_info(entry) for entry in judge(listings, reviews, self._builtins)]
        tools += remembered_tools(reviews.values(), listings)
        return ToolListing(
            servers=[info for info in _server_infos(pool) if server in (None, info.name)],
            tools=[info for info in tools if server in (None, info.server)],
            problem=pool.file_problem,
        )

    async def servers(self) -> list[ServerInfo]:
        """Configured servers and their health; asks and starts none."""
        pool = await self._open_pool()
        return _server_infos(pool) if pool else []

    async def tools(self) -> list[ToolInfo]:
        """Every tool of every server, with its state."""
        return (await self.listing()).tools

    async def review(self, server: str, tool: str, *, fingerprint: str, actor: str, accept: bool) -> ToolInfo:
        """Keep that a person looked at a tool's definition and lets it in, or not.

        Raises:
            ServerUnknown: There is no such tool, or its server does not answer.
            ReviewStale: The definition is another one than the person saw.
        """
        item = (await self._current(server, tool)).item
        if item.spec.fingerprint != fingerprint:
            raise ReviewStale(f"The tool {tool!r} of {server!r} changed meanwhile; look at it again.")
        await self._reviews.record(
            ToolKey(server, tool), fingerprint=fingerprint, definition=item.definition, enabled=accept, actor=actor
        )
        return await self._info(server, tool)

    async def set_enabled(self, server: str, tool: str, *, enabled: bool, actor: str) -> ToolInfo:
        """Switch a reviewed tool on or off.

        Raises:
            ServerUnknown: Nobody has reviewed such a tool.
        """
        if not await self._reviews.set_enabled(ToolKey(server, tool), enabled=enabled, actor=actor):
            raise ServerUnknown(f"Nobody has reviewed a tool {tool!r} of {server!r}; review it first.")
        return await self._info(server, tool)

    async def restart(self, server: str) -> ServerInfo:
        """End a server's connection, forget its failures, and connect anew."""
        found = await self.server(server)
        await found.retry()
        await found.listing(wait_seconds=PATIENT_SECONDS, patient=True)
        return next(info for info in await self.servers() if info.name == server)

    async def server(self, name: str) -> Server:
        """A configured server; raises ``ServerUnknown``."""
        pool = await self._open_pool()
        if pool is None:
            raise _no_server(name)
        return pool.server(name)

    async def resources(self, server: str) -> ResourceListing:
        """What a server has to read. Raises ``ServerUnknown`` and ``ServerUnavailable``."""
        from tools.mcp.catalog import list_resources

        found = await list_resources((await self.server(server)).usable())
        return ResourceListing(server=server, resources=[ResourceInfo(**item.model_dump()) for item in found])

    async def read_resource(self, server: str, uri: str) -> ResourceText:
        """One resource, untrusted text. Raises ``ServerUnknown`` and ``ServerUnavailable``."""
        from tools.mcp.catalog import read_resource

        pieces = await read_resource((await self.server(server)).usable(), uri)
        return ResourceText(server=server, pieces=[ResourcePiece(**piece.model_dump()) for piece in pieces])

    async def prompts(self, server: str) -> PromptListing:
        """A server's prompts. Raises ``ServerUnknown`` and ``ServerUnavailable``."""
        from tools.mcp.catalog import list_prompts

        found = await list_prompts((await self.server(server)).usable())
        return PromptListing(server=server, prompts=[PromptInfo(**item.model_dump()) for item in found])

    async def prompt(self, server: str, name: str, arguments: Mapping[str, str]) -> PromptText:
        """A prompt with its blanks filled in, untrusted text. Raises ``ServerUnknown`` and ``ServerUnavailable``."""
        from tools.mcp.catalog import get_prompt

        messages = await get_prompt((await self.server(server)).usable(), name, arguments)
        lines = [PromptLine.model_validate(message.model_dump()) for message in messages]
        return PromptText(server=server, name=name, messages=lines)

    async def complete(self, server: str, asked: CompletionAsk) -> CompletionValues:
        """What a server suggests for a blank. Raises ``ServerUnknown`` and ``ServerUnavailable``."""
        from tools.mcp.catalog import CompletionTarget, complete

        target = CompletionTarget(prompt=asked.prompt, template=asked.template)
        connection = (await self.server(server)).usable()
        return CompletionValues(values=await complete(connection, target, asked.argument, asked.value, asked.others))

    async def close(self) -> None:
        """End every server that was started."""
        if self._pool:
            await self._pool.close()

    async def _judged(self, *, wait_seconds: float, patient: bool = False, only: str | None = None) -> list[Judged]:
        pool = await self._open_pool()
        if pool is None:
            return []
        from app.tool_states import judge

        listings = await pool.listings(wait_seconds=wait_seconds, patient=patient, only=only)
        return judge(listings, await self._reviews.all(), self._builtins)

    async def _info(self, server: str, tool: str) -> ToolInfo:
        tools = (await self.listing(server=server)).tools
        found = next((info for info in tools if info.tool == tool), None)
        if found is None:
            raise ServerUnknown(f"MCP server {server!r} no longer lists a tool {tool!r}.")
        return found

    async def _current(self, server: str, tool: str) -> Judged:
        await self.server(server)
        judged = await self._judged(wait_seconds=PATIENT_SECONDS, patient=True, only=server)
        found = next((entry for entry in judged if entry.key == (server, tool)), None)
        if found is None:
            raise ServerUnknown(f"MCP server {server!r} lists no tool {tool!r}; see groundwork mcp test {server}.")
        return found

    async def _open_pool(self) -> ServerPool | None:
        if self._pool is None and self.config_path.is_file():
            pool_class = await asyncio.to_thread(_load)
            if self._pool is None:
                self._pool = pool_class(self._pool_settings())
        return self._pool

    def _pool_settings(self) -> PoolSettings:
        from tools.mcp.adapter import ToolLimits
        from tools.mcp.oauth import stored_login
        from tools.mcp.pool import PoolSettings

        tools, home = self._settings.tools, self._settings.home
        return PoolSettings(
            config_path=self.config_path,
            log_folder=home.logs,
            environ=self._environ,
            limits=ToolLimits(
                timeout_seconds=tools.call_timeout_seconds,
                question_seconds=tools.approval_minutes * 60,
            ),
            broker=self._broker,
            auth=stored_login(home.mcp_logins),
        )


def _load() -> type[ServerPool]:
    from tools.mcp.pool import ServerPool

    return ServerPool


def _no_server(name: str) -> ServerUnknown:
    return ServerUnknown(f"No MCP server {name!r} is configured; add it with groundwork mcp add.")


def _server_infos(pool: ServerPool) -> list[ServerInfo]:
    infos = [_server_info(server) for server in pool.servers().values()]
    return infos + [_invalid_server(name, problem) for name, problem in pool.problems().items()]


def _server_info(server: Server) -> ServerInfo:
    config, connection, identity = server.config, server.connection, server.connection.identity
    return ServerInfo(
        name=server.name,
        state="disabled" if config.disabled else connection.state,
        transport="http" if config.url else "stdio",
        endpoint=config.endpoint,
        trusted=config.trusted,
        detail=connection.detail,
        failures=connection.failures,
        retry_in_seconds=round(connection.retry_in_seconds, 1),
        protocol_version=identity.protocol_version if identity else "",
        software=f"{identity.software} {identity.version}".strip() if identity else "",
        capabilities=list(identity.capabilities) if identity else [],
        ignored_keys=list(config.ignored_keys),
    )


def _invalid_server(name: str, problem: str) -> ServerInfo:
    return ServerInfo(
        name=name,
        state="invalid",
        transport="",
        endpoint="",
        trusted=False,
        detail=problem,
        failures=0,
        retry_in_seconds=0.0,
        protocol_version="",
        software="",
        capabilities=[],
        ignored_keys=[],
    )
