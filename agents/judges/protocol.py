"""What a second judge of claims promises. Implementations: ``agents.judges.nli``, ``agents.judges.chat``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from agents.answer import Opinion


class Statement(NamedTuple):
    """A claim and the quotes that carry it, joined."""

    claim: str
    quote: str


class ClaimJudge(Protocol):
    """Reads claims beside their quotes. It may lower a verdict of the proof and never raise one."""

    async def judge(self, statements: Sequence[Statement]) -> list[Opinion]:
        """One opinion a statement, in order; none for no statements.

        Raises:
            JudgeFailed: The judge cannot be loaded, was late, or answered something else; the proof then stands alone.
        """
        ...
