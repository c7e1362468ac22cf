"""A ranker that is a weighted sum of cheap features: no download, no network. Trained by ``evals.train_ranker``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from retrieval.candidates import Candidate
from retrieval.errors import RerankFailed
from retrieval.explanation import FeatureShare
from retrieval.rerankers.features import FEATURES, feature_matrix
from retrieval.rerankers.protocol import RerankScore

SHIPPED = Path(__file__).with_name("learned_ranker.json")
"""Coefficients that come with the package."""


class RankerCoefficients(BaseModel):
    """The file of a trained ranker."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int
    """Grows with every change of features or coefficients."""
    trained_on: tuple[str, ...]
    """Data sets and splits whose judgements were used."""
    queries: int
    """Questions in them."""
    coefficients: dict[str, float]
    """Weight of each feature by its name."""

    @model_validator(mode="after")
    def _names_every_feature(self) -> Self:
        if set(self.coefficients) != set(FEATURES):
            raise ValueError("the coefficients are of other features than this version computes")
        return self


@dataclass(frozen=True, slots=True)
class LearnedReranker:
    """A ``Reranker`` over trained coefficients; a linear one, so that each feature's part of a score is known."""

    ranker: RankerCoefficients

    @property
    def name(self) -> str:
        """Kind and version."""
        return f"learned {self.ranker.version}"

    def rerank(self, query: str, candidates: Sequence[Candidate], *, seconds: float) -> list[RerankScore]:  # noqa: ARG002
        """Weighted sums with their parts; 5 ms for 50, so the time limit is not looked at."""
        weights = np.array([self.ranker.coefficients[name] for name in FEATURES])
        values = feature_matrix(query, candidates)
        scores: list[float] = (values @ weights).tolist()
        return [RerankScore(score, partial(_shares, row, weights)) for score, row in zip(scores, values, strict=True)]


def read_ranker(path: Path = SHIPPED) -> LearnedReranker:
    """The ranker of a file.

    Raises:
        RerankFailed: The file is missing, or of another version's features.
    """
    try:
        return LearnedReranker(RankerCoefficients.model_validate_json(path.read_text(encoding="utf-8")))
    except (OSError, ValidationError) as error:
        raise RerankFailed(
            f"the learned ranker {str(path)!r} cannot be read: {error}; train it again with evals.train_ranker"
        ) from error


def _shares(values: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[FeatureShare, ...]:
    contributions: list[float] = (values * weights).tolist()
    shares = [FeatureShare(*share) for share in zip(FEATURES, values.tolist(), contributions, strict=True)]
    return tuple(sorted(shares, key=lambda share: (-abs(share.contribution), share.name)))
