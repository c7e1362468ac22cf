"""Hits of several queries in one order: the question leads, what its parts find joins it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.types import Hit

RANK_CONSTANT = 60
"""Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009."""
PART_WEIGHT = 0.5
"""What a part's order counts against the whole question's; docs/answers.md has the comparison."""


def merge_hits(main: Sequence[Hit], others: Sequence[Sequence[Hit]]) -> tuple[Hit, ...]:
    """Hits of all queries, each once, best first, ranks given anew; a hit keeps the scores of the first query.

    Args:
        main: Hits of the question itself, best first.
        others: Hits of its parts, each best first.
    """
    if not others:
        return tuple(main)
    merged: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for weight, found in ((1.0, main), *((PART_WEIGHT, other) for other in others)):
        for place, hit in enumerate(found, start=1):
            chunk_id = hit.chunk.chunk_id
            hits.setdefault(chunk_id, hit)
            merged[chunk_id] = merged.get(chunk_id, 0.0) + weight / (RANK_CONSTANT + place)
    ordered = sorted(merged, key=lambda chunk_id: (-merged[chunk_id], chunk_id))
    return tuple(replace(hits[chunk_id], rank=rank) for rank, chunk_id in enumerate(ordered, start=1))
