"""An MCP server's tools as ours: names, schemas, risk from hints where the server is trusted, content as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from mcp.types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from mcp.types import Tool as McpTool
from pydantic import JsonValue

from tools.errors import ToolError
from tools.fingerprint import definition_fingerprint
from tools.mcp.config import McpServerConfig
from tools.mcp.connection import McpConnection
from tools.types import Arguments, CallContext, Risk, Tool, ToolOutput, ToolSpec


async def server_tools(connection: McpConnection, config: McpServerConfig) -> list[Tool]:
    """Every tool of a server; raises ``ToolError`` when the server cannot be asked."""
    return [_adapt(tool, connection, config) for tool in await connection.list_tools()]


def risk_of(tool: McpTool, config: McpServerConfig) -> Risk:
    """Risk class of a server's tool.

    The operator's word comes first. Hints are a server's own claims (MCP specification, tool annotations: not to be
    relied on unless the server is trusted), and a missing hint counts as the specification's default: destructive,
    open world.
    """
    if tool.name in config.risks:
        return config.risks[tool.name]
    hints = tool.annotations
    if not config.trusted or hints is None:
        return "unknown"
    if hints.read_only_hint:
        return "egress" if hints.open_world_hint is not False else "read"
    return "write" if hints.destructive_hint is False else "destructive"


def _adapt(tool: McpTool, connection: McpConnection, config: McpServerConfig) -> Tool:
    schema = cast(dict[str, JsonValue], {key: value for key, value in tool.input_schema.items() if key != "$schema"})
    spec = ToolSpec(
        server=connection.name,
        name=tool.name,
        description=tool.description or tool.title or tool.name,
        input_schema=schema,
        risk=risk_of(tool, config),
        idempotent=bool(config.trusted and tool.annotations and tool.annotations.idempotent_hint),
        timeout_seconds=config.timeout_seconds,
    )

    async def call(arguments: Arguments, context: CallContext) -> ToolOutput:  # noqa: ARG001 - servers get arguments alone
        result = await connection.call(tool.name, arguments, timeout_seconds=config.timeout_seconds)
        text = content_text(result)
        if result.is_error:
            raise ToolError(text or f"{spec.qualified_name!r} failed without a word.")
        return ToolOutput(text, cast(dict[str, JsonValue] | None, result.structured_content))

    return Tool(replace(spec, fingerprint=definition_fingerprint(spec)), call)


def content_text(result: CallToolResult) -> str:
    """What a result says in words; pictures and sounds are named, never inlined."""
    return "\n".join(_block_texts(result.content))


def _block_texts(
    blocks: Sequence[TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource],
) -> list[str]:
    texts: list[str] = []
    for block in blocks:
        match block:
            case TextContent():
                texts.append(block.text)
            case ImageContent() | AudioContent():
                texts.append(f"[{block.type} of type {block.mime_type}]")
            case ResourceLink():
                texts.append(f"[resource {block.name}: {block.uri}]")
            case EmbeddedResource():
                resource = block.resource
                texts.append(
                    resource.text if isinstance(resource, TextResourceContents) else f"[resource {resource.uri}]"
                )
    return texts
