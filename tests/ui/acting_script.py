"""What the stand-in API tells of an agent: it looks at a pod, and asks to raise a memory limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.events import (
    ApprovalDecided,
    ApprovalNeeded,
    RunWaiting,
    StepStarted,
    Token,
    ToolCalled,
    ToolProgress,
    ToolReturned,
)
from tools.calls import ToolCall

AGENT = "operator"
POD = '{"name": "orders-api-x2k4q", "last_reason": "OOMKilled", "exit_code": 137, "memory_limit": "512Mi"}'
THOUGHT = "The pod was ended at its limit; I will raise it."
Told = Iterator[tuple[type[Any], dict[str, Any]]]


def acting_script(run_id: str) -> Told:
    """The first step: a call that needs nobody."""
    call_id, tool = f"{run_id}-read", "cluster__get_pod"
    yield StepStarted, {"step": 1, "agent": AGENT}
    yield Token, {"text": "First the pod.", "step": 1}
    yield (
        ToolCalled,
        {
            "call_id": call_id, "step": 1, "agent": AGENT, "tool": tool, "server": "cluster", "risk": "read",
            "arguments": {"name": "orders-api-x2k4q"}, "action": "allow", "reason": "policy line 1 says allow",
        },
    )  # fmt: skip
    yield ToolProgress, {"call_id": call_id, "progress": 1, "total": 2, "message": "asking the cluster"}
    yield ToolReturned, {"call_id": call_id, "tool": tool, "state": "done", "text": POD}


def asking_script(call: ToolCall) -> Told:
    """The second step: a call that a person decides."""
    yield StepStarted, {"step": 2, "agent": AGENT}
    yield Token, {"text": THOUGHT, "step": 2}
    yield (
        ToolCalled,
        {
            "call_id": call.call_id, "step": 2, "agent": AGENT, "tool": f"cluster__{call.tool}",
            "server": call.server, "risk": call.risk, "arguments": call.arguments, "action": "ask",
            "reason": call.policy_reason,
        },
    )  # fmt: skip
    yield (
        ApprovalNeeded,
        {"call_id": call.call_id, "tool": call.tool, "risk": call.risk, "arguments_hash": call.arguments_hash},
    )
    yield RunWaiting, {"call_ids": (call.call_id,)}


def decided_script(call: ToolCall) -> Told:
    """What comes of the decision."""
    by, reason = call.decided_by or "", call.decision_reason or ""
    yield (
        ApprovalDecided,
        {"call_id": call.call_id, "decision": call.decision, "decided_by": by, "reason": reason},
    )
    state = "rejected" if call.state == "rejected" else "done"
    text = "It was rejected." if state == "rejected" else "The limit is 768Mi."
    yield ToolReturned, {"call_id": call.call_id, "tool": call.tool, "state": state, "text": text}
