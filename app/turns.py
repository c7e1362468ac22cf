"""Which runs of a thread make its conversation: those that were replaced are left out, continued answers are joined.

Pure over the runs of one thread; knows no database.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

from agents.chat_model import ChatMessage
from app.errors import RequestInvalid, RunUnknown
from app.schema import RunInfo, RunRequest

UNFINISHED = "This request was not finished; nothing that was proposed and not yet run has been run."
"""Stands in a thread's history for a run of an agent that was stopped."""
_GIVEN = ("answered", "abstained")


class Place(NamedTuple):
    """A run's place in its thread.

    Attributes:
        question: What is asked; for an answer that goes on, the question that it began with.
        history: What was said before.
        so_far: The answer that goes on, all its parts; empty for a new one.
    """

    question: str
    history: tuple[ChatMessage, ...]
    so_far: str = ""


def history_of(runs: Sequence[RunInfo], *, without: str = "") -> tuple[ChatMessage, ...]:
    """Questions and answers so far, oldest first; answers that broke off and those that were replaced are left out.

    Args:
        runs: All runs of the thread, oldest first.
        without: A run that is about to be replaced.
    """
    messages: list[ChatMessage] = []
    for run in standing(runs, without=without):
        if run.answer is not None and run.state in _GIVEN:
            if not run.continues:
                messages += [ChatMessage("user", run.question), ChatMessage("assistant", run.answer.answer)]
            elif run.state == "answered" and messages:
                messages[-1] = ChatMessage("assistant", _joined(messages[-1].content, run.answer.answer))
        elif run.agent and run.state in ("waiting", "cancelled"):
            messages += [ChatMessage("user", run.question), ChatMessage("assistant", UNFINISHED)]
    return tuple(messages)


def standing(runs: Sequence[RunInfo], *, without: str = "") -> list[RunInfo]:
    """Runs that count, oldest first: those that were replaced, and what goes on from them, are left out."""
    gone = _gone(runs, without)
    return [run for run in runs if run.run_id not in gone]


def place_of(request: RunRequest, runs: Sequence[RunInfo]) -> Place:
    """Where a new run of the thread stands.

    Args:
        request: What is asked.
        runs: All runs of the thread, oldest first.

    Raises:
        RunUnknown: The thread has no run that it names.
        RequestInvalid: That run cannot be replaced or gone on with.
    """
    if request.replaces and _find(runs, request.replaces).agent:
        raise RequestInvalid(
            "An agent may have changed things in the run that is to be replaced; ask again without 'replaces'."
        )
    if not request.continues:
        return Place(request.question, history_of(runs, without=request.replaces))
    if request.agent or request.output_schema is not None:
        raise RequestInvalid("Only answers from documents in prose go on; leave 'agent' and 'output_schema' out.")
    run = _find(runs, request.continues)
    if run.agent or run.answer is None or not run.answer.truncated:
        raise RequestInvalid(f"The answer of the run {run.run_id!r} was not cut off; leave 'continues' out.")
    known = {one.run_id: one for one in runs}
    parts = [run.answer.answer]
    while run.continues in known:
        run = known[run.continues]
        parts.insert(0, run.answer.answer if run.answer else "")
    return Place(run.question, history_of(runs, without=run.run_id), reduce(_joined, parts))


def _gone(runs: Sequence[RunInfo], without: str) -> set[str]:
    """Runs that do not count any more: an answer came in their place, or they continue one that does not count."""
    gone = {without} - {""}
    for run in reversed(runs):
        if run.replaces and (run.run_id in gone or run.state in _GIVEN):
            gone.add(run.replaces)
    for run in runs:
        if run.continues in gone:
            gone.add(run.run_id)
    return gone


def _find(runs: Sequence[RunInfo], run_id: str) -> RunInfo:
    run = next((one for one in runs if one.run_id == run_id), None)
    if run is None:
        raise RunUnknown(f"The thread has no run {run_id!r}; GET /api/threads/ID lists its runs.")
    return run


def _joined(one: str, other: str) -> str:
    return f"{one.rstrip()}\n\n{other.lstrip()}"
