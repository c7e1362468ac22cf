from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from tools.errors import OutcomeUnknown, ToolDefinitionInvalid, ToolError
from tools.mcp.adapter import server_tools
from tools.mcp.config import McpServerConfig, read_mcp_servers
from tools.mcp.connection import McpConnection
from tools.types import CallContext, Tool

SERVER = Path(__file__).parent / "notes_server.py"
CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")
CONFIG = McpServerConfig(command="python", trusted=True, timeout_seconds=30, risks={"fail": "read"})


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[McpConnection]:
    parameters = StdioServerParameters(command=sys.executable, args=[str(SERVER), str(tmp_path / "notes.txt")])
    opened = McpConnection("notes", lambda: Client(parameters))
    yield opened
    await opened.close()


async def by_name(connection: McpConnection, config: McpServerConfig = CONFIG) -> dict[str, Tool]:
    return {tool.spec.name: tool for tool in await server_tools(connection, config)}


async def test_nothing_starts_before_the_first_use(connection: McpConnection) -> None:
    assert connection.state == "idle"
    assert "read_notes" in await by_name(connection)
    assert connection.state == "ready"


async def test_hints_count_for_trusted_servers_alone(connection: McpConnection) -> None:
    trusted = {name: tool.spec.risk for name, tool in (await by_name(connection)).items()}
    assert trusted == {
        "read_notes": "read",
        "add_note": "write",
        "die_after_writing": "unknown",
        "hang": "unknown",
        "fail": "read",
    }
    untrusted = await by_name(connection, CONFIG.model_copy(update={"trusted": False, "risks": {}}))
    assert {tool.spec.risk for tool in untrusted.values()} == {"unknown"}


async def test_a_call_returns_the_servers_words(connection: McpConnection) -> None:
    tools = await by_name(connection)
    assert (await tools["add_note"].function({"text": "hello"}, CONTEXT)).text == "added"
    assert (await tools["read_notes"].function({}, CONTEXT)).text == "hello\n"


async def test_a_failure_of_the_tool_reaches_the_model_in_words(connection: McpConnection) -> None:
    with pytest.raises(ToolError, match="read-only today"):
        await (await by_name(connection))["fail"].function({}, CONTEXT)


async def test_a_server_that_dies_mid_call_leaves_the_outcome_unknown_and_comes_back(connection: McpConnection) -> None:
    tools = await by_name(connection)
    with pytest.raises(OutcomeUnknown):
        await tools["die_after_writing"].function({"text": "once"}, CONTEXT)
    assert connection.state == "broken"
    with pytest.raises(ToolError, match="tried again"):
        await tools["read_notes"].function({}, CONTEXT)
    connection.retry_now()
    assert (await tools["read_notes"].function({}, CONTEXT)).text == "once\n"


async def test_no_answer_in_time_leaves_the_outcome_unknown_and_the_session_usable(connection: McpConnection) -> None:
    await connection.list_tools()
    with pytest.raises(OutcomeUnknown):
        await connection.call("hang", {}, timeout_seconds=0.2)
    assert (await connection.call("read_notes", {}, timeout_seconds=30)).is_error is False


async def test_a_command_that_does_not_exist_is_one_sentence(tmp_path: Path) -> None:
    missing = McpConnection("gone", lambda: Client(StdioServerParameters(command=str(tmp_path / "no-such-program"))))
    with pytest.raises(ToolError, match="'gone' cannot be reached"):
        await missing.list_tools()
    await missing.close()


def test_the_shared_configuration_shape_is_read_and_variables_filled(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"mcpServers": {"a": {"command": "x", "args": ["-y"], "env": {"KEY": "${SECRET}"}}}}')
    servers = read_mcp_servers(path, {"SECRET": "s3"})
    assert servers["a"].env == {"KEY": "s3"}
    with pytest.raises(ToolDefinitionInvalid, match="SECRET"):
        read_mcp_servers(path, {})


@pytest.mark.parametrize(
    "entry", ["{}", '{"command": "x", "url": "http://127.0.0.1/mcp"}', '{"command": "x", "nope": 1}']
)
def test_a_server_that_does_not_fit_is_named(tmp_path: Path, entry: str) -> None:
    path = tmp_path / "mcp.json"
    path.write_text(f'{{"mcpServers": {{"a": {entry}}}}}')
    with pytest.raises(ToolDefinitionInvalid, match="mcpServers"):
        read_mcp_servers(path, {})
