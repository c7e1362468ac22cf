"""Small real tools and calls for the tests of this folder."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import JsonValue

from tools.calls import ToolCall
from tools.fingerprint import arguments_hash
from tools.function_tool import function_tool
from tools.types import Arguments, Tool, ToolOutput

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


async def restart_deployment(name: str, replicas: int = 1) -> ToolOutput:
    """Restart a deployment.

    Args:
        name: Name of the deployment,
            without its namespace.
        replicas: Pods to start.
    """
    return ToolOutput(f"restarted {name} with {replicas}")


RESTART = function_tool(restart_deployment, risk="write")


def pending_call(call_id: str, *, tool: Tool = RESTART, arguments: Arguments | None = None) -> ToolCall:
    given: dict[str, JsonValue] = dict(arguments or {"name": "web"})
    return ToolCall(
        call_id=call_id,
        run_id="run-1",
        thread_id="thread-1",
        server=tool.spec.server,
        tool=tool.spec.name,
        risk=tool.spec.risk,
        fingerprint=tool.spec.fingerprint,
        arguments=given,
        arguments_hash=arguments_hash(tool.spec.server, tool.spec.name, given),
        state="pending",
        proposed_at=START,
        expires_at=START + timedelta(hours=24),
    )
