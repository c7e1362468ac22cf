"""One connection to one MCP server: opened when first needed, owned by one task, reopened with back-off.

The SDK wants a client entered and left in the same task, and a client that lost its server stays dead. So a task
of our own holds it open; callers wait for it, use it, and report when it broke. Knows no policy and no ledger.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Literal, TypeAlias

from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult
from mcp.types import Tool as McpTool
from pydantic import JsonValue, ValidationError

from tools.errors import OutcomeUnknown, ToolError

logger = logging.getLogger(__name__)

ConnectionState: TypeAlias = Literal["idle", "connecting", "ready", "broken"]
Progress: TypeAlias = Callable[[float, float | None, str | None], None]
ClientFactory: TypeAlias = Callable[[], AbstractAsyncContextManager[Client]]

CONNECTION_CLOSED = -32000
REQUEST_TIMEOUT = -32001
FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 60.0


class McpConnection:
    """A server's tools, as long as it lives. All methods belong to one event loop."""

    def __init__(self, name: str, factory: ClientFactory, *, connect_timeout_seconds: float = 20.0) -> None:
        self.name = name
        self._factory = factory
        self._connect_timeout = connect_timeout_seconds
        self._owner: asyncio.Task[None] | None = None
        self._client: asyncio.Future[Client] | None = None
        self._release = asyncio.Event()
        self._failures = 0
        self._retry_at = 0.0
        self._detail = ""

    @property
    def state(self) -> ConnectionState:
        """Where the connection stands now; reading it opens nothing."""
        if self._client is None:
            return "broken" if self._failures else "idle"
        return "ready" if self._client.done() else "connecting"

    @property
    def detail(self) -> str:
        """What went wrong last, for a person; empty while all is well."""
        return self._detail

    def retry_now(self) -> None:
        """Forget the back-off, as a person does who has just mended the server."""
        self._retry_at = 0.0

    async def list_tools(self) -> list[McpTool]:
        """All tools, pages joined; tools that only run as background tasks are left out.

        Raises:
            ToolError: The server cannot be reached, or what it says does not fit the protocol.
        """
        client = await self._connected()
        tools: list[McpTool] = []
        cursor: str | None = None
        try:
            async with asyncio.timeout(self._connect_timeout):
                while True:
                    page = await client.list_tools(cursor=cursor)
                    tools += page.tools
                    cursor = page.next_cursor
                    if not cursor:
                        break
        except (MCPError, ValidationError, TimeoutError) as error:
            await self._broke(error)
            raise ToolError(f"MCP server {self.name!r} did not list its tools: {_sentence(error)}.") from error
        return [tool for tool in tools if not (tool.execution and tool.execution.task_support == "required")]

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, JsonValue],
        *,
        timeout_seconds: float,
        on_progress: Progress | None = None,
    ) -> CallToolResult:
        """Call a tool and return what the server answered, errors of the tool included.

        Raises:
            ToolError: Nothing was sent: the server cannot be reached or refused the request.
            OutcomeUnknown: The call was sent and no answer came.
        """
        client = await self._connected()

        async def report(progress: float, total: float | None, message: str | None) -> None:
            if on_progress:
                on_progress(progress, total, message)

        try:
            return await client.call_tool(
                tool, dict(arguments), read_timeout_seconds=timeout_seconds, progress_callback=report
            )
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self._broke(error)
                raise OutcomeUnknown(f"MCP server {self.name!r} went away during the call.") from error
            if error.code == REQUEST_TIMEOUT:
                raise OutcomeUnknown(
                    f"MCP server {self.name!r} did not answer in {timeout_seconds:g} seconds."
                ) from error
            raise ToolError(f"MCP server {self.name!r} refused the call: {error.message}.") from error
        except ValidationError as error:
            raise OutcomeUnknown(f"MCP server {self.name!r} answered against the protocol.") from error

    async def close(self) -> None:
        """End the connection and the server it started; the next call would open it again."""
        owner, self._owner = self._owner, None
        self._release.set()
        if owner:
            await asyncio.wait([owner])

    async def _connected(self) -> Client:
        if self._client is None:
            wait = self._retry_at - time.monotonic()
            if wait > 0:
                raise ToolError(
                    f"MCP server {self.name!r} is down ({self._detail}); it is tried again in {wait:.0f} seconds."
                )
            self._release = asyncio.Event()
            self._client = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._own(self._client, self._release), name=f"mcp-{self.name}")
        try:
            async with asyncio.timeout(self._connect_timeout):
                return await asyncio.shield(self._client)
        except TimeoutError as error:
            await self._broke(error)
            raise ToolError(f"MCP server {self.name!r} did not start in {self._connect_timeout:g} seconds.") from error

    async def _own(self, ready: asyncio.Future[Client], release: asyncio.Event) -> None:
        try:
            async with self._factory() as client:
                self._failures, self._detail = 0, ""
                ready.set_result(client)
                await release.wait()
        except (MCPError, OSError, ValidationError, ExceptionGroup) as error:
            logger.warning("mcp server failed", extra={"server": self.name, "error": _sentence(error)})
            if not ready.done():
                self._count_failure(error)
                ready.set_exception(ToolError(f"MCP server {self.name!r} cannot be reached: {self._detail}."))
                ready.exception()
        finally:
            if self._client is ready:
                self._client = None

    async def _broke(self, error: BaseException) -> None:
        self._count_failure(error)
        self._client = None
        await self.close()

    def _count_failure(self, error: BaseException) -> None:
        self._failures += 1
        self._detail = _sentence(error)
        backoff = min(FIRST_BACKOFF_SECONDS * 2 ** (self._failures - 1), LONGEST_BACKOFF_SECONDS)
        self._retry_at = time.monotonic() + backoff


def _sentence(error: BaseException) -> str:
    if isinstance(error, BaseExceptionGroup):
        inner: list[BaseException] = list(error.exceptions)  # pyright: ignore[reportUnknownArgumentType] - unbound group
        return _sentence(inner[0])
    if isinstance(error, MCPError):
        return error.message
    return str(error).partition("\n")[0] or type(error).__name__
