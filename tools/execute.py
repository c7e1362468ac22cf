"""Run an approved call exactly as it was approved, at most once, and record what came of it.

Order: claim the call in the ledger (committed), cause the effect, record the result (committed). What dies between
claim and record is ``unknown`` and is shown to a person; only reads and idempotent tools of a trusted server may be
tried again unasked. The one broad ``except`` of this folder lives here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable

from tools.arguments import validate_arguments
from tools.calls import ToolCall
from tools.errors import OutcomeUnknown, ToolError
from tools.fingerprint import arguments_hash
from tools.ledger import ExecutionLedger
from tools.spans import tracer
from tools.types import CallContext, Caller, ProgressFunction, Tool, ToolOutput

logger = logging.getLogger(__name__)

LOCAL_CALLER = Caller()
"""The person at this machine, who may see everything."""


async def execute(
    call: ToolCall,
    tool: Tool,
    *,
    ledger: ExecutionLedger,
    runner: str,
    caller: Caller = LOCAL_CALLER,
    on_progress: ProgressFunction | None = None,
) -> ToolCall:
    """Run a call that was approved and return it with its new state.

    A call that somebody else started, or that is not approved, is returned as it stands and nothing runs; one whose
    approval is too old is ended as expired. What runs is the stored row as it stands once it is claimed, never the
    caller's copy of it, which an edit may have overtaken. The tool's definition and the arguments are held against
    what was approved once more, at the last moment.
    """
    if not await ledger.start(call.call_id, runner=runner):
        await ledger.expire(call.call_id)
        return await ledger.get(call.call_id)
    call = await ledger.get(call.call_id)
    mismatch = _mismatch(call, tool)
    if mismatch:
        await ledger.finish(call.call_id, ToolOutput(mismatch), runner=runner, failed=True)
        return await ledger.get(call.call_id)
    context = CallContext(call.thread_id, call.run_id, call.call_id, caller.user, on_progress, caller.scope)
    await _run(call, tool, context=context, ledger=ledger, runner=runner)
    return await ledger.get(call.call_id)


async def refuse_missing(call: ToolCall, *, ledger: ExecutionLedger, runner: str) -> None:
    """End an approved call whose tool is no longer offered; nothing runs."""
    if await ledger.start(call.call_id, runner=runner):
        gone = f"The tool {call.tool!r} of {call.server!r} is not offered any more; nothing was run."
        await ledger.finish(call.call_id, ToolOutput(gone), runner=runner, failed=True)


async def _run(call: ToolCall, tool: Tool, *, context: CallContext, ledger: ExecutionLedger, runner: str) -> None:
    harmless = tool.spec.risk == "read"
    arguments = dict(call.arguments)
    if tool.spec.idempotency_argument:
        arguments[tool.spec.idempotency_argument] = call.call_id
    try:
        with tracer().start_as_current_span(f"execute_tool {call.tool}", attributes=_told(call)):
            async with asyncio.timeout(tool.spec.timeout_seconds):
                output = await tool.function(arguments, context)
    except asyncio.CancelledError:
        await asyncio.shield(_record_lost(call, ledger, runner=runner, harmless=harmless, why="The run was stopped."))
        raise
    except OutcomeUnknown as error:
        await _record_lost(call, ledger, runner=runner, harmless=harmless, why=str(error))
    except ToolError as error:
        await ledger.finish(call.call_id, ToolOutput(str(error)), runner=runner, failed=True)
    except TimeoutError:
        why = f"No answer within {tool.spec.timeout_seconds:g} seconds."
        await _record_lost(call, ledger, runner=runner, harmless=harmless, why=why)
    except Exception:
        logger.exception("tool raised", extra={"tool": tool.spec.qualified_name, "call_id": call.call_id})
        why = "The tool failed with an unexpected error; see the log."
        await _record_lost(call, ledger, runner=runner, harmless=harmless, why=why)
    else:
        await ledger.finish(call.call_id, output, runner=runner)


def _told(call: ToolCall) -> dict[str, str]:
    """What a span says of a call, in the names of OpenTelemetry's conventions; never its arguments."""
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.tool,
        "gen_ai.tool.call.id": call.call_id,
        "groundwork.tool.server": call.server,
        "groundwork.tool.risk": call.risk,
    }


def _record_lost(call: ToolCall, ledger: ExecutionLedger, *, runner: str, harmless: bool, why: str) -> Awaitable[bool]:
    if harmless:
        return ledger.finish(call.call_id, ToolOutput(why), runner=runner, failed=True)
    return ledger.mark_unknown(call.call_id, runner=runner, why=why)


def _mismatch(call: ToolCall, tool: Tool) -> str:
    if call.fingerprint != tool.spec.fingerprint:
        return "The tool's definition changed after the call was proposed; it has to be reviewed first."
    if arguments_hash(call.server, call.tool, call.arguments) != call.arguments_hash:
        return "The stored arguments are not the approved ones; nothing was run."
    try:
        validate_arguments(tool.spec, call.arguments)
    except ToolError as error:
        return str(error)
    return ""
