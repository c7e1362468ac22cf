"""Two ranked legs into one order. Pure: knows ids and scores, no chunks and no store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal, assert_never

FusionMethod = Literal["minmax", "dbsf", "rrf"]

_RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""
_DEVIATIONS = 3
"""Distribution-based fusion puts the mean of a leg at 0.5 and three standard deviations around it at 0 and 1."""


@dataclass(frozen=True, slots=True)
class Leg:
    """Scores of one leg by chunk id, higher is better, and the leg's weight in [0, 1]."""

    scores: Mapping[str, float]
    weight: float = 0.5


def fuse(legs: Sequence[Leg], *, method: FusionMethod) -> dict[str, float]:
    """Fused scores of all ids of all legs, best first, equal scores by id; an id a leg lacks gets nothing from it."""
    match method:
        case "minmax":
            shares = [_weighted(min_max(leg.scores), leg.weight) for leg in legs]
        case "dbsf":
            shares = [_weighted(by_distribution(leg.scores), leg.weight) for leg in legs]
        case "rrf":
            shares = [reciprocal_ranks(leg.scores) for leg in legs]
            shares = [_weighted(share, 1 / len(legs)) for share in shares]
        case _:
            assert_never(method)
    fused: dict[str, float] = {}
    for share in shares:
        for chunk_id, score in share.items():
            fused[chunk_id] = fused.get(chunk_id, 0.0) + score
    return dict(sorted(fused.items(), key=lambda item: (-item[1], item[0])))


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


def _weighted(scores: Mapping[str, float], weight: float) -> dict[str, float]:
    return {chunk_id: weight * score for chunk_id, score in scores.items()}
