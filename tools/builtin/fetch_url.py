"""``fetch_url``: the text of a web page. An address can carry text outside, so the call is egress, not a read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Protocol, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field

from tools.builtin.passages import Passage, structured
from tools.errors import ToolError
from tools.function_tool import function_tool
from tools.types import Tool, ToolOutput

MAX_URL_CHARS = 2000
MAX_CHARS = 7000
"""Longest part of a page in one result; the rest is read with ``start``."""


class WebPage(Protocol):
    """What an address holds, as text."""

    @property
    def url(self) -> str:
        """Where the last redirect led."""
        ...

    @property
    def title(self) -> str:
        """Its title; may be empty."""
        ...

    @property
    def text(self) -> str:
        """Its text."""
        ...


ReadPage: TypeAlias = Callable[[str], Awaitable[WebPage]]
"""Fetches and reads an address. It refuses private addresses, bounds size and time of everything, and raises
``ToolError`` with one sentence for the model."""


def fetch_url_tool(read_page: ReadPage, *, timeout_seconds: float = 60.0) -> Tool:
    """The tool over one way to read pages, which has a time limit below ``timeout_seconds`` of its own."""

    async def fetch_url(
        url: Annotated[str, Field(max_length=MAX_URL_CHARS)], start: Annotated[int, Field(ge=0)] = 0
    ) -> ToolOutput:
        """Fetch a public web page and return its text.

        Args:
            url: Full address, beginning with https:// or http://.
            start: First character of the text to return; 0 is the beginning.
        """
        _require_web_address(url)
        page = await read_page(url)
        if start and start >= len(page.text):
            raise ToolError(f"The page has {len(page.text)} characters; start below that.")
        end = min(start + MAX_CHARS, len(page.text))
        piece = page.text[start:end]
        if not piece.strip():
            raise ToolError(f"{page.url} has no text that can be read.")
        rest = f"; go on with start={end}" if end < len(page.text) else ""
        passage = Passage("", "", page.url, page.title, "", None, start, end, piece)
        return ToolOutput(f"{page.title or page.url} ({page.url}){rest}\n\n{piece}", structured([passage]))

    return function_tool(fetch_url, risk="egress", timeout_seconds=timeout_seconds)


def _require_web_address(url: str) -> None:
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        raise ToolError(f"{url!r} is no address; write one that begins with https://.") from error
    if parts.scheme not in ("http", "https") or not host:
        raise ToolError(f"{url!r} is no web address; write one that begins with https://.")
    if parts.username is not None or parts.password is not None:
        raise ToolError("The address must not hold a user name or password.")
