"""Scores of one leg on a scale that can be added to those of another. Pure: knows ids and scores, no chunks."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt
from statistics import fmean
from typing import Literal, NamedTuple, assert_never

FusionMethod = Literal["minmax", "dbsf", "rrf"]

_RRF_K = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""
_DEVIATIONS = 3
"""Distribution-based fusion puts the mean of a leg at 0.5 and three standard deviations around it at 0 and 1."""
_NO_OTHERS: Mapping[str, float] = {}


def leg_weight(method: FusionMethod, weight: float) -> float:
    """What a leg of this weight counts: by rank all legs of a pair count the same."""
    return 0.5 if method == "rrf" else weight


def normalised(
    scores: Mapping[str, float], *, method: FusionMethod, others: Mapping[str, float] = _NO_OTHERS
) -> dict[str, float]:
    """Scores of one leg on the scale of the fusion.

    Args:
        scores: What the leg returned, which sets the scale.
        method: Which scale.
        others: Scores by the same measure of chunks that the leg did not return. They are put on the scale of
            ``scores``, where they lie low, below 0 perhaps. By rank they have no place, and get 0.
    """
    if not scores:
        return {}
    match method:
        case "minmax":
            scale = _min_max_scale(scores)
            return _placed(others, scale, otherwise=0.0) | _placed(scores, scale, otherwise=1.0)
        case "dbsf":
            scale = _distribution_scale(scores)
            return _placed(others, scale, otherwise=0.0) | _placed(scores, scale, otherwise=0.5)
        case "rrf":
            return dict.fromkeys(others, 0.0) | reciprocal_ranks(scores)
        case _:
            assert_never(method)


def min_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores moved to [0, 1]: the leg's worst is 0, its best 1; all 1 where all are equal."""
    return _placed(scores, _min_max_scale(scores), otherwise=1.0)


def by_distribution(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores moved so that three standard deviations around the mean span [0, 1]; outliers lie outside.

    All 0.5 where the leg has one score or equal scores, as in Qdrant's own distribution-based score fusion.
    """
    return _placed(scores, _distribution_scale(scores), otherwise=0.5)


def reciprocal_ranks(scores: Mapping[str, float]) -> dict[str, float]:
    """``(k + 1) / (k + rank)``, so the first of a leg has 1; equal scores share the better rank."""
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores.values(), reverse=True), start=1):
        ranks.setdefault(score, rank)
    return {chunk_id: (_RRF_K + 1) / (_RRF_K + ranks[score]) for chunk_id, score in scores.items()}


class _Scale(NamedTuple):
    low: float
    """The score that lies at 0."""
    width: float
    """What lies between it and the score that lies at 1."""


def _placed(scores: Mapping[str, float], scale: _Scale | None, *, otherwise: float) -> dict[str, float]:
    if scale is None:
        return dict.fromkeys(scores, otherwise)
    low, width = scale
    return {chunk_id: (score - low) / width for chunk_id, score in scores.items()}


def _min_max_scale(scores: Mapping[str, float]) -> _Scale | None:
    low, high = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    return _Scale(low, high - low) if high > low else None


def _distribution_scale(scores: Mapping[str, float]) -> _Scale | None:
    values = list(scores.values())
    if len(values) < 2 or min(values) == max(values):
        return None
    mean = fmean(values)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return _Scale(mean - _DEVIATIONS * deviation, 2 * _DEVIATIONS * deviation)
