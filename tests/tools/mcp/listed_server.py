"""A real MCP server whose tools stand in a JSON file that the test writes anew: name, description, schema, hints."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool

FILE = Path(sys.argv[1])


async def list_tools(_context: Any, _params: Any) -> ListToolsResult:
    """The tools of the file, as they stand now."""
    tools = json.loads(FILE.read_text(encoding="utf-8"))
    return ListToolsResult(tools=[Tool.model_validate({"inputSchema": {"type": "object"}, **tool}) for tool in tools])


async def call_tool(_context: Any, params: CallToolRequestParams) -> CallToolResult:
    """The name of the tool and where its definition stands."""
    return CallToolResult(content=[TextContent(type="text", text=f"{params.name} of {FILE.stem}")])


async def main() -> None:
    """Serve on standard streams."""
    server: Server[Any] = Server("listed", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


if __name__ == "__main__":
    asyncio.run(main())
