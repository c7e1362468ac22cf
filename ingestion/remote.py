"""Brings what lies outside this machine into files: web pages, the pages of a sitemap, objects of a bucket.

Knows addresses and a folder; what comes out is what ``sources.discover`` gives for paths, so that nothing behind it
knows where a file came from. A page that cannot be had is a failure of its own.
"""

from __future__ import annotations

import asyncio
import codecs
import mimetypes
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal, TypeAlias

import httpx

from ingestion.bucket import fetch_bucket
from ingestion.ignoring import IgnoreRules
from ingestion.settings import RemoteSettings
from ingestion.sitemaps import Robots, Sitemap, SitemapDamaged, read_sitemap
from ingestion.sources import Discovery, Source
from ingestion.types import FailureReason, FileOutcome
from ingestion.web import USER_AGENT, Fetched, FetchFailed, FetchLimits, fetch
from ingestion.web_address import Resolver, resolve

_SITEMAP_DEPTH = 3
_AT_ONCE = 4
"""Pages asked of one host at the same time; one where it wants time between them."""
_LONGEST_DELAY_SECONDS = 10.0
_ENDINGS = {"text/markdown": ".md", "text/html": ".html", "application/xhtml+xml": ".html", "text/plain": ".txt"}


@dataclass(frozen=True, slots=True)
class Root:
    """An address that was looked at whole: what is gone from under it may be pruned. Not ``whole``: nothing may."""

    address: str
    whole: bool = True


FoundRemote: TypeAlias = Source | FileOutcome | Root


@dataclass(frozen=True, slots=True)
class RemoteFetch:
    """How addresses are fetched.

    Attributes:
        folder: Empty folder for the files; who gives it removes it.
        settings: Limits and permissions.
        max_file_bytes: Larger files fail with ``too_large``.
        exclude: Patterns of paths that are left out, below a sitemap's or bucket's address.
        resolver: Gives the addresses of a host.
    """

    folder: Path
    settings: RemoteSettings
    max_file_bytes: int
    exclude: Sequence[str] = ()
    resolver: Resolver = resolve


async def discover_remote(addresses: Sequence[str], how: RemoteFetch) -> Discovery:
    """All that the addresses name, as files of ``how.folder``.

    Raises:
        PatternRefused: A pattern of ``how.exclude`` cannot be understood.
    """
    sources: dict[str, Source] = {}
    failures: list[FileOutcome] = []
    roots: list[str] = []
    unreadable: list[str] = []
    async with aclosing(fetch_sources(addresses, how)) as found:
        async for item in found:
            match item:
                case Source():
                    sources.setdefault(item.source, item)
                case FileOutcome():
                    failures.append(item)
                    if item.reason != "not_found":
                        unreadable.append(item.source)
                case Root(address, whole):
                    (roots if whole else unreadable).append(address)
    ordered = sorted(sources.values(), key=lambda source: source.source)
    return Discovery(tuple(ordered), tuple(failures), tuple(roots), tuple(unreadable))


async def fetch_sources(addresses: Sequence[str], how: RemoteFetch) -> AsyncGenerator[FoundRemote]:
    """Each thing that the addresses name, as soon as it is here; failures are given as outcomes and end nothing."""
    await asyncio.to_thread(how.folder.mkdir, parents=True, exist_ok=True)
    web = _Web(how)
    for number, address in enumerate(dict.fromkeys(addresses)):
        if address.startswith("s3://"):
            async with aclosing(_bucket(address, replace(how, folder=how.folder / f"bucket-{number}"))) as found:
                async for item in found:
                    yield item
        else:
            async with aclosing(web.address(address)) as found:
                async for item in found:
                    yield item


async def _bucket(address: str, how: RemoteFetch) -> AsyncGenerator[FoundRemote]:
    rules = IgnoreRules.of(Path("/"), how.exclude)
    listing = await asyncio.to_thread(
        fetch_bucket, address, folder=how.folder, settings=how.settings, max_file_bytes=how.max_file_bytes, rules=rules
    )
    for source in listing.sources:
        yield source
    for failure in listing.failures:
        yield failure
    yield Root(address.rstrip("/"), whole=listing.whole)


@dataclass(slots=True)
class _Web:
    """Fetches pages and sitemaps; remembers what each host allows."""

    how: RemoteFetch
    count: int = 0
    total_bytes: int = 0
    robots: dict[str, Robots] = field(default_factory=dict[str, Robots])

    async def address(self, url: str) -> AsyncGenerator[FoundRemote]:
        """The page, or all pages of the sitemap, that a URL names."""
        try:
            fetched = await self._fetch(url)
            sitemap = read_sitemap(fetched.data)
        except FetchFailed as error:
            yield _failure(url, error.reason, error.detail)
            return
        except SitemapDamaged as error:
            yield _failure(url, "corrupt", str(error))
            return
        if sitemap is None:
            yield await self._keep(fetched)
            return
        async with aclosing(self._pages_of(url, sitemap)) as found:
            async for item in found:
                yield item

    async def _pages_of(self, url: str, sitemap: Sitemap) -> AsyncGenerator[FoundRemote]:
        """Pages of a sitemap and of those it names. Pages of other hosts count only where the settings allow them."""
        home = httpx.URL(url)
        pages: dict[str, None] = {}
        failures = [item async for item in self._list_pages(url, sitemap, pages, depth=1)]
        for failure in failures:
            yield failure
        rules = IgnoreRules.of(Path("/"), self.how.exclude)
        wanted = [page for page in pages if self._belongs(page, home) and not rules.leaves_out(_path(page))]
        most = self.how.settings.max_files
        if len(wanted) > most:
            detail = f"The sitemap names more than {most} pages; the first are taken (remote.max_files)."
            yield _failure(url, "too_large", detail)
        yield Root(_folder(home), whole=not failures and len(wanted) <= most)
        at_once = 1 if (await self._robots_of(home)).delay_seconds else _AT_ONCE
        for start in range(0, min(len(wanted), most), at_once):
            batch = wanted[start : min(start + at_once, most)]
            for item in await asyncio.gather(*(self._page(page) for page in batch)):
                yield item

    async def _list_pages(
        self, url: str, sitemap: Sitemap, pages: dict[str, None], *, depth: int
    ) -> AsyncGenerator[FileOutcome]:
        """Fill ``pages``; yields the sitemaps that cannot be read."""
        pages.update(dict.fromkeys(sitemap.pages))
        for inner in sitemap.sitemaps:
            if len(pages) > self.how.settings.max_files:
                return
            if not self._belongs(inner, httpx.URL(url)):
                continue
            if depth == _SITEMAP_DEPTH:
                yield _failure(inner, "too_large", f"Sitemaps are followed {_SITEMAP_DEPTH} deep.")
                continue
            try:
                read = read_sitemap((await self._fetch(inner)).data)
            except FetchFailed as error:
                yield _failure(inner, error.reason, error.detail)
            except SitemapDamaged as error:
                yield _failure(inner, "corrupt", str(error))
            else:
                async for failure in self._list_pages(inner, read or Sitemap(), pages, depth=depth + 1):
                    yield failure

    def _belongs(self, url: str, home: httpx.URL) -> bool:
        try:
            return self.how.settings.other_hosts or httpx.URL(url).host == home.host
        except httpx.InvalidURL:
            return False

    async def _page(self, url: str) -> FoundRemote:
        try:
            robots = await self._robots_of(httpx.URL(url))
            if not robots.allows(url):
                detail = "The site's robots.txt asks for this page not to be fetched."
                return FileOutcome(source=url, status="skipped", reason="address_refused", detail=detail)
            await asyncio.sleep(min(robots.delay_seconds, _LONGEST_DELAY_SECONDS))
            return await self._keep(await self._fetch(url))
        except FetchFailed as error:
            return _failure(url, error.reason, error.detail)

    async def _robots_of(self, url: httpx.URL) -> Robots:
        origin = f"{url.scheme}://{url.netloc.decode('ascii')}"
        if origin not in self.robots:
            try:
                text = (await self._fetch(f"{origin}/robots.txt")).data.decode("utf-8", "replace")
            except FetchFailed as error:
                refused = error.reason == "not_found" or 400 <= error.status < 500
                text = "" if refused else None
            self.robots[origin] = Robots(text, user_agent=USER_AGENT)
        return self.robots[origin]

    async def _fetch(self, url: str) -> Fetched:
        settings = self.how.settings
        limits = FetchLimits(
            max_bytes=self.how.max_file_bytes,
            seconds=settings.timeout_seconds,
            redirects=settings.max_redirects,
            allow_private=settings.allow_private_addresses,
        )
        return await fetch(url, limits=limits, resolver=self.how.resolver)

    async def _keep(self, fetched: Fetched) -> FoundRemote:
        self.total_bytes += len(fetched.data)
        if self.total_bytes > self.how.settings.max_total_bytes:
            detail = "The pages together are too large (remote.max_total_bytes); ingest them in parts."
            return _failure(fetched.url, "too_large", detail)
        self.count += 1
        path = self.how.folder / f"page-{self.count}"
        await asyncio.to_thread(path.write_bytes, in_stated_encoding(fetched))
        return Source(_without_fragment(fetched.url), path, _ending(fetched))


def _failure(source: str, reason: FailureReason, detail: str) -> FileOutcome:
    return FileOutcome(source=source, status="failed", reason=reason, detail=detail)


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _folder(url: httpx.URL) -> str:
    """The folder that a sitemap speaks for: its own, by the protocol."""
    parent = PurePosixPath(url.path).parent.as_posix().rstrip("/")
    return f"{url.scheme}://{url.netloc.decode('ascii')}{parent}"


def _path(url: str) -> Path:
    return Path("/" + httpx.URL(url).path.lstrip("/"))


def _ending(fetched: Fetched) -> str:
    """An ending by the stated type for a name without one; loaders look at the bytes first all the same."""
    name = PurePosixPath(httpx.URL(fetched.url).path)
    if name.suffix:
        return ""
    return _ENDINGS.get(fetched.media_type) or mimetypes.guess_extension(fetched.media_type) or ""


def in_stated_encoding(fetched: Fetched) -> bytes:
    """The body, made UTF-8 with its mark where it is not and the server states what it is."""
    if not fetched.charset or not fetched.media_type.startswith("text/") or _decodes(fetched.data, "utf-8"):
        return fetched.data
    try:
        codecs.lookup(fetched.charset)
        return fetched.data.decode(fetched.charset).encode("utf-8-sig")
    except (LookupError, UnicodeError):
        return fetched.data


def _decodes(data: bytes, encoding: Literal["utf-8"]) -> bool:
    try:
        data.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
