"""The same call again: how often a model asked for it, whatever the order of its arguments."""

from __future__ import annotations

from collections.abc import Iterable

from agents.acting.records import CallRecord, Frame
from agents.chat_model import ToolRequest
from tools.arguments import parse_arguments
from tools.errors import ToolError
from tools.fingerprint import canonical_json

MAX_SAME_CALLS = 2
"""Times that one call with the same arguments is taken from one agent: a second look after a change is no loop."""


def times_called(calls: Iterable[CallRecord], name: str, arguments: str) -> int:
    """How many of the calls are to that tool with the same arguments; broken arguments are like nothing."""
    wanted = _canonical(arguments)
    return sum(call["name"] == name and _canonical(call["arguments"]) == wanted for call in calls) if wanted else 0


def is_repetition(frame: Frame, request: ToolRequest) -> bool:
    """Whether a call is the one of the turn before, or was taken as often as it may be."""
    last = frame["turns"][-1]["calls"] if frame["turns"] else []
    every = [call for turn in frame["turns"] for call in turn["calls"]]
    return bool(
        times_called(last, request.name, request.arguments)
        or times_called(every, request.name, request.arguments) >= MAX_SAME_CALLS
    )


def _canonical(arguments: str) -> str:
    try:
        return canonical_json(parse_arguments(arguments))
    except ToolError:
        return ""
