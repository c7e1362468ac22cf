"""Fourth node, one task a call: run what was approved, once, or park until a person has spoken.

The ledger decides; ``interrupt`` only parks the task and its resume value is never looked at. The node may be entered
any number of times: a final call returns what is recorded.
"""

from __future__ import annotations

from typing import Any, TypedDict

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from agents.acting.context import ActingContext
from agents.acting.records import load_scope
from agents.drafts import ApprovalDraft, DecisionDraft, ProgressDraft, ReturnDraft
from tools.calls import ToolCall
from tools.execute import execute, refuse_missing
from tools.ledger import POLICY_ACTOR
from tools.types import Caller

LOST = "The attempt that started this call ended without a word of it."


class CallTask(TypedDict):
    """Which call, its tool's name on the wire, who asked, and what that person may see."""

    call_id: str
    name: str
    user: str
    scope: dict[str, Any]


async def run_tool(state: CallTask, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """Returns when the call is final; until then it parks or runs it."""
    context, call_id, name = runtime.context, state["call_id"], state["name"]
    ledger = context.parts.ledger
    announced = False
    while True:
        call = await ledger.get(call_id)
        if call.final:
            if call.decided_by != POLICY_ACTOR and not announced:
                runtime.stream_writer(DecisionDraft(call))
            runtime.stream_writer(ReturnDraft(call, name))
            return {}
        if call.state == "started":
            # This attempt holds the thread and did not start it: the attempt that did is gone.
            await ledger.give_up(call, why=LOST)
            continue
        if call.state == "unknown" or call.decision is None:
            if call.state == "unknown":
                runtime.stream_writer(ApprovalDraft(call, name))
            interrupt({"call_id": call_id, "state": call.state})
            continue
        if call.decided_by != POLICY_ACTOR and not announced:
            announced = True
            runtime.stream_writer(DecisionDraft(call))
        await _run(call, state, runtime)


async def _run(call: ToolCall, task: CallTask, runtime: Runtime[ActingContext]) -> None:
    context = runtime.context
    tool = await context.parts.tools.find(call.server, call.tool)
    if tool is None:
        await refuse_missing(call, ledger=context.parts.ledger, runner=context.runner)
        return

    def on_progress(progress: float, total: float | None, message: str | None) -> None:
        runtime.stream_writer(ProgressDraft(call.call_id, progress, total, message or ""))

    await execute(
        call,
        tool,
        ledger=context.parts.ledger,
        runner=context.runner,
        caller=Caller(task["user"], load_scope(task.get("scope", {}))),
        on_progress=on_progress,
    )
