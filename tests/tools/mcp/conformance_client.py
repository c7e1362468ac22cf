"""Our MCP client as the program that the protocol's conformance suite drives.

The suite gives the address of its server as the last argument and the scenario in the environment. We do what the
platform does: log in where the server asks for it, list everything, call every tool once.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import httpx2
from pydantic import JsonValue

from tools.elicitation import Elicitation, ElicitationAnswer
from tools.errors import ServerUnavailable, ToolError
from tools.mcp.adapter import adapt_tool
from tools.mcp.catalog import list_prompts, list_resources, list_tools
from tools.mcp.config import McpServerConfig
from tools.mcp.connection import McpConnection
from tools.mcp.oauth import TokenFile, browser_login
from tools.mcp.transport import client_factory
from tools.types import CallContext

EXAMPLES: Mapping[str, JsonValue] = {"string": "text", "integer": 1, "number": 1, "boolean": True, "array": []}


class Willing:
    """Accepts every question with its defaults."""

    async def ask(self, elicitation: Elicitation) -> ElicitationAnswer:
        """Yes, with an example for every field that has no default."""
        return ElicitationAnswer("accept", example(elicitation.schema, all_fields=False))


def example(schema: Mapping[str, JsonValue], *, all_fields: bool = True) -> dict[str, JsonValue]:
    """Arguments of the right types."""
    properties = schema.get("properties")
    required = schema.get("required")
    wanted = required if isinstance(required, list) else []
    if not isinstance(properties, dict):
        return {}
    return {
        name: EXAMPLES.get(str(rules.get("type")), {})
        for name, rules in properties.items()
        if isinstance(rules, dict) and "default" not in rules and (all_fields or name in wanted)
    }


async def follow(url: str) -> None:
    """What a person does in the browser: open the address and be sent back."""
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        await browser.get(url)


async def use(connection: McpConnection, config: McpServerConfig, calls: list[dict[str, JsonValue]]) -> None:
    """List everything and call every tool, or the calls that the scenario names."""
    context = CallContext("thread", "run", "call")
    tools = {tool.name: adapt_tool(tool, connection, config).tool for tool in await list_tools(connection)}
    chosen = calls or [
        {"name": name, "arguments": example(tool.spec.input_schema)} for name, tool in tools.items() if tool
    ]
    for call in chosen:
        tool, arguments = tools[str(call["name"])], call.get("arguments", {})
        if tool is None or not isinstance(arguments, dict):
            continue
        try:
            await tool.function(arguments, context)
        except ToolError as error:
            print(f"{call['name']}: {error}", file=sys.stderr)  # noqa: T201 - the suite shows it
    await list_resources(connection)
    await list_prompts(connection)


async def main() -> None:
    """Run one scenario."""
    config = McpServerConfig(url=sys.argv[-1], trusted=True)
    given = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    with tempfile.TemporaryDirectory() as folder:
        storage = TokenFile(Path(folder), config.url)
        tasks: set[asyncio.Task[None]] = set()

        async def show_url(url: str) -> None:
            tasks.add(asyncio.create_task(follow(url)))

        async with browser_login(config, storage, show_url=show_url, port=0) as provider:
            proof: httpx2.Auth = provider
            factory = client_factory("suite", config, log_folder=Path(folder), auth=lambda _name, _config: proof)
            connection = McpConnection("suite", factory, broker=Willing())
            try:
                await use(connection, config, given.get("toolCalls") or [])
            finally:
                await connection.close()


if __name__ == "__main__":
    try:
        asyncio.run(main())
    except ServerUnavailable as error:
        sys.exit(str(error))
