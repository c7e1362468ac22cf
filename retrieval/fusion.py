"""Scores of one leg on a scale that can be added to those of another. Pure: knows ids and scores, no chunks."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean, stdev
from typing import Literal, assert_never

FusionMethod = Literal["minmax", "dbsf", "rrf"]

_RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""
_DEVIATIONS = 3
"""Distribution-based fusion puts the mean of a leg at 0.5 and three standard deviations around it at 0 and 1."""


def leg_weight(method: FusionMethod, weight: float) -> float:
    """What a leg of this weight counts: by rank all legs of a pair count the same."""
    return 0.5 if method == "rrf" else weight


def normalised(scores: Mapping[str, float], *, method: FusionMethod) -> dict[str, float]:
    """Scores of one leg on the scale of the fusion."""
    match method:
        case "minmax":
            return min_max(scores)
        case "dbsf":
            return by_distribution(scores)
        case "rrf":
            return reciprocal_ranks(scores)
        case _:
            assert_never(method)


def min_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores moved to [0, 1]: the leg's worst is 0, its best 1; all 1 where all are equal."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if low == high:
        return dict.fromkeys(scores, 1.0)
    return {chunk_id: (score - low) / (high - low) for chunk_id, score in scores.items()}


def by_distribution(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores moved so that three standard deviations around the mean span [0, 1]; outliers lie outside.

    All 0.5 where the leg has one score or equal scores, as in Qdrant's own distribution-based score fusion.
    """
    deviation = stdev(scores.values()) if len(scores) > 1 else 0.0
    if deviation == 0.0:
        return dict.fromkeys(scores, 0.5)
    low = fmean(scores.values()) - _DEVIATIONS * deviation
    return {chunk_id: (score - low) / (2 * _DEVIATIONS * deviation) for chunk_id, score in scores.items()}


def reciprocal_ranks(scores: Mapping[str, float]) -> dict[str, float]:
    """``(k + 1) / (k + rank)``, so the first of a leg has 1; equal scores share the better rank."""
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores.values(), reverse=True), start=1):
        ranks.setdefault(score, rank)
    return {chunk_id: (_RRF_K + 1) / (_RRF_K + ranks[score]) for chunk_id, score in scores.items()}
