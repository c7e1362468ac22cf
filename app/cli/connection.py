"""The way to the API of a home: the one that runs, or the same API inside this process on a socket of its own."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.client import ApiClient
    from app.settings import Settings


@asynccontextmanager
async def connect(settings: Settings) -> AsyncGenerator[ApiClient]:
    """A client of the API that runs for this home, else of one that lives as long as the context.

    Raises:
        HomeLocked: Another process has the home open and serves no API.
    """
    from app.home_lock import running_api
    from app.serve import serve_embedded

    if running_api(settings.home) is not None:
        async with connect_running(settings) as client:
            yield client
    else:
        async with serve_embedded(settings) as client:
            yield client


@asynccontextmanager
async def connect_running(settings: Settings) -> AsyncGenerator[ApiClient]:
    """A client of the API that runs for this home.

    Raises:
        ProcessFailed: No API runs for it.
    """
    from app.client import ApiClient
    from app.errors import ProcessFailed
    from app.home_lock import running_api

    address = running_api(settings.home)
    if address is None:
        raise ProcessFailed(f"No API runs for the home {str(settings.home_path)!r}; start it with groundwork up.")
    async with ApiClient(address.url, token=address.token) as client:
        yield client
