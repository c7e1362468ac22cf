"""A server's tools as ours: name, risk, schema and fingerprint; and its answers as text for the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
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
from tools.fingerprint import canonical_json, definition_fingerprint
from tools.mcp.calls import call_tool
from tools.mcp.config import McpServerConfig
from tools.mcp.connection import McpConnection
from tools.types import Arguments, CallContext, Risk, Tool, ToolOutput, ToolSpec

MAX_RESULT_CHARS = 10_000_000
"""A larger answer is refused: nobody reads it, and every copy of it costs memory and disk."""
MAX_NAME_CHARS = 128
"""Longest tool name of the MCP specification."""
QUESTION_MARGIN_SECONDS = 5.0
"""Added to a call's outer time limit, so that the inner one, which knows what was sent, strikes first."""


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Bounds of calls, where the server's entry names none.

    Attributes:
        timeout_seconds: Time limit of a call, waiting for people left out.
        question_seconds: Longest time that a person's answer to a server's question may take.
    """

    timeout_seconds: float = 60.0
    question_seconds: float = 0.0


DEFAULT_LIMITS = ToolLimits()


@dataclass(frozen=True, slots=True)
class ServerTool:
    """A tool as its server defines it.

    Attributes:
        tool: The tool as we call it; ``None`` when it cannot be offered.
        problem: Why it cannot be offered; empty otherwise.
        spec: Its specification, in either case.
        definition: What the server says of it, for people to look at.
        risk_reason: Where its risk class comes from.
    """

    spec: ToolSpec
    definition: Mapping[str, JsonValue]
    risk_reason: str
    tool: Tool | None = None
    problem: str = ""


def adapt_tool(
    tool: McpTool, connection: McpConnection, config: McpServerConfig, limits: ToolLimits = DEFAULT_LIMITS
) -> ServerTool:
    """A server's tool as ours."""
    definition = definition_of(tool)
    risk, reason = risk_of(tool, config)
    timeout = config.timeout_seconds or limits.timeout_seconds
    spec = ToolSpec(
        server=connection.name,
        name=tool.name,
        description=tool.description or tool.title or tool.name,
        input_schema=cast(dict[str, JsonValue], definition["input_schema"]),
        risk=risk,
        idempotent=bool(config.trusted and tool.annotations and tool.annotations.idempotent_hint),
        timeout_seconds=timeout + QUESTION_MARGIN_SECONDS + (limits.question_seconds if connection.questions else 0.0),
    )
    spec = replace(spec, fingerprint=definition_fingerprint(spec, claims=definition))
    problem = _problem(spec)
    if problem:
        return ServerTool(spec, definition, reason, problem=problem)
    if key := config.idempotency.get(tool.name, ""):
        spec = replace(spec, idempotency_argument=key, input_schema=_without(spec.input_schema, key))

    async def call(arguments: Arguments, context: CallContext) -> ToolOutput:
        result = await call_tool(connection, tool.name, arguments, context, timeout_seconds=timeout)
        text = content_text(result)
        if result.is_error:
            raise ToolError(text[:MAX_RESULT_CHARS] or f"{spec.qualified_name!r} failed without a word.")
        if len(text) > MAX_RESULT_CHARS:
            return ToolOutput(f"The tool did its work and answered with {len(text)} characters, too many to keep.")
        return ToolOutput(text, cast(dict[str, JsonValue] | None, result.structured_content))

    return ServerTool(spec, definition, reason, tool=Tool(spec, call))


def definition_of(tool: McpTool) -> dict[str, JsonValue]:
    """What a server says of its tool, as JSON for a review and its fingerprint."""
    hints = tool.annotations.model_dump(exclude_none=True) if tool.annotations else {}
    schema = {key: value for key, value in tool.input_schema.items() if key != "$schema"}
    said: dict[str, JsonValue] = {
        "title": tool.title or "",
        "description": tool.description or "",
        "input_schema": cast(dict[str, JsonValue], schema),
        "output_schema": cast(JsonValue, tool.output_schema),
        "hints": cast(dict[str, JsonValue], hints),
    }
    return {key: value for key, value in said.items() if value or key == "input_schema"}


def risk_of(tool: McpTool, config: McpServerConfig) -> tuple[Risk, str]:
    """Risk class of a server's tool, and where it comes from.

    The operator's word comes first. Hints are a server's own claims (MCP specification, tool annotations: not to be
    relied on unless the server is trusted), and a missing hint counts as the specification's default: destructive,
    open world.
    """
    if tool.name in config.risks:
        return config.risks[tool.name], "set in mcp.json"
    hints = tool.annotations
    if hints is None:
        return "unknown", "the server says nothing of what it can do"
    if not config.trusted:
        return "unknown", "the server is not trusted, so its hints do not count"
    if hints.read_only_hint:
        if hints.open_world_hint is not False:
            return "egress", "the trusted server says that it only reads, but reaches outside"
        return "read", "the trusted server says that it only reads"
    if hints.destructive_hint is False:
        return "write", "the trusted server says that it changes things and destroys nothing"
    return "destructive", "the trusted server does not say that it destroys nothing"


def content_text(result: CallToolResult) -> str:
    """What a result says in words; pictures and sounds are named, never inlined."""
    text = "\n".join(_block_texts(result.content))
    if not text and result.structured_content is not None:
        return canonical_json(cast(JsonValue, result.structured_content))
    return text


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


def _problem(spec: ToolSpec) -> str:
    """Why a tool cannot be offered; empty when it can."""
    if len(spec.name) > MAX_NAME_CHARS:
        return f"its name is longer than {MAX_NAME_CHARS} characters"
    return _schema_problem(spec.input_schema)


def _schema_problem(schema: Mapping[str, JsonValue]) -> str:
    """Why arguments cannot be held against this schema; empty when they can."""
    if schema.get("type") != "object":
        return "its input schema is not that of an object"
    if _points_outside(dict(schema)):
        return "its input schema refers to another document"
    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        return f"its input schema is not valid ({error.message})"
    return ""


def _points_outside(value: JsonValue) -> bool:
    """Whether a ``$ref`` leaves the schema: the validator would fetch whatever address a server writes there."""
    if isinstance(value, list):
        return any(_points_outside(item) for item in value)
    if not isinstance(value, dict):
        return False
    for key, item in value.items():
        if key in ("$ref", "$dynamicRef", "$recursiveRef") and isinstance(item, str) and not item.startswith("#"):
            return True
        if _points_outside(item):
            return True
    return False


def _without(schema: Mapping[str, JsonValue], argument: str) -> dict[str, JsonValue]:
    """The schema without an argument that Groundwork fills in itself."""
    properties, required = schema.get("properties"), schema.get("required")
    left = dict(schema)
    if isinstance(properties, dict):
        left["properties"] = {name: rules for name, rules in properties.items() if name != argument}
    if isinstance(required, list):
        left["required"] = [name for name in required if name != argument]
    return left
