"""A real MCP server of texts: resources of several kinds, a template, prompts, and suggestions for their blanks."""

from __future__ import annotations

import os

from mcp.server import MCPServer
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    EmbeddedResource,
    PromptReference,
    ResourceTemplateReference,
    TextResourceContents,
)

SENTENCE = "The node pool burst-4 had 17 nodes when the pager rang."
REPORT = f"# Incident 42\n\n## What happened\n\n{SENTENCE}\n\n## What was done\n\nThe quota was raised.\n"
PLAN = "The fallback plan moves the checkout service to the region eu-south within 9 minutes."
SHIFTS = {"monday": "On Monday Ines is on call.", "tuesday": "On Tuesday Otto is on call."}


def build_server() -> MCPServer:
    """The server."""
    server = MCPServer("texts", version="1.0")

    @server.resource("texts://report", mime_type="text/markdown", title="Incident report", description="Of one night.")
    def report() -> str:
        return REPORT

    @server.resource("texts://picture", mime_type="image/png")
    def picture() -> bytes:
        return b"\x89PNG\r\n\x1a\n"

    @server.resource("texts://page", mime_type="text/html")
    def page() -> str:
        return f"<html><body><h1>Plan</h1><p>{PLAN}</p><script>alert(1)</script></body></html>"

    @server.resource("texts://notes.txt", mime_type="application/octet-stream")
    def binary() -> bytes:
        return f"{PLAN}\n".encode()

    @server.resource("texts://shift/{day}", mime_type="text/plain", description="Who is on call.")
    def shift(day: str) -> str:
        return SHIFTS[day]

    @server.prompt(title="Ask about a day", description="Who is on call on a day.")
    def who(day: str) -> str:
        return f"Who is on call on {day}?"

    @server.prompt(description="Look at the plan.")
    def look_at_plan() -> list[Message]:
        resource = TextResourceContents(uri="texts://plan", mime_type="text/plain", text=PLAN)
        return [
            UserMessage("How fast does the fallback plan move the checkout service?"),
            UserMessage(EmbeddedResource(type="resource", resource=resource)),
        ]

    @server.tool()
    def die() -> str:
        """End the server."""
        os._exit(1)

    @server.completion()
    async def suggest(
        ref: PromptReference | ResourceTemplateReference, argument: CompletionArgument, context: CompletionContext
    ) -> Completion:
        del ref, context
        return Completion(values=[day for day in SHIFTS if day.startswith(argument.value)])

    return server


if __name__ == "__main__":
    build_server().run(transport="stdio")
