"""Web pages for the tool ``fetch_url``: fetched from checked addresses, read in a process with limits of its own."""

from __future__ import annotations

import asyncio
import mimetypes
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from ingestion.parse_worker import ParseTask
from ingestion.remote import in_stated_encoding
from ingestion.settings import IngestionSettings, RemoteSettings
from ingestion.web import Fetched, FetchFailed, FetchLimits, fetch
from ingestion.web_address import Resolver, resolve
from ingestion.workers import ParsePool
from tools.errors import ToolError

MAX_PAGE_BYTES = 5 * 1024 * 1024
"""A chat reads a few thousand characters of a page; what is larger is ingested."""


@dataclass(frozen=True, slots=True)
class WebPageText:
    """A page as text, and where the last redirect led."""

    url: str
    title: str
    text: str


class WebPages:
    """Fetches and reads; its process starts with the first page and ends with ``close``."""

    def __init__(self, ingestion: IngestionSettings, remote: RemoteSettings, *, resolver: Resolver = resolve) -> None:
        self._options = ingestion.load_options()
        self._limits = FetchLimits(
            max_bytes=min(MAX_PAGE_BYTES, ingestion.max_file_bytes),
            seconds=remote.timeout_seconds,
            redirects=remote.max_redirects,
            allow_private=remote.allow_private_addresses,
        )
        self._resolver = resolver
        self._pool = ParsePool(
            workers=1,
            timeout_seconds=min(remote.timeout_seconds, ingestion.parse_timeout_seconds),
            memory_bytes=ingestion.parse_memory_bytes,
        )

    async def read(self, url: str) -> WebPageText:
        """The text at an address; raises ``ToolError`` with one sentence for the model."""
        try:
            page = await fetch(url, limits=self._limits, resolver=self._resolver)
        except FetchFailed as error:
            raise ToolError(error.detail) from error
        with tempfile.TemporaryDirectory(prefix="groundwork-page-") as folder:
            path = Path(folder) / "page"
            await asyncio.to_thread(path.write_bytes, in_stated_encoding(page))
            task = ParseTask(
                path=path,
                name=_name(page),
                max_bytes=self._limits.max_bytes,
                options=self._options,
                spill=Path(folder) / "inside",
            )
            result = await asyncio.wrap_future(self._pool.submit(task))
        if result.document is None:
            raise ToolError(result.detail or f"{page.final_url} holds other files and no text of its own.")
        return WebPageText(page.final_url, result.document.title, result.document.text)

    async def close(self) -> None:
        """End the process."""
        await asyncio.to_thread(self._pool.close)


def _name(page: Fetched) -> str:
    """A file's name for the page: loaders look at the ending where the bytes do not tell."""
    name = PurePosixPath(urlsplit(page.final_url).path).name or "page"
    return name if PurePosixPath(name).suffix else name + (mimetypes.guess_extension(page.media_type) or "")
