from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tests.tools.samples import RESTART, pending_call
from tools.calls import CallState, ToolCall
from tools.errors import OutcomeUnknown, ToolError
from tools.execute import execute
from tools.ledger import ExecutionLedger
from tools.types import Arguments, CallContext, Risk, Tool, ToolOutput


class Effect:
    """Counts real executions; raises what it is told to."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.calls: list[dict[str, object]] = []
        self.error = error

    async def __call__(self, arguments: Arguments, context: CallContext) -> ToolOutput:
        self.calls.append(dict(arguments))
        if self.error:
            raise self.error
        return ToolOutput("ok")


async def approved(ledger: ExecutionLedger, tool: Tool) -> ToolCall:
    call = await ledger.propose(pending_call("c1", tool=tool))
    return await ledger.decide("c1", "approve", seen_hash=call.arguments_hash, actor="ana")


async def test_an_approved_call_runs_once_however_often_it_is_executed(ledger: ExecutionLedger) -> None:
    effect = Effect()
    tool = replace(RESTART, function=effect)
    call = await approved(ledger, tool)
    results = await asyncio.gather(*(execute(call, tool, ledger=ledger, runner=f"r{n}") for n in range(6)))
    assert effect.calls == [{"name": "web"}]
    assert (await execute(call, tool, ledger=ledger, runner="later")).state == "done"
    assert {result.call_id for result in results} == {"c1"}


async def test_an_edit_that_overtakes_the_runner_decides_what_runs(ledger: ExecutionLedger) -> None:
    effect = Effect()
    tool = replace(RESTART, function=effect)
    read_before = await ledger.propose(pending_call("c1", tool=tool))
    edit = {"name": "web", "replicas": 3}
    await ledger.decide("c1", "edit", seen_hash=read_before.arguments_hash, actor="ana", arguments=edit)
    assert (await execute(read_before, tool, ledger=ledger, runner="r")).state == "done"
    assert effect.calls == [edit]


async def test_a_call_without_a_decision_does_not_run(ledger: ExecutionLedger) -> None:
    effect = Effect()
    tool = replace(RESTART, function=effect)
    call = await ledger.propose(pending_call("c1", tool=tool))
    assert (await execute(call, tool, ledger=ledger, runner="r")).state == "pending"
    assert effect.calls == []


async def test_a_tool_that_changed_after_the_approval_does_not_run(ledger: ExecutionLedger) -> None:
    effect = Effect()
    call = await approved(ledger, replace(RESTART, function=effect))
    changed = Tool(replace(RESTART.spec, fingerprint="other"), effect)
    result = await execute(call, changed, ledger=ledger, runner="r")
    assert (result.state, effect.calls) == ("failed", [])


@pytest.mark.parametrize(
    ("error", "risk", "state"),
    [
        (ToolError("no such deployment"), "write", "failed"),
        (OutcomeUnknown("connection closed"), "write", "unknown"),
        (OutcomeUnknown("connection closed"), "read", "failed"),
        (RuntimeError("boom"), "write", "unknown"),
        (RuntimeError("boom"), "read", "failed"),
    ],
)
async def test_a_failure_leaves_effects_unknown_and_reads_failed(
    ledger: ExecutionLedger, error: Exception, risk: Risk, state: CallState
) -> None:
    tool = Tool(replace(RESTART.spec, risk=risk), Effect(error))
    call = await approved(ledger, tool)
    assert (await execute(call, tool, ledger=ledger, runner="r")).state == state


async def test_a_call_that_is_stopped_while_it_runs_is_unknown(ledger: ExecutionLedger) -> None:
    entered = asyncio.Event()

    async def hang(arguments: Arguments, context: CallContext) -> ToolOutput:
        entered.set()
        await asyncio.Event().wait()
        raise NotImplementedError

    tool = replace(RESTART, function=hang)
    task = asyncio.create_task(execute(await approved(ledger, tool), tool, ledger=ledger, runner="r"))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (await ledger.get("c1")).state == "unknown"


async def test_the_call_id_is_handed_on_as_idempotency_key(ledger: ExecutionLedger) -> None:
    effect = Effect()
    tool = Tool(replace(RESTART.spec, idempotency_argument="key"), effect)
    await execute(await approved(ledger, tool), tool, ledger=ledger, runner="r")
    assert effect.calls == [{"name": "web", "key": "c1"}]
