"""A real MCP server on standard streams: reads, writes, fails, dies and hangs on request."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("notes")
NOTES = Path(sys.argv[1])


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def read_notes() -> str:
    """Read all notes."""
    return NOTES.read_text(encoding="utf-8") if NOTES.exists() else ""


@server.tool(annotations=ToolAnnotations(destructive_hint=False, idempotent_hint=False))
def add_note(text: str) -> str:
    """Add a note."""
    with NOTES.open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")
    return "added"


@server.tool()
def die_after_writing(text: str) -> str:
    """Write, then die before answering."""
    add_note(text)
    os._exit(1)


@server.tool()
async def hang() -> str:
    """Never answer."""
    await asyncio.Event().wait()
    raise NotImplementedError


@server.tool()
def fail() -> str:
    """Fail in words."""
    raise ToolError("the notes are read-only today")


if __name__ == "__main__":
    server.run(transport="stdio")
