"""The promise every reranker keeps; held by tests/contracts/test_reranker.py over all kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.candidates import Candidate
from retrieval.explanation import FeatureShare


@dataclass(frozen=True, slots=True)
class RerankScore:
    """What a reranker says of one candidate.

    Attributes:
        score: On its own scale, higher is better.
        explain: What the score is made of, largest contribution first; nothing for rerankers that cannot say. Called
            for explanations alone: for 50 candidates it takes 1.5 ms, their scores 5.
    """

    score: float
    explain: Callable[[], tuple[FeatureShare, ...]] = tuple


class Reranker(Protocol):
    """Scores candidates for one question. Calls block; safe from several threads."""

    @property
    def name(self) -> str:
        """Kind and model, as explanations show it."""
        ...

    def rerank(self, query: str, candidates: Sequence[Candidate], *, seconds: float) -> list[RerankScore]:
        """Finite scores in the order of the candidates, higher is better; none for no candidates.

        Args:
            query: The question as typed.
            candidates: Best first.
            seconds: Time limit. A reranker looks at it between its batches, so the last batch may go past it.

        Raises:
            RerankTimedOut: The time was over before every candidate had a score.
            RerankFailed: The model or its server did not give scores.
        """
        ...
