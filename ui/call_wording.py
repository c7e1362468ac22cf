"""Words, signs and colours for calls of tools: one place for risk classes, stages and decisions."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TypeAlias

from tools.calls import CallState
from tools.types import Risk
from ui.step_view import CallStage
from ui.wording import literal

Colour: TypeAlias = Literal["red", "orange", "blue", "green", "violet", "gray"]


class Sign(NamedTuple):
    """How a thing looks."""

    words: str
    icon: str
    colour: Colour


RISKS: Final[dict[Risk, Sign]] = {
    "read": Sign("read", ":material/visibility:", "green"),
    "write": Sign("write", ":material/edit:", "orange"),
    "destructive": Sign("destructive", ":material/dangerous:", "red"),
    "egress": Sign("egress", ":material/outbound:", "violet"),
    "unknown": Sign("unknown risk", ":material/help:", "orange"),
}
STAGES: Final[dict[CallStage, Sign]] = {
    "refused": Sign("refused", ":material/block:", "red"),
    "waiting": Sign("waits for a decision", ":material/pan_tool:", "orange"),
    "unknown": Sign("outcome unknown", ":material/help:", "red"),
    "running": Sign("running", ":material/progress_activity:", "blue"),
    "done": Sign("done", ":material/check_circle:", "green"),
    "failed": Sign("failed", ":material/error:", "red"),
    "rejected": Sign("not run", ":material/block:", "gray"),
    "expired": Sign("expired", ":material/timer_off:", "gray"),
}
STATES: Final[dict[CallState, str]] = {
    "pending": "pending",
    "started": "running",
    "done": "done",
    "failed": "failed",
    "rejected": "not run",
    "expired": "expired",
    "unknown": "outcome unknown",
}
_DECISIONS: Final[dict[str, str]] = {
    "approve": "Approved",
    "edit": "Edited and approved",
    "reject": "Rejected",
    "respond": "Answered in its place",
}
POLICY_ACTOR: Final = "policy"
"""Who decides where no person was asked."""


def tool_label(tool: str, server: str) -> str:
    """Tool and server as Markdown for a label; the name is the server's own, without its prefix on the wire."""
    name = tool.removeprefix(f"{server}__") if server else tool
    badge = f" :gray-badge[{literal(server)}]" if server else ""
    return f"**{literal(name)}**{badge}"


def risk_badge(risk: Risk) -> str:
    """The risk class as Markdown for a label."""
    sign = RISKS[risk]
    return f":{sign.colour}-badge[{sign.icon} {sign.words}]"


def decision_line(decision: str, by: str, reason: str = "") -> str:
    """Who decided what, and why; empty where nobody has."""
    if not decision:
        return ""
    words = _DECISIONS.get(decision, decision.capitalize())
    told = f": {reason.rstrip('.')}" if reason else ""
    return f"{words} by {by}{told}." if by else f"{words}{told}."


def time_left(expires_at: datetime | None, *, now: datetime | None = None) -> str:
    """How long a decision may still be made; empty where it may for ever."""
    if expires_at is None:
        return ""
    left = int((expires_at - (now or datetime.now(UTC))).total_seconds())
    if left <= 0:
        return "expired"
    if left < 60:
        return f"expires in {left} s"
    if left < 3600:
        return f"expires in {left // 60} min"
    return f"expires in {left // 3600} h {left % 3600 // 60} min"


def moment(at: datetime) -> str:
    """A time as people read it, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
