"""What a preset tells the model of one run: words behind our own rules, examples as earlier turns, fewer tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import NamedTuple

from agents.chat_model import ChatMessage
from agents.markers import strip_markers
from agents.prompting import fill_prompt, neutralise

EXAMPLES_PART = 3
"""Examples take at most this part of what the window has left beside system prompt, question and answer."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """What one version of a preset says; the one without a name says nothing.

    Attributes:
        preset: Name of the preset.
        version: Its version.
        system_prompt: Words of its own.
        examples: Questions and answers in turn.
        tools: Globs over wire names; an agent keeps only those of its tools that match. Empty leaves it all of them.
        saved_by: Who saved this version.
    """

    preset: str = ""
    version: int = 0
    system_prompt: str = ""
    examples: tuple[ChatMessage, ...] = ()
    tools: tuple[str, ...] = ()
    saved_by: str = ""

    def speaks_for(self, user: str) -> bool:
        """Whether all its words are the user's own: those of others must not act with the user's grants."""
        return not (self.system_prompt or self.examples) or self.saved_by == user

    def behind(self, rules: str) -> str:
        """A system prompt: our own rules first, which the preset's words cannot lift."""
        if not self.system_prompt:
            return rules
        return f"{rules}\n\n{fill_prompt('preset', words=neutralise(self.system_prompt))}"

    def turns(self) -> tuple[ChatMessage, ...]:
        """The examples as earlier turns; numbers in them point to passages that are not there."""
        return tuple(
            ChatMessage(message.role, neutralise(strip_markers(message.content)[0])) for message in self.examples
        )

    def may_use(self, wire_name: str) -> bool:
        """Whether a tool is among those that are left."""
        return not self.tools or any(fnmatchcase(wire_name, pattern) for pattern in self.tools)


NO_GUIDANCE = Guidance()


class FittedExamples(NamedTuple):
    """The examples that enter a prompt."""

    turns: tuple[ChatMessage, ...]
    tokens: int
    dropped: int
    """How many examples did not fit."""


def fit_examples(turns: Sequence[ChatMessage], counts: Sequence[int], *, limit: int, overhead: int) -> FittedExamples:
    """The first examples that fit, each with its question and its answer.

    Args:
        turns: Questions and answers in turn.
        counts: Tokens of each.
        limit: Most tokens of all.
        overhead: Tokens that a chat template writes around one message.
    """
    used = kept = 0
    for place in range(0, len(turns), 2):
        tokens = sum(counts[place : place + 2]) + 2 * overhead
        if used + tokens > limit:
            break
        used, kept = used + tokens, place + 2
    return FittedExamples(tuple(turns[:kept]), used, (len(turns) - kept) // 2)
