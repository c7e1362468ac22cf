from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator
from pydantic import JsonValue

from agents.chat_model import ChatMessage, ToolDefinition, ToolRequest
from agents.constrained import choice_schema, parse_choice, with_tools

LIMIT = ToolDefinition(
    "set_limit",
    "Set a limit.\nWaits for approval.",
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Which deployment."},
            "unit": {"enum": ["Mi", "Gi"]},
        },
        "required": ["name"],
    },
)
ANSWER = ToolDefinition("answer", "Answer now.", {"type": "object", "properties": {}})


@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        ({"tool": "set_limit", "arguments": {"name": "web", "unit": "Gi"}}, True),
        ({"tool": "answer", "arguments": {}}, True),
        ({"tool": "set_limit", "arguments": {}}, False),
        ({"tool": "drop", "arguments": {}}, False),
        ({"tool": "answer"}, False),
    ],
)
def test_the_schema_lets_one_call_of_one_tool_through(reply: dict[str, JsonValue], fits: bool) -> None:
    assert Draft202012Validator(choice_schema([LIMIT, ANSWER])).is_valid(reply) is fits


def test_tools_stand_in_the_system_message_and_calls_as_they_are_to_be_written() -> None:
    messages = with_tools(
        [
            ChatMessage("system", "Rules."),
            ChatMessage("user", "Raise it."),
            ChatMessage("assistant", "", (ToolRequest("c1", "set_limit", '{"name": "web"}'),)),
            ChatMessage("tool", "Done.", tool_request_id="c1"),
        ],
        [LIMIT, ANSWER],
    )
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[0].content.startswith("Rules.\n\nTools. ")
    line = "- set_limit(name: string, Which deployment; unit?: Mi|Gi): Set a limit. Waits for approval."
    assert line in messages[0].content.splitlines()
    assert json.loads(messages[2].content) == {"tool": "set_limit", "arguments": {"name": "web"}}
    assert messages[3].content.startswith("Result of set_limit:\nDone.\n\nIf this is what was asked for")


@pytest.mark.parametrize("text", ["", "Hello.", '{"tool": "answer"', "[1]", '{"tool": 3, "arguments": {}}', "null"])
def test_what_is_no_call_is_none(text: str) -> None:
    assert parse_choice(text) is None


def test_a_call_comes_out_as_it_was_written() -> None:
    call = parse_choice('{"tool": "set_limit", "arguments": {"name": "wéb"}}')
    assert call is not None
    assert (call.name, json.loads(call.arguments)) == ("set_limit", {"name": "wéb"})
