"""Fetches one URL within limits: addresses checked at every hop, size and time bounded. Knows nothing of documents."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import httpx

from ingestion.web_address import AddressRefused, CheckedTransport, Resolver, check_url, resolve

FetchReason: TypeAlias = Literal[
    "address_refused", "not_found", "too_large", "timeout", "unsupported_type", "fetch_failed"
]
"""Closed set: why a URL was not fetched."""

USER_AGENT = "Groundwork"
_GONE = frozenset((404, 410))


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """What one fetch may do.

    Attributes:
        max_bytes: Most bytes of the body, unpacked.
        seconds: Time for everything: names, redirects, body.
        redirects: Most redirects that are followed.
        media_types: Beginnings of the content types that are taken, ``text/`` for example; none takes all.
        allow_private: Whether addresses that are not public may be asked.
    """

    max_bytes: int = 20 * 1024 * 1024
    seconds: float = 30.0
    redirects: int = 5
    media_types: tuple[str, ...] = ()
    allow_private: bool = False


@dataclass(frozen=True, slots=True)
class Fetched:
    """A body and what its server says of it.

    Attributes:
        url: What was asked for.
        final_url: Where the last redirect led.
        media_type: Lower case, without parameters; empty when the server names none.
        charset: Encoding that the server states, lower case; often empty, sometimes wrong.
        data: The body, unpacked.
        etag: The server's mark of this version; may be empty.
        last_modified: When it changed, as the server writes it; may be empty.
    """

    url: str
    final_url: str
    media_type: str
    charset: str
    data: bytes = field(repr=False)
    etag: str = ""
    last_modified: str = ""


class FetchFailed(Exception):
    """A URL was not fetched; the message is one sentence for a person."""

    def __init__(self, reason: FetchReason, detail: str, *, status: int = 0) -> None:
        """``status`` is the server's answer; 0 where it gave none."""
        super().__init__(detail)
        self.status = status
        self.reason: FetchReason = reason
        self.detail = detail


async def fetch(url: str, *, limits: FetchLimits, resolver: Resolver = resolve) -> Fetched:
    """Get what a URL names. No proxy of the environment is used, and no cookie or credential is sent.

    Raises:
        FetchFailed: With the reason; nothing of the body is kept then.
    """
    transport = CheckedTransport(allow_private=limits.allow_private, resolver=resolver)
    headers = {"User-Agent": USER_AGENT, "Accept": "*/*", "Accept-Encoding": "identity"}
    try:
        async with (
            asyncio.timeout(limits.seconds),
            httpx.AsyncClient(transport=transport, headers=headers, trust_env=False, timeout=limits.seconds) as client,
        ):
            return await _follow(client, url, limits)
    except AddressRefused as error:
        raise FetchFailed("address_refused", str(error)) from error
    except (TimeoutError, httpx.TimeoutException) as error:
        raise FetchFailed("timeout", f"The server took longer than {limits.seconds:g} seconds.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise FetchFailed(
            "fetch_failed", f"The server could not be asked ({str(error) or type(error).__name__})."
        ) from error


async def _follow(client: httpx.AsyncClient, url: str, limits: FetchLimits) -> Fetched:
    here = check_url(url)
    for _ in range(limits.redirects + 1):
        client.cookies.clear()
        async with client.stream("GET", here) as response:
            if response.is_redirect and "location" in response.headers:
                here = check_url(str(here.join(response.headers["location"])))
                continue
            return await _take(response, url, limits)
    raise FetchFailed("fetch_failed", f"The server redirects more than {limits.redirects} times.")


async def _take(response: httpx.Response, url: str, limits: FetchLimits) -> Fetched:
    if response.status_code in _GONE:
        detail = f"The server says that it has no such page ({response.status_code})."
        raise FetchFailed("not_found", detail, status=response.status_code)
    if not response.is_success:
        detail = f"The server answers with status {response.status_code}."
        raise FetchFailed("fetch_failed", detail, status=response.status_code)
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if limits.media_types and not media_type.startswith(limits.media_types):
        raise FetchFailed(
            "unsupported_type", f"The server sends {media_type or 'an unnamed type'!r}, which is not read."
        )
    return Fetched(
        url=url,
        final_url=str(response.request.url),
        media_type=media_type,
        charset=response.charset_encoding or "",
        data=await _body(response, limits.max_bytes),
        etag=response.headers.get("etag", ""),
        last_modified=response.headers.get("last-modified", ""),
    )


async def _body(response: httpx.Response, max_bytes: int) -> bytes:
    stated = response.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > max_bytes:
        raise _too_large(max_bytes)
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
        if len(body) > max_bytes:
            raise _too_large(max_bytes)
    return bytes(body)


def _too_large(max_bytes: int) -> FetchFailed:
    return FetchFailed("too_large", f"The page is larger than {max_bytes} bytes.")
