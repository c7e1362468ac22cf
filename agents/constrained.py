"""A choice of one tool by structured output: for models that write calls as text when they are asked freely.

The tools are listed in the system message, the reply is one JSON object held to a schema by the server, and earlier
calls are shown in the form that the model is to write. Works on every server with ``response_format`` of type
``json_schema`` (llama.cpp, vLLM); ``tool_choice: required`` alone left a 1.5B model free to write a code block.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import cast

from pydantic import JsonValue

from agents.chat_model import ChatMessage, ToolDefinition, ToolRequestDelta

TOOL, ARGUMENTS = "tool", "arguments"
_HEADING = 'Tools. Reply with one JSON object {"tool": NAME, "arguments": {...}} that names one of them:'

_NUDGE = (
    'If this is what was asked for, reply {"tool": "answer", "arguments": {}}. Otherwise make the call that is still '
    "missing."
)
"""Behind the latest result: without it a 1.5B model went on calling tools for ever."""


def choice_schema(tools: Sequence[ToolDefinition]) -> dict[str, JsonValue]:
    """JSON Schema of one call of one of the tools."""
    return {"anyOf": [_call_schema(tool) for tool in tools]}


def with_tools(messages: Sequence[ChatMessage], tools: Sequence[ToolDefinition]) -> list[ChatMessage]:
    """The prompt with the tools in its system message, and calls and results as plain turns."""
    names = {asked.id: asked.name for message in messages for asked in message.tool_requests}
    plain = [_plain(message, names) for message in messages]
    if messages and messages[-1].role == "tool":
        plain[-1] = replace(plain[-1], content=f"{plain[-1].content}\n\n{_NUDGE}")
    listing = "\n".join([_HEADING, *(_line(tool) for tool in tools)])
    if plain and plain[0].role == "system":
        return [replace(plain[0], content=f"{plain[0].content}\n\n{listing}"), *plain[1:]]
    return [ChatMessage("system", listing), *plain]


def parse_choice(text: str) -> ToolRequestDelta | None:
    """The call that a reply makes; None for a reply that was cut off or is no call."""
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError:
        return None
    if not isinstance(value, dict):
        return None
    choice = cast(dict[str, object], value)
    name, arguments = choice.get(TOOL), choice.get(ARGUMENTS)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    return ToolRequestDelta(0, "choice", name, json.dumps(arguments, ensure_ascii=False))


def _call_schema(tool: ToolDefinition) -> dict[str, JsonValue]:
    return {
        "type": "object",
        "properties": {TOOL: {"const": tool.name}, ARGUMENTS: dict(tool.parameters)},
        "required": [TOOL, ARGUMENTS],
        "additionalProperties": False,
    }


def _plain(message: ChatMessage, names: Mapping[str, str]) -> ChatMessage:
    if message.tool_requests:
        calls = [_written(asked.name, asked.arguments) for asked in message.tool_requests]
        return ChatMessage("assistant", "\n".join(calls))
    if message.role == "tool":
        return ChatMessage("user", f"Result of {names.get(message.tool_request_id, TOOL)}:\n{message.content}")
    return message


def _written(name: str, arguments: str) -> str:
    try:
        value: object = json.loads(arguments or "{}")
    except json.JSONDecodeError:
        value = {}
    return json.dumps({TOOL: name, ARGUMENTS: value}, ensure_ascii=False)


def _line(tool: ToolDefinition) -> str:
    """``- name(argument: type, words; ...): what it does``, optional arguments with a question mark."""
    properties = tool.parameters.get("properties")
    required = tool.parameters.get("required")
    needed = required if isinstance(required, list) else []
    fields = properties if isinstance(properties, dict) else {}
    parts = [_field(name, schema, optional=name not in needed) for name, schema in fields.items()]
    return f"- {tool.name}({'; '.join(parts)}): {' '.join(tool.description.split())}"


def _field(name: str, schema: JsonValue, *, optional: bool) -> str:
    known = schema if isinstance(schema, dict) else {}
    kind = known.get("type")
    choices = known.get("enum")
    shown = "|".join(map(str, choices)) if isinstance(choices, list) else kind if isinstance(kind, str) else "any"
    words = known.get("description")
    about = f", {words.rstrip('.')}" if isinstance(words, str) and words else ""
    return f"{name}{'?' if optional else ''}: {shown}{about}"
