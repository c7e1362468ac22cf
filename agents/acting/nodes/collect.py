"""Fifth node: what the ledger has of the turn's calls, as results for the model; then the turn is past."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from agents.acting.context import ActingContext
from agents.acting.records import ActingState
from tools.calls import ToolCall
from tools.types import BUILTIN_SERVER

TRUSTED_BUILTINS = frozenset({"calculator", "current_time", "remember", "forget"})
"""Built-in tools whose results hold no text from outside."""


async def collect(state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """The frame with the turn and its results; results that ran become evidence and taint the thread."""
    turn = state["turn"]
    assert turn is not None
    ledger = runtime.context.parts.ledger
    results: list[str] = []
    observed = list(state["observed"])
    taint = state["taint"]
    for record in turn["calls"]:
        if record["error"]:
            results.append(f"Error: {record['error']}")
            continue
        call = await ledger.get(record["call_id"])
        results.append(result_text(call))
        observed.append(call.call_id)
        # What a server says of a failure is its text as well.
        if not taint and call.state in ("done", "failed") and not _is_trusted(call):
            taint = f"result of {record['name']}"
    frames = list(state["frames"])
    frame = frames[-1]
    frames[-1] = {**frame, "turns": [*frame["turns"], {**turn, "results": results}]}
    return {"frames": frames, "turn": None, "observed": observed, "taint": taint}


def result_text(call: ToolCall) -> str:
    """What the model reads of a call that is final."""
    text = (call.result_text or "").strip()
    match call.state:
        case "done" if call.original_arguments is not None:
            return f"A person changed the arguments to {call.arguments} before it ran.\n{text}"
        case "done":
            return text or "Done, without any output."
        case "rejected":
            return f"Rejected, it did not run. {text}".strip()
        case "expired":
            return "It did not run: nobody decided in time."
        case _:
            return f"Error: {text or 'the call failed without a word'}"


def _is_trusted(call: ToolCall) -> bool:
    return call.server == BUILTIN_SERVER and call.tool in TRUSTED_BUILTINS
