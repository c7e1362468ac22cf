"""Chunks of both legs in the fused order, with what each leg gave to each. Knows no store and no reranker."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

from retrieval.explanation import DiversityShare, LegName, LegShare, RerankShare
from retrieval.fusion import FusionMethod, leg_weight, normalised
from retrieval.types import Chunk, HitScores, LegResult


@dataclass(frozen=True, slots=True)
class Fused:
    """Place and score of one chunk in the fused order.

    Attributes:
        chunk_id: Which chunk.
        rank: One-based place.
        score: Sum of the legs' contributions; by distribution it can lie a little outside [0, 1].
        dense: What the dense leg gave.
        bm25: What the lexical leg gave.
    """

    chunk_id: str
    rank: int
    score: float
    dense: LegShare
    bm25: LegShare


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way to being a hit; each step of the ranking fills its own field.

    Attributes:
        chunk: The chunk.
        fused: What the legs gave.
        support: What the best chunks of its document add, this one among them.
        rerank: What the reranker said.
        duplicates: Ids of chunks left out for saying the same.
        diversity: What maximal marginal relevance did.
    """

    chunk: Chunk
    fused: Fused
    support: float = 0.0
    rerank: RerankShare | None = None
    duplicates: tuple[str, ...] = ()
    diversity: DiversityShare | None = None

    @property
    def relevance(self) -> float:
        """What the candidate is ordered by: the reranker's score, else what legs and document gave."""
        return self.rerank.score if self.rerank else self.fused.score + self.support

    @property
    def scores(self) -> HitScores:
        """The candidate's scores as hits show them."""
        return HitScores(
            dense=self.fused.dense.score,
            dense_rank=self.fused.dense.rank,
            bm25=self.fused.bm25.score,
            bm25_rank=self.fused.bm25.rank,
            fused=min(max(self.fused.score, 0.0), 1.0),
            rerank=self.rerank.score if self.rerank else None,
        )


def fuse_legs(
    dense: LegResult, bm25: LegResult, *, method: FusionMethod, dense_weight: float, limit: int | None = None
) -> list[Fused]:
    """Chunks of both legs, best first, equal scores by id.

    Args:
        dense: The dense leg.
        bm25: The lexical leg. A chunk without a score here has none of the question's terms, a score of 0.
        method: How scores of both legs become one.
        dense_weight: Weight of the dense leg, 0 to 1; the lexical leg has the rest.
        limit: Chunks returned; None returns all.
    """
    ids = {found.chunk_id for leg in (dense, bm25) for found in leg.found}
    by_meaning = _ScoredLeg.of("dense", dense, method=method, weight=dense_weight)
    # Without a cosine a chunk gets nothing from the dense leg; without a BM25 score it has been measured, as 0.
    by_words = _ScoredLeg.of("bm25", bm25, method=method, weight=1 - dense_weight, measured=ids)
    scores = {name: by_meaning.contribution(name) + by_words.contribution(name) for name in ids}
    order = sorted(ids, key=lambda name: (-scores[name], name))[:limit]
    return [
        Fused(name, rank, scores[name], by_meaning.share(name), by_words.share(name))
        for rank, name in enumerate(order, start=1)
    ]


class _ScoredLeg(NamedTuple):
    name: LegName
    ranks: dict[str, int]
    scores: dict[str, float]
    values: dict[str, float]
    weight: float

    @staticmethod
    def of(
        name: LegName, result: LegResult, *, method: FusionMethod, weight: float, measured: Collection[str] = ()
    ) -> _ScoredLeg:
        """``measured``: chunks that score 0 where the result has no other score of them."""
        own = dict(result.found)
        scores = dict(result.others) | own
        return _ScoredLeg(
            name=name,
            ranks={chunk_id: rank for rank, chunk_id in enumerate(own, start=1)},
            scores=scores,
            values=normalised(own, method=method, others=dict.fromkeys(measured, 0.0) | scores),
            weight=leg_weight(method, weight),
        )

    def contribution(self, chunk_id: str) -> float:
        """What the leg adds to a chunk's fused score."""
        return self.weight * self.values.get(chunk_id, 0.0)

    def share(self, chunk_id: str) -> LegShare:
        """What the leg gave to a chunk."""
        return LegShare(
            self.name,
            self.ranks.get(chunk_id),
            self.scores.get(chunk_id),
            self.values.get(chunk_id, 0.0),
            self.weight,
            self.contribution(chunk_id),
        )
