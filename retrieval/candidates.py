"""Chunks of both legs in the fused order, with what each leg gave to each. Knows no store and no reranker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.explanation import LegName, LegShare
from retrieval.fusion import FusionMethod, leg_weight, normalised
from retrieval.types import Chunk, HitScores, ScoredChunk


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way to being a hit.

    Attributes:
        chunk: The chunk.
        fused_rank: One-based place in the fused order.
        fused_score: Sum of the legs' contributions; by distribution it can lie a little outside [0, 1].
        dense: What the dense leg gave.
        bm25: What the lexical leg gave.
    """

    chunk: Chunk
    fused_rank: int
    fused_score: float
    dense: LegShare
    bm25: LegShare

    def scores(self, *, rerank: float | None = None) -> HitScores:
        """The candidate's scores as hits show them."""
        return HitScores(
            dense=self.dense.score,
            dense_rank=self.dense.rank,
            bm25=self.bm25.score,
            bm25_rank=self.bm25.rank,
            fused=min(max(self.fused_score, 0.0), 1.0),
            rerank=rerank,
        )


def fuse_legs(
    dense: Sequence[ScoredChunk], bm25: Sequence[ScoredChunk], *, method: FusionMethod, dense_weight: float
) -> list[Candidate]:
    """All chunks of both legs, best first, equal scores by id.

    Args:
        dense: The dense leg, best first.
        bm25: The lexical leg, best first.
        method: How scores of both legs become one.
        dense_weight: Weight of the dense leg, 0 to 1; the lexical leg has the rest.
    """
    chunks = {scored.chunk.chunk_id: scored.chunk for scored in [*dense, *bm25]}
    dense_shares = _shares("dense", dense, method=method, weight=dense_weight)
    bm25_shares = _shares("bm25", bm25, method=method, weight=1 - dense_weight)
    no_dense = LegShare("dense", None, None, 0.0, leg_weight(method, dense_weight), 0.0)
    no_bm25 = LegShare("bm25", None, None, 0.0, leg_weight(method, 1 - dense_weight), 0.0)
    pairs = {
        chunk_id: (dense_shares.get(chunk_id, no_dense), bm25_shares.get(chunk_id, no_bm25)) for chunk_id in chunks
    }
    fused = {chunk_id: first.contribution + second.contribution for chunk_id, (first, second) in pairs.items()}
    order = sorted(fused, key=lambda chunk_id: (-fused[chunk_id], chunk_id))
    return [
        Candidate(chunks[chunk_id], rank, fused[chunk_id], *pairs[chunk_id])
        for rank, chunk_id in enumerate(order, start=1)
    ]


def _shares(
    leg: LegName, found: Sequence[ScoredChunk], *, method: FusionMethod, weight: float
) -> Mapping[str, LegShare]:
    values = normalised({scored.chunk.chunk_id: scored.score for scored in found}, method=method)
    own_weight = leg_weight(method, weight)
    return {
        scored.chunk.chunk_id: LegShare(
            leg, rank, scored.score, value := values[scored.chunk.chunk_id], own_weight, own_weight * value
        )
        for rank, scored in enumerate(found, start=1)
    }
