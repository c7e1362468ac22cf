"""What happens to every request before its route: the host is checked, the answer is counted."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.metrics import Metrics
from app.problems import DETAILS, problem, render

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
"""Always accepted: a page of another origin cannot send these (DNS rebinding keeps the page's own name)."""


_TOO_LARGE = 413


class HostGuard:
    """Refuses requests that name a host which is not ours, so that no foreign page reaches the API by rebinding."""

    def __init__(self, app: ASGIApp, *, allowed_hosts: Sequence[str]) -> None:
        self._app = app
        self._allowed = {host.lower() for host in (*allowed_hosts, *_LOOPBACK)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http" or "*" in self._allowed or _host(scope) in self._allowed:
            await self._app(scope, receive, send)
            return
        detail = "The Host header names a host that is not allowed; add it to [server] allowed_hosts."
        await render(problem(400, "host_refused", detail), scope["path"])(scope, receive, send)


class TooLargeProblem:
    """Turns the plain 413 of the server's body limit into a problem document."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and replace that one answer."""
        replaced = False

        async def replace_and_send(message: Message) -> None:
            nonlocal replaced
            if message["type"] == "http.response.start" and message["status"] == _TOO_LARGE:
                replaced = not Headers(raw=message["headers"]).get("content-type", "").endswith("json")
                if replaced:
                    await render(problem(_TOO_LARGE, "too_large", DETAILS[_TOO_LARGE]), scope["path"])(
                        scope, receive, send
                    )
            if not replaced:
                await send(message)

        await self._app(scope, receive, replace_and_send)


class RequestCounter:
    """Counts answered requests by the pattern of their route."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and count its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def count_and_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                metrics: Metrics = Request(scope).app.state.platform.metrics
                route = getattr(scope.get("route"), "path", "unknown")
                metrics.http_requests.labels(scope["method"], route, str(message["status"])).inc()
            await send(message)

        await self._app(scope, receive, count_and_send)


def _host(scope: Scope) -> str:
    """The Host header without its port, an IPv6 address with its brackets."""
    value = Headers(scope=scope).get("host", "").lower()
    if value.startswith("["):
        return value.partition("]")[0] + "]"
    return value.partition(":")[0]
