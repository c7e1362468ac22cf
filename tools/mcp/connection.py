"""One connection to one MCP server: opened when first needed, owned by one task, reopened with back-off.

The SDK wants a client entered and left in the same task, and a client that lost its server stays dead. So a task
of our own holds it open; callers wait for it, use it, and report when it broke. Knows no policy and no ledger.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, TypeVar

import httpx2
from mcp.client.auth import OAuthFlowError
from mcp.client.client import Client
from mcp.client.session import ElicitationFnT
from mcp.shared.exceptions import MCPError
from mcp.types import CONNECTION_CLOSED, METHOD_NOT_FOUND
from pydantic import ValidationError

from tools.elicitation import ElicitationBroker
from tools.errors import ServerUnavailable
from tools.mcp.questions import Questions

logger = logging.getLogger(__name__)

T = TypeVar("T")
ConnectionState: TypeAlias = Literal["idle", "connecting", "ready", "broken"]

NOT_SENT = -32055
"""JSON-RPC error that our HTTP transport makes when a request never left: the server's port refused the connection.
From the range that the specification leaves to implementations."""
SESSION_LOST = -32056
"""The same for a request that an HTTP server did not carry out because it no longer knows our session."""

FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 60.0
CLOSE_SECONDS = 10.0

Failure = (
    MCPError,
    OSError,
    ValidationError,
    ExceptionGroup,
    httpx2.HTTPError,
    OAuthFlowError,
    ValueError,
    RuntimeError,
)
"""What the SDK raises when a server cannot be reached or speaks another language."""


@dataclass(frozen=True, slots=True)
class ClientHooks:
    """What a connection wants to hear from its client."""

    on_end: Callable[[], None]
    """The server's stream has ended: it died, or it was closed."""
    elicitation: ElicitationFnT | None
    """Answers its questions; None when nobody does, so that the capability is not declared."""


ClientFactory: TypeAlias = Callable[[ClientHooks], AbstractAsyncContextManager[Client]]


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """What a connected server said of itself; its own words, not to be trusted."""

    protocol_version: str
    software: str
    version: str
    capabilities: tuple[str, ...]


@dataclass(slots=True)
class Opening:
    """One attempt at a server and the client that came of it."""

    ready: asyncio.Future[Client]
    release: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    failed: bool = False
    """Counted among the failures; several callers may report the same one."""


class McpConnection:
    """The connection to a server. All methods belong to one event loop."""

    def __init__(
        self,
        name: str,
        factory: ClientFactory,
        *,
        connect_timeout_seconds: float = 20.0,
        broker: ElicitationBroker | None = None,
    ) -> None:
        self.name = name
        self.questions = Questions(name, broker) if broker else None
        self._factory = factory
        self._connect_timeout = connect_timeout_seconds
        self._opened: Opening | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._retry_at = 0.0
        self._detail = ""
        self._identity: ServerIdentity | None = None

    @property
    def state(self) -> ConnectionState:
        """Where the connection stands now; reading it opens nothing."""
        if self._opened is None:
            return "broken" if self._failures else "idle"
        return "ready" if self._opened.ready.done() else "connecting"

    @property
    def detail(self) -> str:
        """What went wrong last, for a person; empty while all is well."""
        return self._detail

    @property
    def failures(self) -> int:
        """Failures since the server last answered."""
        return self._failures

    @property
    def retry_in_seconds(self) -> float:
        """Time until a broken server is tried again; 0 when it may be tried now."""
        return max(0.0, self._retry_at - time.monotonic()) if self._opened is None else 0.0

    @property
    def identity(self) -> ServerIdentity | None:
        """What the server said of itself when it was connected last."""
        return self._identity

    def retry_now(self) -> None:
        """Forget the back-off, as a person does who has just mended the server."""
        self._retry_at = 0.0

    async def ask(self, work: Callable[[Client], Awaitable[T]], *, what: str) -> T:
        """The result of a request that changes nothing; tried again once when the server had gone unnoticed.

        Args:
            work: Sends the request.
            what: What the server should do, in words that follow "did not".

        Raises:
            ServerUnavailable: The server cannot be reached, refuses, or answers against the protocol.
        """
        for attempt in range(2):
            opened, client = await self.connect()
            try:
                async with asyncio.timeout(self._connect_timeout):
                    return await work(client)
            except MCPError as error:
                if lost(error):
                    self.broke(opened, error)
                    if attempt == 0 and self._failures == 1:
                        self.retry_now()
                        continue
                elif error.code == METHOD_NOT_FOUND:
                    raise ServerUnavailable(f"MCP server {self.name!r} does not offer to {what}.") from error
                raise ServerUnavailable(f"MCP server {self.name!r} did not {what}: {sentence(error)}.") from error
            except (ValidationError, TimeoutError) as error:
                self.broke(opened, error)
                raise ServerUnavailable(f"MCP server {self.name!r} did not {what}: {sentence(error)}.") from error
        raise AssertionError("the second attempt returns or raises")

    async def connect(self) -> tuple[Opening, Client]:
        """The open client, and the opening that it belongs to, for ``broke``.

        Raises:
            ServerUnavailable: The server is down, or was a moment ago.
        """
        opened = self._opened or self._open()
        try:
            async with asyncio.timeout(self._connect_timeout):
                return opened, await asyncio.shield(opened.ready)
        except TimeoutError as error:
            reason = f"it did not start in {self._connect_timeout:g} seconds"
            self.broke(opened, TimeoutError(reason))
            raise ServerUnavailable(f"MCP server {self.name!r} cannot be reached: {reason}.") from error

    def broke(self, opened: Opening, error: BaseException) -> None:
        """Give an opened client up; the next caller opens another one after the back-off."""
        if self._opened in (opened, None) and not opened.failed:
            self._opened = None
            self._count_failure(error)
        opened.failed = True
        self._end(opened)

    async def close(self) -> None:
        """End the connection and the server it started; the next call would open it again."""
        opened, self._opened = self._opened, None
        if opened:
            self._end(opened)
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks), timeout=CLOSE_SECONDS)
            for task in late:
                task.cancel()

    def _open(self) -> Opening:
        if self.retry_in_seconds > 0:
            raise ServerUnavailable(
                f"MCP server {self.name!r} is down ({self._detail}); "
                f"it is tried again in {self.retry_in_seconds:.0f} seconds."
            )
        opened = Opening(asyncio.get_running_loop().create_future())
        self._opened = opened
        opened.task = asyncio.create_task(self._own(opened), name=f"mcp-{self.name}")
        self._tasks.add(opened.task)
        opened.task.add_done_callback(self._tasks.discard)
        return opened

    async def _own(self, opened: Opening) -> None:
        answer = self.questions.answer if self.questions else None
        hooks = ClientHooks(on_end=lambda: self._ended(opened), elicitation=answer)
        error: BaseException = ConnectionError("it ended while it started")
        try:
            async with self._factory(hooks) as client:
                self._failures, self._detail = 0, ""
                self._identity = _identity(client)
                opened.ready.set_result(client)
                await opened.release.wait()
        except Failure as failure:
            error = failure
            logger.warning("mcp server failed", extra={"server": self.name, "error": sentence(failure)})
        finally:
            if not opened.ready.done():
                if self._opened is opened:
                    self._count_failure(error)
                reason = f"MCP server {self.name!r} cannot be reached: {sentence(error)}."
                opened.ready.set_exception(ServerUnavailable(reason))
                opened.ready.exception()  # somebody may have stopped waiting for it
            if self._opened is opened:
                self._opened = None

    def _ended(self, opened: Opening) -> None:
        """The stream ended between calls: no failure yet, the next call simply starts the server anew."""
        if self._opened is opened and opened.ready.done():
            self._opened = None
            opened.release.set()

    def _end(self, opened: Opening) -> None:
        opened.release.set()
        if not opened.ready.done() and opened.task:
            opened.task.cancel()

    def _count_failure(self, error: BaseException) -> None:
        self._failures += 1
        self._detail = sentence(error)
        backoff = min(FIRST_BACKOFF_SECONDS * 2 ** (self._failures - 1), LONGEST_BACKOFF_SECONDS)
        self._retry_at = time.monotonic() + backoff


def lost(error: MCPError) -> bool:
    """Whether the client that got this error is of no use any more."""
    return error.code in (CONNECTION_CLOSED, NOT_SENT, SESSION_LOST)


def sentence(error: BaseException) -> str:
    """What went wrong in one line without its full stop."""
    if isinstance(error, BaseExceptionGroup):
        inner: list[BaseException] = list(error.exceptions)  # pyright: ignore[reportUnknownArgumentType] - unbound group
        return sentence(inner[0])
    if isinstance(error, MCPError):
        return error.message.rstrip(".")
    if isinstance(error, ValidationError):
        return "it answered against the protocol"
    return str(error).partition("\n")[0].rstrip(".") or type(error).__name__


def _identity(client: Client) -> ServerIdentity:
    info = client.server_info
    capabilities = client.server_capabilities
    offered = [name for name in ("tools", "resources", "prompts") if getattr(capabilities, name) is not None]
    return ServerIdentity(
        protocol_version=client.protocol_version,
        software=info.name if info else "",
        version=info.version if info else "",
        capabilities=tuple(offered),
    )
