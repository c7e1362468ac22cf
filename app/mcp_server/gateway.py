"""How the MCP server gets at the API: the one that runs for the home, asked anew for each request, else its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from app.cli.invocation import Connect
from app.client import ApiClient
from app.home_lock import running_api
from app.settings import Settings


@dataclass(frozen=True, slots=True)
class Gateway:
    """Opens a client per request, so that an API that was restarted is found again."""

    settings: Settings
    connect: Connect
    own: ApiClient | None
    """Client of an API inside this process; None while one runs outside."""

    def client(self) -> AbstractAsyncContextManager[ApiClient]:
        """A client for one request."""
        return self._client()

    @asynccontextmanager
    async def _client(self) -> AsyncGenerator[ApiClient]:
        if self.own is not None:
            yield self.own
        else:
            async with self.connect(self.settings) as client:
                yield client


@asynccontextmanager
async def open_gateway(settings: Settings, connect: Connect) -> AsyncGenerator[Gateway]:
    """The way to the home as long as the context; without a running API the home is this process's own.

    Raises:
        HomeLocked: Another process has the home open and serves no API.
    """
    if running_api(settings.home) is not None:
        yield Gateway(settings, connect, own=None)
    else:
        async with connect(settings) as client:
            yield Gateway(settings, connect, own=client)
