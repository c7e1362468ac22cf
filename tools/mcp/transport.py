"""From a configuration to a client: a child process, or HTTP with headers and OAuth. Knows no policy and no retries."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import Context
from http import HTTPStatus
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TextIO, TypeAlias, TypeVar

import anyio
import httpx2
from mcp.client._transport import ReadStream, Transport, TransportStreams
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import MCP_SESSION_ID, streamable_http_client
from mcp.types import Implementation

from tools.mcp.config import McpServerConfig
from tools.mcp.connection import NOT_SENT, SESSION_LOST, ClientFactory, ClientHooks

T = TypeVar("T")
AuthFactory: TypeAlias = Callable[[str, McpServerConfig], httpx2.Auth | None]
"""What proves us to the HTTP server of that name; None where it needs no proof, or there is none yet."""

CLIENT_INFO = Implementation(name="groundwork", title="Groundwork", version=version("groundwork"))
HTTP_TIMEOUT = httpx2.Timeout(30.0, read=None)
"""A server may think for long; calls have time limits of their own."""
STDERR_LIMIT_BYTES = 5_000_000


def client_factory(
    name: str, config: McpServerConfig, *, log_folder: Path, auth: AuthFactory | None = None
) -> ClientFactory:
    """Opens clients of one server.

    Args:
        name: Name of the server.
        config: How it is reached.
        log_folder: Where the words go that a child process writes to its stderr.
        auth: Proof for HTTP servers.
    """

    @asynccontextmanager
    async def open_client(hooks: ClientHooks) -> AsyncGenerator[Client]:
        async with AsyncExitStack() as stack:
            if config.command:
                transport = stdio_client(_parameters(config), errlog=stack.enter_context(_stderr(log_folder, name)))
            else:
                proof = auth(name, config) if auth else None
                http = await stack.enter_async_context(http_client(name, config, auth=proof))
                transport = streamable_http_client(config.url, http_client=http)
            client = Client(
                _watched(transport, hooks.on_end),
                client_info=CLIENT_INFO,
                elicitation_callback=hooks.elicitation,
                mode=config.protocol,
            )
            yield await stack.enter_async_context(client)

    return open_client


def http_client(name: str, config: McpServerConfig, *, auth: httpx2.Auth | None) -> httpx2.AsyncClient:
    """The HTTP client for a server, with its headers."""
    return httpx2.AsyncClient(
        headers=dict(config.headers), auth=auth, timeout=HTTP_TIMEOUT, transport=_Transport(name, login=auth is None)
    )


def _parameters(config: McpServerConfig) -> StdioServerParameters:
    return StdioServerParameters(
        command=config.command, args=list(config.args), env=dict(config.env) or None, cwd=config.cwd
    )


def _stderr(folder: Path, name: str) -> TextIO:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"mcp-{name}.log"
    fresh = not path.exists() or path.stat().st_size > STDERR_LIMIT_BYTES
    return path.open("w" if fresh else "a", encoding="utf-8")


class _Transport(httpx2.AsyncHTTPTransport):
    """Turns a refused connection and a missing login into answers.

    So the session survives and the call's outcome is known: the SDK would end the whole client, and the call would
    look as if it may have happened.
    """

    def __init__(self, name: str, *, login: bool) -> None:
        super().__init__()
        self._name = name
        self._login = login

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            if request.method != "POST":
                raise
            return _refusal(NOT_SENT, str(error) or "the connection was refused")
        if response.status_code == HTTPStatus.UNAUTHORIZED and self._login:
            await response.aclose()
            return _refusal(NOT_SENT, f"it wants a login; run groundwork mcp login {self._name}")
        if response.status_code == HTTPStatus.NOT_FOUND and MCP_SESSION_ID in request.headers:
            # MCP specification, streamable HTTP, session management: 404 is the end of the session.
            await response.aclose()
            return _refusal(SESSION_LOST, "it no longer knows the session")
        return response


def _refusal(code: int, message: str) -> httpx2.Response:
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return httpx2.Response(HTTPStatus.SERVICE_UNAVAILABLE, json=error)


@asynccontextmanager
async def _watched(transport: Transport, on_end: Callable[[], None]) -> AsyncGenerator[TransportStreams]:
    """The same transport; says when its read side ends."""
    async with transport as (read_stream, write_stream):
        yield _Watched(read_stream, on_end), write_stream


class _Watched(Generic[T]):
    """A read stream that reports its end."""

    def __init__(self, inner: ReadStream[T], on_end: Callable[[], None]) -> None:
        self._inner = inner
        self._on_end = on_end

    @property
    def last_context(self) -> Context | None:
        """Context of whoever sent the last item; the SDK answers a server's question in it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> T:
        try:
            return await self._inner.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            self._on_end()
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> ReadStream[T]:
        return self

    async def __anext__(self) -> T:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(exc_type, exc_val, exc_tb)
