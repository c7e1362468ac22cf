"""Calls of the API about tools and their servers."""

from __future__ import annotations

from app.tool_schema import ServerInfo, ToolInfo, ToolListing, ToolReview, ToolSwitch
from ui.http import HttpApi, segment


class ToolCalls:
    """Servers, tools and their reviews. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def listing(self) -> ToolListing:
        """Servers and tools as they stand."""
        return self._http.get("/api/tools", ToolListing)

    def review(self, review: ToolReview) -> ToolInfo:
        """Let a definition in, or not; ``ApiRefused`` with the status 409 when it has changed meanwhile."""
        return self._http.send("POST", "/api/tools/reviews", ToolInfo, body=review)

    def switch(self, switch: ToolSwitch) -> ToolInfo:
        """Switch a reviewed tool on or off."""
        return self._http.send("POST", "/api/tools/enabled", ToolInfo, body=switch)

    def restart(self, server: str) -> ServerInfo:
        """End a server's connection and connect anew; waits for it."""
        return self._http.send("POST", f"/api/tools/servers/{segment(server)}/restart", ServerInfo)
