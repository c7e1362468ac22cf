"""Close a stream when its reader leaves, whatever made it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

Item = TypeVar("Item")


@asynccontextmanager
async def closing(stream: AsyncIterator[Item]) -> AsyncGenerator[AsyncIterator[Item]]:
    """The stream; its generator is closed on the way out, so that whoever works behind it stops at once."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()
