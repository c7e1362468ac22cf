"""Which addresses may be fetched, and a transport that connects to the very address that was checked.

Knows names and addresses; knows nothing of pages or documents. A server that fetches what others name can be made to
ask its own network: so each name is resolved here, once a hop, and every answer must be a public address (OWASP,
"Server Side Request Forgery Prevention"). The connection goes to that address: a second look-up could answer otherwise.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeAlias

import httpx

Address: TypeAlias = IPv4Address | IPv6Address
Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[Address]]]
"""Host and port to addresses, best first; raises ``OSError`` for a name that has none."""

_TRANSLATED = IPv6Network("64:ff9b::/96")
"""Addresses that a gateway turns into IPv4 ones (RFC 6052): their last 32 bits are what is reached."""
_REFUSED = (
    IPv4Network("168.63.129.16/32"),  # a public address at which Azure's machines find the platform itself
    IPv4Network("192.0.0.0/24"),  # protocol assignments; Oracle's cloud puts metadata there
    IPv4Network("192.88.99.0/24"),  # relays of 6to4
    IPv6Network("64:ff9b:1::/48"),  # translation inside one network (RFC 8215)
    IPv6Network("2001::/23"),  # protocol assignments, Teredo among them
    IPv6Network("2002::/16"),  # 6to4
    IPv6Network("fec0::/10"),  # site-local, of old
)
"""Networks refused beyond those that the standard library calls not global."""


class AddressRefused(Exception):
    """A URL may not be fetched; the message says why."""


def check_url(url: str) -> httpx.URL:
    """The URL in parts, without its fragment.

    Raises:
        AddressRefused: It is no ``http`` or ``https`` URL with a host, or carries a user name or password.
    """
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, UnicodeError) as error:
        raise AddressRefused(f"{url!r} is no URL.") from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise AddressRefused("Only http and https URLs with a host are fetched.")
    if parsed.port is not None and not 0 < parsed.port < 65536:
        raise AddressRefused("The URL's port is not one.")
    if parsed.userinfo:
        raise AddressRefused("A URL with a user name or password is not fetched; leave them out.")
    return parsed.copy_with(fragment=None)


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public network: not private, loopback, link-local, multicast or reserved.

    IPv6 addresses that stand for an IPv4 one (mapped, or translated by a gateway) are judged by that one.
    """
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _TRANSLATED:
            return is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if any(address in network for network in _REFUSED):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


async def resolve(host: str, port: int) -> Sequence[Address]:
    """Addresses of a host by the system's resolver; odd ways of writing a number are understood as it does."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(ip_address(str(entry[4][0]).partition("%")[0]) for entry in found))


class CheckedTransport(httpx.AsyncBaseTransport):
    """Sends requests to addresses that were checked; host header and certificate stay those of the name."""

    def __init__(self, *, allow_private: bool, resolver: Resolver = resolve) -> None:
        self._allow_private = allow_private
        self._resolver = resolver
        # Connections are not kept: they belong to an address here, and two names may share one.
        self._inner = httpx.AsyncHTTPTransport(
            verify=_authorities(os.environ.get("SSL_CERT_FILE", "")),
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer of the first address that takes a connection.

        Raises:
            AddressRefused: The name leads to an address that is not public.
            httpx.HTTPError: No address answered.
        """
        host = request.url.raw_host.decode("ascii")
        failure: httpx.TransportError = httpx.ConnectError(f"{host!r} has no address.", request=request)
        for address in await self._addresses(host, request):
            extensions = {**request.extensions, "sni_hostname": host}
            url = request.url.copy_with(host=str(address))
            pinned = httpx.Request(
                request.method, url, headers=request.headers, stream=request.stream, extensions=extensions
            )
            try:
                return await self._inner.handle_async_request(pinned)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure

    async def aclose(self) -> None:
        """Close all connections."""
        await self._inner.aclose()

    async def _addresses(self, host: str, request: httpx.Request) -> Sequence[Address]:
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        try:
            addresses = await self._resolver(host.strip("[]"), port)
        except (OSError, UnicodeError) as error:
            raise httpx.ConnectError(f"The name {host!r} cannot be resolved.", request=request) from error
        if not self._allow_private and not all(is_public(address) for address in addresses):
            raise AddressRefused(
                f"{host!r} leads to an address that is not public; such are fetched only where the settings allow it."
            )
        return addresses


@cache
def _authorities(_file: str) -> ssl.SSLContext:
    """Who may sign certificates: the file that ``SSL_CERT_FILE`` names, or those that come with the HTTP library.

    Reading them takes some 30 ms, so it is done once for each file.
    """
    return httpx.create_ssl_context(trust_env=True)
