"""Dead, slow, wrong and changed servers beside good ones."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.mcp.servers import CONTEXT, NOTES_SERVER
from tools.errors import ServerUnknown
from tools.mcp.pool import PoolSettings, ServerPool

HANGING = {"command": sys.executable, "args": ["-c", "import time; time.sleep(600)"]}
DEAD = {"command": sys.executable, "args": ["-c", "raise SystemExit(1)"]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


@pytest.fixture
async def pool(path: Path, tmp_path: Path) -> AsyncIterator[ServerPool]:
    opened = ServerPool(PoolSettings(config_path=path, log_folder=tmp_path, environ={}))
    yield opened
    await opened.close()


def write(path: Path, **servers: object) -> None:
    path.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")


def notes(path: Path) -> dict[str, object]:
    return {"command": sys.executable, "args": [str(NOTES_SERVER), str(path.parent / "notes.txt")]}


async def test_bad_servers_are_named_and_the_good_one_lists_its_tools(pool: ServerPool, path: Path) -> None:
    write(path, good=notes(path), hanging=HANGING, dead=DEAD, off={**DEAD, "disabled": True}, wrong={})
    await pool.listings(wait_seconds=20, only="good")
    listings = await pool.listings(wait_seconds=2)
    assert listings["good"].current
    assert "add_note" in {item.spec.name for item in listings["good"].tools or ()}
    assert {name: (listing.current, listing.tools) for name, listing in listings.items() if name != "good"} == {
        "hanging": (False, None),
        "dead": (False, None),
        "off": (False, None),
    }
    assert listings["hanging"].reason == "it has not said yet what tools it has (connecting)"
    assert listings["dead"].reason == "MCP server 'dead' cannot be reached: Connection closed."
    assert listings["off"].reason == "it is disabled in mcp.json"
    assert "give either 'command' or 'url'" in pool.problems()["wrong"]


async def test_a_hanging_server_is_waited_for_once(pool: ServerPool, path: Path) -> None:
    write(path, hanging=HANGING)
    loop = asyncio.get_running_loop()
    assert not (await pool.listings(wait_seconds=0.5))["hanging"].current
    start = loop.time()
    for _ in range(3):
        assert not (await pool.listings(wait_seconds=60))["hanging"].current
    # Three full waits would take three minutes; the bound is far from both.
    assert loop.time() - start < 20


async def test_tools_of_a_server_that_went_down_are_remembered(pool: ServerPool, path: Path) -> None:
    program = path.parent / "notes_program.py"
    program.write_bytes(NOTES_SERVER.read_bytes())
    write(path, good={"command": sys.executable, "args": [str(program), str(path.parent / "notes.txt")]})
    first = (await pool.listings(wait_seconds=20))["good"]
    assert first.current
    good = pool.server("good")
    # What runs is ended like a crash, and it cannot start again: its program is gone.
    await good.connection.close()
    program.unlink()
    after = (await pool.listings(wait_seconds=20))["good"]
    assert (after.current, after.tools) == (False, first.tools)
    assert after.reason == "MCP server 'good' cannot be reached: Connection closed."


async def test_the_file_is_read_again_when_it_changes(pool: ServerPool, path: Path) -> None:
    assert dict(pool.servers()) == {}
    write(path, good=notes(path), other=DEAD)
    assert set(pool.servers()) == {"good", "other"}
    good = pool.server("good")
    await good.listing(wait_seconds=20)
    path.write_text("{ half", encoding="utf-8")
    assert set(pool.servers()) == {"good", "other"}
    assert "Cannot read the MCP servers" in pool.file_problem
    write(path, good=notes(path), other={**DEAD, "trusted": True}, third=DEAD)
    assert pool.server("good") is good
    assert good.connection.state == "ready"
    assert set(pool.servers()) == {"good", "other", "third"}
    assert pool.file_problem == ""
    write(path, third=DEAD)
    with pytest.raises(ServerUnknown, match="there are: third"):
        pool.server("good")


async def test_a_schema_that_cannot_be_checked_costs_that_tool_alone(pool: ServerPool, path: Path) -> None:
    program = path.parent / "schemas.py"
    program.write_text(SCHEMAS_SERVER, encoding="utf-8")
    write(path, schemas={"command": sys.executable, "args": [str(program)]})
    tools = {item.spec.name: item for item in (await pool.listings(wait_seconds=20))["schemas"].tools or ()}
    assert {name: item.problem for name, item in tools.items()} == {
        "good": "",
        "outside": "its input schema refers to another document",
        "broken": "its input schema is not valid ('nonsense' is not valid under any of the given schemas)",
        "n" * 129: "its name is longer than 128 characters",
    }
    assert tools["outside"].tool is None
    good = tools["good"].tool
    assert good is not None
    assert (await good.function({}, CONTEXT)).text == '{"answer":42}'


SCHEMAS_SERVER = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, Tool

SCHEMAS = {
    "good": {"type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema"},
    "outside": {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:1/schema.json"}}},
    "broken": {"type": "object", "properties": {"a": {"type": "nonsense"}}},
    "n" * 129: {"type": "object"},
}

async def list_tools(context, params):
    return ListToolsResult(tools=[Tool(name=name, input_schema=schema) for name, schema in SCHEMAS.items()])

async def call_tool(context, params):
    return CallToolResult(content=[], structured_content={"answer": 42})

async def main():
    server = Server("schemas", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""
