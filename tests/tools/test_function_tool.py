from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.samples import RESTART
from tools.arguments import parse_arguments, validate_arguments
from tools.errors import ArgumentsInvalid, ToolDefinitionInvalid, ToolUnknown
from tools.function_tool import function_tool
from tools.output import cap_output
from tools.registry import ToolRegistry, wire_name
from tools.types import CallContext, ToolOutput

CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")


def test_schema_and_words_come_from_the_function() -> None:
    spec = RESTART.spec
    assert (spec.name, spec.description, spec.risk) == ("restart_deployment", "Restart a deployment.", "write")
    assert spec.input_schema["required"] == ["name"]
    properties = spec.input_schema["properties"]
    assert isinstance(properties, dict)
    assert properties["name"] == {
        "description": "Name of the deployment, without its namespace.",
        "title": "Name",
        "type": "string",
    }


async def test_the_context_reaches_the_function_and_never_the_schema() -> None:
    async def whoami(context: CallContext) -> ToolOutput:
        """Tell who calls."""
        return ToolOutput(context.call_id)

    tool = function_tool(whoami, risk="read")
    assert tool.spec.input_schema["properties"] == {}
    assert await tool.function({}, CONTEXT) == ToolOutput("c")


def test_an_undescribed_argument_is_refused() -> None:
    async def delete(name: str) -> ToolOutput:
        """Delete something."""
        raise NotImplementedError

    with pytest.raises(ToolDefinitionInvalid, match="'name'"):
        function_tool(delete, risk="destructive")


@pytest.mark.parametrize("text", ['{"name": "\\ud83d"}', '{"name": "web", "replicas": NaN}'])
def test_arguments_that_could_not_be_stored_as_shown_are_refused(text: str) -> None:
    with pytest.raises(ArgumentsInvalid, match="cannot carry"):
        validate_arguments(RESTART.spec, parse_arguments(text))


@pytest.mark.parametrize("text", ['{"name": "we', "[]", '{"a": 1} and more', "true"])
def test_arguments_that_are_no_json_object_are_refused(text: str) -> None:
    with pytest.raises(ArgumentsInvalid):
        parse_arguments(text)


@pytest.mark.parametrize(
    "arguments", [{}, {"name": 3}, {"name": "web", "force": True}, {"name": "web", "replicas": "x"}]
)
def test_arguments_that_do_not_fit_are_named(arguments: dict[str, object]) -> None:
    with pytest.raises(ArgumentsInvalid, match="restart_deployment"):
        validate_arguments(RESTART.spec, parse_arguments(json.dumps(arguments)))


def test_an_unknown_tool_is_answered_with_the_names_that_exist() -> None:
    with pytest.raises(ToolUnknown, match="restart_deployment"):
        ToolRegistry([RESTART]).get("reboot")


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDefinitionInvalid, match="rename one server"):
        ToolRegistry([RESTART, RESTART])


@given(st.text(min_size=1, max_size=200))
def test_wire_names_fit_the_wire_and_are_stable(name: str) -> None:
    wired = wire_name(name)
    assert 1 <= len(wired) <= 64
    assert all(character.isascii() and (character.isalnum() or character in "_-") for character in wired)
    assert wired == wire_name(name)


@given(st.text(max_size=400), st.integers(min_value=10, max_value=200))
def test_capped_output_keeps_head_and_tail_within_the_limit(text: str, limit: int) -> None:
    capped = cap_output(text, max_chars=limit, handle="call-7")
    assert capped.truncated == (len(text) > limit)
    if capped.truncated:
        head, note, tail = capped.text.partition("characters cut; the whole output is stored under call-7]\n")
        assert note
        assert text.startswith(head.rpartition("[")[0].rstrip("\n"))
        assert text.endswith(tail)
    else:
        assert capped.text == text
