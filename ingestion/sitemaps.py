"""Reads sitemaps (sitemaps.org, protocol 0.9) and what ``robots.txt`` allows. Knows their bytes, fetches nothing."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Any
from urllib.robotparser import RobotFileParser

from lxml import etree  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue] - no type stubs

_etree: Any = etree  # pyright: ignore[reportUnknownVariableType] - no type stubs
MAX_BYTES = 50 * 1024 * 1024
"""Largest sitemap of the protocol, unpacked."""
_GZIP = b"\x1f\x8b"
_ROOT = re.compile(rb"<(?:[\w.-]+:)?(?:urlset|sitemapindex)[\s>]")
_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Sitemap:
    """Addresses of pages, and of further sitemaps, in their order."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


class SitemapDamaged(ValueError):
    """Bytes that look like a sitemap and cannot be read as one; the message says why."""


def read_sitemap(data: bytes) -> Sitemap | None:
    """The sitemap that the bytes are, packed with gzip or not; None for any other kind of file.

    Raises:
        SitemapDamaged: It is one, but is cut off, too large or no XML.
    """
    text = _unpacked(data) if data.startswith(_GZIP) else data
    if text is None or not _ROOT.search(text[:_HEAD_BYTES]):
        return None
    if len(text) > MAX_BYTES:
        raise SitemapDamaged(f"The sitemap is larger than {MAX_BYTES} bytes.")
    parser = _etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        root = _etree.fromstring(text, parser)
    except _etree.XMLSyntaxError as error:
        raise SitemapDamaged("The sitemap is damaged and cannot be read.") from error
    return Sitemap(_locations(root, "url"), _locations(root, "sitemap"))


def _unpacked(data: bytes) -> bytes | None:
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(data, MAX_BYTES + 1)
    except zlib.error:
        return None


def _locations(root: Any, entry: str) -> tuple[str, ...]:  # an lxml element, which has no types
    found: list[Any] = root.findall(f"{{*}}{entry}/{{*}}loc")
    texts = (str(element.text or "").strip() for element in found)
    return tuple(dict.fromkeys(text for text in texts if text))


class Robots:
    """What a host allows; a host that was not asked allows all."""

    def __init__(self, text: str | None, *, user_agent: str) -> None:
        """``text`` is the ``robots.txt``; None where its server failed, which forbids all (RFC 9309, 2.3.1.4)."""
        self._user_agent = user_agent
        self._rules = RobotFileParser()
        self._rules.parse((text or "").splitlines() if text is not None else ["User-agent: *", "Disallow: /"])

    def allows(self, url: str) -> bool:
        """Whether a page may be fetched."""
        return self._rules.can_fetch(self._user_agent, url)

    @property
    def delay_seconds(self) -> float:
        """Time that the host wants between two pages; 0 where it does not say."""
        return float(self._rules.crawl_delay(self._user_agent) or 0)
