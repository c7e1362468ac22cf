"""The sample cluster through our own MCP client, ledger and executor: the acting half of the guiding question."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.tools.mcp.servers import connect, tools_of
from tests.tools.samples import pending_call
from tools.errors import ToolError
from tools.execute import execute
from tools.ledger import ExecutionLedger
from tools.mcp.config import McpServerConfig
from tools.types import CallContext, Tool

SAMPLE = Path(__file__).parents[3] / "samples" / "cluster_server.py"
CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")
POD = "orders-api-7d9f6c5b8-x2k4q"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "cluster.db"


@pytest.fixture
async def tools(database: Path, tmp_path: Path) -> AsyncIterator[dict[str, Tool]]:
    config = McpServerConfig(
        command=sys.executable,
        args=(str(SAMPLE), "--database", str(database)),
        trusted=True,
        idempotency={"set_memory_limit": "idempotency_key"},
    )
    async with connect("cluster", config, tmp_path) as connection:
        yield await tools_of(connection, config)


def changes(database: Path) -> list[tuple[str, str]]:
    with sqlite3.connect(database) as connection:
        return connection.execute("SELECT tool, key FROM changes").fetchall()


async def test_hints_give_every_tool_its_risk(tools: dict[str, Tool]) -> None:
    assert {name: tool.spec.risk for name, tool in tools.items()} == {
        "get_pod": "read",
        "get_events": "read",
        "get_logs": "read",
        "top_pods": "read",
        "set_memory_limit": "write",
        "restart_deployment": "write",
        "rollback_deployment": "write",
        "delete_pod": "destructive",
    }


async def test_the_pod_tells_why_it_was_killed(tools: dict[str, Tool]) -> None:
    pod = (await tools["get_pod"].function({"name": POD}, CONTEXT)).text
    assert '"OOMKilled"' in pod
    assert '"memory_limit": "512Mi"' in pod


async def test_an_approved_change_happens_once_and_carries_its_key(
    tools: dict[str, Tool], ledger: ExecutionLedger, database: Path
) -> None:
    tool = tools["set_memory_limit"]
    call = await ledger.propose(
        pending_call("call-1", tool=tool, arguments={"deployment": "orders-api", "limit": "768Mi"})
    )
    assert (await execute(call, tool, ledger=ledger, runner="early")).state == "pending"
    assert changes(database) == []
    call = await ledger.decide("call-1", "approve", seen_hash=call.arguments_hash, actor="ana")
    first = await execute(call, tool, ledger=ledger, runner="r1")
    again = await execute(call, tool, ledger=ledger, runner="r2")
    assert (first.state, again) == ("done", first)
    assert first.result_text == "Memory limit of orders-api was changed from 512Mi to 768Mi."
    assert changes(database) == [("set_memory_limit", "call-1")]


async def test_an_unknown_pod_is_answered_with_the_names_that_exist(tools: dict[str, Tool]) -> None:
    with pytest.raises(ToolError, match=POD):
        await tools["get_pod"].function({"name": "orders-api"}, CONTEXT)
