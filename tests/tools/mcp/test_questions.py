"""A server asks a person in the middle of a call: on both protocols, as a form and as an address."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

import pytest
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import UrlElicitationRequiredError
from mcp.types import ElicitRequestURLParams
from pydantic import JsonValue

from tests.tools.mcp.notes_server import build_server
from tests.tools.mcp.servers import CONTEXT, connect, connect_in_process, notes_config
from tools.elicitation import Elicitation, ElicitationAction, ElicitationAnswer, fill_form
from tools.errors import ArgumentsInvalid, OutcomeUnknown, ToolError
from tools.mcp.adapter import content_text
from tools.mcp.calls import call_tool
from tools.mcp.catalog import list_tools
from tools.mcp.config import ProtocolMode
from tools.types import CallContext

MODES: tuple[ProtocolMode, ...] = ("auto", "legacy")


class Person:
    """Answers every question alike, after a while."""

    def __init__(
        self, action: ElicitationAction, content: Mapping[str, JsonValue] | None = None, *, seconds: float = 0.0
    ) -> None:
        self.asked: list[Elicitation] = []
        self._answer = ElicitationAnswer(action, content or {})
        self._seconds = seconds

    async def ask(self, elicitation: Elicitation) -> ElicitationAnswer:
        self.asked.append(elicitation)
        await asyncio.sleep(self._seconds)
        return self._answer


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> MCPServer:
    return build_server(tmp_path_factory.mktemp("notes") / "notes.txt")


@pytest.mark.parametrize("mode", MODES)
async def test_a_form_is_asked_for_the_call_and_its_answer_reaches_the_server(
    server: MCPServer, mode: ProtocolMode
) -> None:
    person = Person("accept", {"colour": "red"})
    async with connect_in_process(server, mode=mode, broker=person) as connection:
        result = await call_tool(connection, "paint", {}, CONTEXT, timeout_seconds=30)
    assert content_text(result) == "painted dark red"
    [question] = person.asked
    assert (question.server, question.tool, question.call_id) == ("notes", "paint", "c")
    assert (question.message, question.mode) == ("Which colour?", "form")
    properties = question.schema["properties"]
    assert isinstance(properties, dict)
    assert list(properties) == ["colour", "shade"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_no_ends_the_call_as_a_failure_in_words(
    server: MCPServer, mode: ProtocolMode, action: ElicitationAction
) -> None:
    async with connect_in_process(server, mode=mode, broker=Person(action)) as connection:
        result = await call_tool(connection, "paint", {}, CONTEXT, timeout_seconds=30)
    assert result.is_error


@pytest.mark.parametrize("mode", MODES)
async def test_values_that_do_not_fit_the_form_never_reach_the_server(server: MCPServer, mode: ProtocolMode) -> None:
    async with connect_in_process(server, mode=mode, broker=Person("accept", {"colour": "green"})) as connection:
        result = await call_tool(connection, "paint", {}, CONTEXT, timeout_seconds=30)
    assert result.is_error
    assert "green" not in content_text(result)


@pytest.mark.parametrize("mode", MODES)
async def test_the_time_in_which_a_person_thinks_does_not_count(server: MCPServer, mode: ProtocolMode) -> None:
    person = Person("accept", {"colour": "blue"}, seconds=1.0)
    async with connect_in_process(server, mode=mode, broker=person) as connection:
        await list_tools(connection)
        result = await call_tool(connection, "paint", {}, CONTEXT, timeout_seconds=0.8)
        assert content_text(result) == "painted dark blue"
        with pytest.raises(OutcomeUnknown):
            await call_tool(connection, "hang", {}, CONTEXT, timeout_seconds=0.1)


async def test_a_child_on_the_old_protocol_asks_for_its_one_running_call_and_for_none_of_several(
    tmp_path: Path,
) -> None:
    person = Person("accept", {"colour": "red"})
    config = notes_config(tmp_path / "notes.txt", protocol="legacy")
    async with connect("notes", config, tmp_path, broker=person) as connection:
        await call_tool(connection, "paint", {}, CONTEXT, timeout_seconds=30)
        other = CallContext("t", "r", "other")
        hanging = asyncio.ensure_future(call_tool(connection, "hang", {}, other, timeout_seconds=30))
        await asyncio.sleep(0.05)
        await call_tool(connection, "paint", {}, CONTEXT, timeout_seconds=30)
        hanging.cancel()
    assert [(question.tool, question.call_id) for question in person.asked] == [("paint", "c"), ("", "")]


@pytest.mark.parametrize("mode", MODES)
async def test_without_a_broker_the_capability_is_not_declared(server: MCPServer, mode: ProtocolMode) -> None:
    declared: list[bool] = []

    @server.tool()
    def look(context: Context) -> str:
        """Look at what the client can do."""
        capabilities = context.session.client_capabilities
        declared.append(capabilities is not None and capabilities.elicitation is not None)
        return "seen"

    for broker in (None, Person("accept")):
        async with connect_in_process(server, mode=mode, broker=broker) as connection:
            await call_tool(connection, "look", {}, CONTEXT, timeout_seconds=30)
    assert declared == [False, True]


@pytest.mark.parametrize(("action", "expected"), [("accept", "charged"), ("decline", "refused the call")])
async def test_a_call_refused_until_an_address_was_opened_is_sent_again_after_the_person_has(
    server: MCPServer, action: ElicitationAction, expected: str
) -> None:
    refused: list[str] = []

    @server.tool()
    def charge() -> str:
        """Charge a card once the person has paid elsewhere."""
        if not refused:
            refused.append("pay first")
            address = ElicitRequestURLParams(message="Pay.", url="http://127.0.0.1/pay", elicitation_id="1")
            raise UrlElicitationRequiredError([address])
        return "charged"

    person = Person(action)
    async with connect_in_process(server, mode="legacy", broker=person) as connection:
        try:
            said = content_text(await call_tool(connection, "charge", {}, CONTEXT, timeout_seconds=30))
        except ToolError as error:
            said = str(error)
    assert expected in said
    assert [(question.mode, question.url, question.call_id) for question in person.asked] == [
        ("url", "http://127.0.0.1/pay", "c")
    ]


def test_defaults_fill_a_form_and_a_misfit_is_named() -> None:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"size": {"type": "integer", "default": 3}, "name": {"type": "string"}},
        "required": ["name"],
    }
    question = Elicitation("s", "t", "c", "?", schema=schema)
    assert fill_form(question, {"name": "a"}) == {"size": 3, "name": "a"}
    with pytest.raises(ArgumentsInvalid, match="'size'"):
        fill_form(question, {"name": "a", "size": "large"})
