"""All servers of one ``mcp.json``: a connection each, and the tools that each one said it has last.

A server that is dead, slow or wrong costs a chat at most one short wait: its listing goes on in the background, and
until it answers nobody waits for it again. Knows no reviews and no policy.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.elicitation import ElicitationBroker
from tools.errors import ServerUnavailable, ServerUnknown, ToolDefinitionInvalid
from tools.mcp.adapter import DEFAULT_LIMITS, ServerTool, ToolLimits, adapt_tool
from tools.mcp.catalog import list_tools
from tools.mcp.config import McpServerConfig, McpServers, read_mcp_servers
from tools.mcp.connection import McpConnection
from tools.mcp.transport import AuthFactory, client_factory

logger = logging.getLogger(__name__)

DISABLED = "it is disabled in mcp.json"
DOUBTFUL_SECONDS = 0.1
"""Wait for a server that failed or was late before: enough for one that is back, too short to be felt."""


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """How a pool works.

    Attributes:
        config_path: The ``mcp.json``.
        log_folder: Where the servers' stderr goes.
        environ: Variables that ``${NAME}`` in the file takes.
        limits: Bounds of calls.
        broker: Answers servers' questions; None declares that nobody does.
        auth: Proof for HTTP servers.
        connect_timeout_seconds: Longest time that a server may take to start.
    """

    config_path: Path
    log_folder: Path
    environ: Mapping[str, str]
    limits: ToolLimits = DEFAULT_LIMITS
    broker: ElicitationBroker | None = None
    auth: AuthFactory | None = None
    connect_timeout_seconds: float = 20.0


@dataclass(frozen=True, slots=True)
class Listing:
    """What a server said of its tools.

    Attributes:
        tools: Its tools as it listed them last; None when it never did.
        current: Whether it answered just now; else ``tools`` are what is remembered.
        reason: Why it did not; empty when it did.
    """

    tools: tuple[ServerTool, ...] | None
    current: bool
    reason: str = ""


class Server:
    """One configured server."""

    def __init__(self, name: str, config: McpServerConfig, connection: McpConnection, limits: ToolLimits) -> None:
        self.name = name
        self.config = config
        self.connection = connection
        self._limits = limits
        self._known: tuple[ServerTool, ...] | None = None
        self._listing: asyncio.Task[tuple[ServerTool, ...]] | None = None
        self._reason = ""
        self._doubtful = False

    def usable(self) -> McpConnection:
        """The connection; raises ``ServerUnavailable`` for a server that is switched off."""
        if self.config.disabled:
            raise ServerUnavailable(f"MCP server {self.name!r} is not used: {DISABLED}.")
        return self.connection

    def remembered(self) -> Listing:
        """Its tools as they were listed last; asks nothing."""
        if self.config.disabled:
            return Listing(self._known, current=False, reason=DISABLED)
        return Listing(self._known, current=self._known is not None and not self._doubtful, reason=self._reason)

    async def listing(self, *, wait_seconds: float, patient: bool = False) -> Listing:
        """Its tools, asked for anew; never waits longer than ``wait_seconds``, and hardly at all in doubt.

        In doubt is a server that did not answer in time or failed: its listing goes on in the background. With
        ``patient`` it is waited for all the same.
        """
        if self.config.disabled:
            return self.remembered()
        listing = self._listing
        if listing is None:
            listing = asyncio.create_task(self._list(), name=f"mcp-tools-{self.name}")
            listing.add_done_callback(self._listed)
            self._listing = listing
        hasty = self._doubtful and not patient
        await asyncio.wait([listing], timeout=min(wait_seconds, DOUBTFUL_SECONDS) if hasty else wait_seconds)
        if not listing.done():
            self._doubtful = True
            self._reason = f"it has not said yet what tools it has ({self.connection.state})"
        return self.remembered()

    async def retry(self) -> None:
        """End the connection and forget that the server failed."""
        await self.connection.close()
        self.connection.retry_now()
        self._doubtful = False

    async def close(self) -> None:
        """End the listing and the connection."""
        if self._listing:
            self._listing.cancel()
        await self.connection.close()

    async def _list(self) -> tuple[ServerTool, ...]:
        tools = await list_tools(self.connection)
        return tuple(adapt_tool(tool, self.connection, self.config, self._limits) for tool in tools)

    def _listed(self, task: asyncio.Task[tuple[ServerTool, ...]]) -> None:
        self._listing = None
        if task.cancelled():
            return
        error = task.exception()
        self._doubtful = error is not None
        if error is None:
            self._known, self._reason = task.result(), ""
            return
        self._reason = str(error)
        if not isinstance(error, ServerUnavailable):
            logger.error("mcp listing failed", extra={"server": self.name}, exc_info=error)


class ServerPool:
    """The servers of one file, which is read again when it changes. All methods belong to one event loop."""

    def __init__(self, settings: PoolSettings) -> None:
        self._settings = settings
        self._servers: dict[str, Server] = {}
        self._problems: dict[str, str] = {}
        self._read: tuple[int, int] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self.file_problem = ""
        """Why the file as a whole cannot be read; empty when it can."""

    def servers(self) -> Mapping[str, Server]:
        """Servers that can be used, by name."""
        self._reload()
        return self._servers

    def problems(self) -> Mapping[str, str]:
        """Entries that do not fit, with a sentence each."""
        self._reload()
        return self._problems

    def server(self, name: str) -> Server:
        """The server of that name; raises ``ServerUnknown``."""
        server = self.servers().get(name)
        if server is None:
            reason = self._problems.get(name, f"there are: {', '.join(sorted(self._servers)) or 'none'}.")
            raise ServerUnknown(f"No MCP server {name!r} can be used; {reason}")
        return server

    async def listings(
        self, *, wait_seconds: float, patient: bool = False, only: str | None = None
    ) -> dict[str, Listing]:
        """What every server says of its tools, all asked at once; with ``only``, the others are not asked."""

        async def listing(server: Server) -> Listing:
            if only not in (None, server.name):
                return server.remembered()
            return await server.listing(wait_seconds=wait_seconds, patient=patient)

        servers = dict(self.servers())
        found = await asyncio.gather(*(listing(server) for server in servers.values()))
        return dict(zip(servers, found, strict=True))

    async def close(self) -> None:
        """End every connection."""
        await asyncio.gather(*(server.close() for server in self._servers.values()), *self._tasks)

    def _reload(self) -> None:
        stamp = self._stamp()
        if stamp == self._read:
            return
        self._read = stamp
        try:
            read = read_mcp_servers(self._settings.config_path, self._settings.environ)
        except ToolDefinitionInvalid as error:
            # Servers that run are not ended by a typing error in the file.
            self.file_problem = str(error)
            return
        self.file_problem = ""
        self._apply(read)

    def _apply(self, read: McpServers) -> None:
        self._problems = dict(read.problems)
        for name, server in list(self._servers.items()):
            if read.servers.get(name) != server.config:
                task = asyncio.get_running_loop().create_task(server.close())
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
                del self._servers[name]
        for name, config in read.servers.items():
            if name not in self._servers:
                self._servers[name] = self._create(name, config)

    def _create(self, name: str, config: McpServerConfig) -> Server:
        settings = self._settings
        factory = client_factory(name, config, log_folder=settings.log_folder, auth=settings.auth)
        connection = McpConnection(
            name, factory, connect_timeout_seconds=settings.connect_timeout_seconds, broker=settings.broker
        )
        return Server(name, config, connection, settings.limits)

    def _stamp(self) -> tuple[int, int]:
        try:
            status = self._settings.config_path.stat()
        except OSError:
            return (0, 0)
        return (status.st_mtime_ns, status.st_size)
