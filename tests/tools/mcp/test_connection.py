from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.mcp.notes_server import build_server
from tests.tools.mcp.servers import CONTEXT, connect, connect_in_process, notes_config, tools_of
from tools.errors import OutcomeUnknown, ServerUnavailable, ToolError
from tools.mcp.calls import call_tool
from tools.mcp.catalog import get_prompt, list_prompts, list_resources, list_tools, read_resource
from tools.mcp.config import McpServerConfig
from tools.mcp.connection import McpConnection
from tools.types import CallContext, Tool


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes.txt"


@pytest.fixture
def config(notes: Path) -> McpServerConfig:
    return notes_config(notes, risks={"fail": "read"})


@pytest.fixture(params=["auto", "legacy"])
async def connection(request: pytest.FixtureRequest, notes: Path) -> AsyncIterator[McpConnection]:
    """To a server in this process, once on the newest protocol and once on the one before it."""
    async with connect_in_process(build_server(notes), mode=request.param) as opened:
        yield opened


@pytest.fixture
async def tools(connection: McpConnection, config: McpServerConfig) -> dict[str, Tool]:
    return await tools_of(connection, config)


@pytest.fixture
async def child(config: McpServerConfig, tmp_path: Path) -> AsyncIterator[McpConnection]:
    """To a server in a process of its own."""
    async with connect("notes", config, tmp_path) as opened:
        yield opened


@pytest.fixture
async def child_tools(child: McpConnection, config: McpServerConfig) -> dict[str, Tool]:
    return await tools_of(child, config)


async def process_id(tools: dict[str, Tool]) -> int:
    return int((await tools["process_id"].function({}, CONTEXT)).text)


async def test_nothing_starts_before_the_first_use(connection: McpConnection) -> None:
    assert connection.state == "idle"
    assert "read_notes" in {tool.name for tool in await list_tools(connection)}
    assert connection.state == "ready"
    assert connection.identity is not None
    assert (connection.identity.software, connection.identity.version) == ("notes", "1.2")


async def test_both_protocols_are_spoken(config: McpServerConfig, tmp_path: Path) -> None:
    spoken: list[str] = []
    for protocol in ("auto", "legacy"):
        async with connect("notes", config.model_copy(update={"protocol": protocol}), tmp_path) as connection:
            await list_tools(connection)
            assert connection.identity is not None
            spoken.append(connection.identity.protocol_version)
    assert spoken == ["2026-07-28", "2025-11-25"]


async def test_hints_count_for_trusted_servers_alone(connection: McpConnection, config: McpServerConfig) -> None:
    trusted = {name: tool.spec.risk for name, tool in (await tools_of(connection, config)).items()}
    assert {name: risk for name, risk in trusted.items() if risk != "unknown"} == {
        "read_notes": "read",
        "add_note": "write",
        "fail": "read",
    }
    untrusted = await tools_of(connection, config.model_copy(update={"trusted": False, "risks": {}}))
    assert {tool.spec.risk for tool in untrusted.values()} == {"unknown"}


async def test_a_call_returns_the_servers_words(tools: dict[str, Tool]) -> None:
    assert (await tools["add_note"].function({"text": "hello"}, CONTEXT)).text == "added"
    assert (await tools["read_notes"].function({}, CONTEXT)).text == "hello\n"


async def test_a_failure_of_the_tool_reaches_the_model_in_words(tools: dict[str, Tool]) -> None:
    with pytest.raises(ToolError, match="read-only today"):
        await tools["fail"].function({}, CONTEXT)


async def test_progress_is_reported_while_the_call_runs(tools: dict[str, Tool]) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    context = CallContext("t", "r", "c", on_progress=hear)
    assert (await tools["count"].function({"steps": 3}, context)).text == "counted"
    assert heard == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]


async def test_a_server_that_dies_mid_call_leaves_the_outcome_unknown_and_comes_back(
    child: McpConnection, child_tools: dict[str, Tool]
) -> None:
    with pytest.raises(OutcomeUnknown):
        await child_tools["die_after_writing"].function({"text": "once"}, CONTEXT)
    assert child.state == "broken"
    with pytest.raises(ToolError, match="tried again"):
        await child_tools["read_notes"].function({}, CONTEXT)
    child.retry_now()
    assert (await child_tools["read_notes"].function({}, CONTEXT)).text == "once\n"
    assert (child.state, child.failures, child.detail) == ("ready", 0, "")


async def test_a_server_killed_between_calls_is_started_again_by_the_next_one(
    child: McpConnection, child_tools: dict[str, Tool]
) -> None:
    first = await process_id(child_tools)
    os.kill(first, signal.SIGKILL)
    async with asyncio.timeout(10):
        while child.state == "ready":  # noqa: ASYNC110 - the connection tells nobody
            await asyncio.sleep(0.01)
    assert child.state == "idle"
    assert (await child_tools["add_note"].function({"text": "again"}, CONTEXT)).text == "added"
    assert await process_id(child_tools) != first


async def test_a_server_killed_mid_call_fails_the_call_at_once(
    child: McpConnection, child_tools: dict[str, Tool]
) -> None:
    server = await process_id(child_tools)
    call = asyncio.ensure_future(child_tools["hang"].function({}, CONTEXT))
    await asyncio.sleep(0.2)
    os.kill(server, signal.SIGKILL)
    async with asyncio.timeout(2):
        with pytest.raises(OutcomeUnknown, match="went away"):
            await call


async def test_no_answer_in_time_leaves_the_outcome_unknown_and_the_session_usable(
    connection: McpConnection, tools: dict[str, Tool], notes: Path
) -> None:
    with pytest.raises(OutcomeUnknown, match=r"0\.2 seconds"):
        await call_tool(connection, "hang", {}, CONTEXT, timeout_seconds=0.2)
    assert connection.state == "ready"
    assert (await tools["read_notes"].function({}, CONTEXT)).text == "gave up\n"


async def test_a_cancelled_call_is_cancelled_at_the_server(connection: McpConnection, tools: dict[str, Tool]) -> None:
    call = asyncio.ensure_future(tools["hang"].function({}, CONTEXT))
    await asyncio.sleep(0.2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await tools["read_notes"].function({}, CONTEXT)).text == "gave up\n"


async def test_five_megabytes_come_whole(tools: dict[str, Tool]) -> None:
    text = (await tools["flood"].function({"megabytes": 5}, CONTEXT)).text
    assert (len(text), text[:5], text[-4:]) == (5_000_010, "head\n", "tail")


async def test_more_than_can_be_kept_is_said_instead(tools: dict[str, Tool]) -> None:
    output = await tools["flood"].function({"megabytes": 11}, CONTEXT)
    assert output.text == "The tool did its work and answered with 11000010 characters, too many to keep."
    assert output.structured is None


async def test_an_answer_against_the_protocol_leaves_the_outcome_unknown_and_the_session_usable(
    tools: dict[str, Tool],
) -> None:
    with pytest.raises(OutcomeUnknown, match=r"against the protocol|failed during the call"):
        await tools["lie"].function({}, CONTEXT)
    assert (await tools["add_note"].function({"text": "still here"}, CONTEXT)).text == "added"


async def test_resources_and_prompts_are_listed_and_read(connection: McpConnection, notes: Path) -> None:
    notes.write_text("first\nsecond\n", encoding="utf-8")
    found = {resource.uri: resource for resource in await list_resources(connection)}
    assert {uri: resource.template for uri, resource in found.items()} == {
        "notes://all": False,
        "notes://line/{number}": True,
    }
    [whole] = await read_resource(connection, "notes://all")
    assert (whole.text, whole.media_type) == ("first\nsecond\n", "text/plain")
    assert [piece.text for piece in await read_resource(connection, "notes://line/1")] == ["second"]
    [prompt] = await list_prompts(connection)
    assert [(argument.name, argument.required) for argument in prompt.arguments] == [("style", True)]
    [message] = await get_prompt(connection, "sum_up", {"style": "briefly"})
    assert (message.role, message.text) == ("user", "Sum up the notes, briefly.")


async def test_a_resource_that_is_not_there_is_one_sentence(connection: McpConnection) -> None:
    with pytest.raises(ServerUnavailable, match="did not read 'notes://none'"):
        await read_resource(connection, "notes://none")
    assert connection.state == "ready"


async def test_a_command_that_does_not_exist_is_one_sentence(tmp_path: Path) -> None:
    missing = McpServerConfig(command=str(tmp_path / "no-such-program"))
    async with connect("gone", missing, tmp_path) as connection:
        with pytest.raises(ServerUnavailable, match="'gone' cannot be reached"):
            await list_tools(connection)
        assert connection.state == "broken"


async def test_a_program_that_speaks_no_protocol_is_one_sentence(tmp_path: Path) -> None:
    silent = McpServerConfig(command=sys.executable, args=("-c", "print('hello')"))
    async with connect("silent", silent, tmp_path) as connection:
        with pytest.raises(ServerUnavailable, match="'silent' cannot be reached: Connection closed"):
            await list_tools(connection)


async def test_a_program_that_never_answers_is_given_up(tmp_path: Path) -> None:
    hanging = McpServerConfig(command=sys.executable, args=("-c", "import time; time.sleep(60)"))
    async with connect("hanging", hanging, tmp_path, connect_timeout_seconds=0.5) as connection:
        with pytest.raises(ServerUnavailable, match=r"did not start in 0\.5 seconds"):
            await list_tools(connection)
        assert connection.state == "broken"


async def test_words_on_stderr_go_to_a_log_and_secrets_to_the_server_alone(tmp_path: Path, notes: Path) -> None:
    program = "import os, sys; print('key', os.environ.get('KEY'), os.environ.get('OTHER'), file=sys.stderr)"
    talkative = McpServerConfig(command=sys.executable, args=("-c", program), env={"KEY": "s3"})
    async with connect("talkative", talkative, tmp_path) as connection:
        with pytest.raises(ServerUnavailable):
            await list_tools(connection)
    assert (tmp_path / "mcp-talkative.log").read_text(encoding="utf-8") == "key s3 None\n"
