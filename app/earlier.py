"""The prompt of a thread's latest answer, put together from what its runs left in the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from agents.chat_model import ChatMessage
from agents.context import as_turns
from agents.earlier import EarlierPrompt, sent_again
from agents.events import ClaimsChecked
from agents.markers import strip_markers
from agents.proof_replay import chunks_of
from app.schema import RunInfo
from app.turns import history_of, standing

ReadClaims: TypeAlias = Callable[[str], Awaitable[ClaimsChecked | None]]
"""The last proof of a run, ``RunService.claims``."""


async def earlier_prompt(runs: Sequence[RunInfo], claims: ReadClaims, *, without: str = "") -> EarlierPrompt | None:
    """The conversation as the model server has read it; None where it cannot be told word by word.

    Answers that were continued are not: their parts stood in prompts of their own.

    Args:
        runs: All runs of the thread, oldest first.
        claims: Reads the proof of a run.
        without: A run that is about to be replaced.
    """
    live = standing(runs, without=without)
    if any(run.continues for run in live):
        return None
    for place in range(len(live) - 1, -1, -1):
        run = live[place]
        found = await _prompt_of(run, {one.run_id: one for one in live}, claims)
        if found is not None:
            since = as_turns(history_of(live[place + 1 :]))
            return replace(found, messages=(*found.messages, *since))
        if run.state == "answered":
            return None
    return None


async def _prompt_of(run: RunInfo, live: dict[str, RunInfo], claims: ReadClaims) -> EarlierPrompt | None:
    """The prompt of one run with its reply; None where it was not kept, or a run of it does not count any more."""
    messages: tuple[ChatMessage, ...] = ()
    passages = None
    at: RunInfo | None = run
    while at is not None:
        checked = await claims(at.run_id) if at.answer is not None and not at.agent else None
        if checked is None or checked.prompt is None or checked.record is None or at.answer is None:
            return None
        messages = (*sent_again(checked.prompt, shown=strip_markers(at.answer.answer)[0]), *messages)
        passages = passages or chunks_of(checked.record)
        if not checked.prompt.after:
            return EarlierPrompt(run.run_id, messages, tuple(passages))
        at = live.get(checked.prompt.after)
    return None
