"""Small to big: the chunks before and after a hit join it, so that what a cut divided is read together. Blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from retrieval.filters import narrowed
from retrieval.types import Chunk, Hit, HitScores, SearchFilter

ReadChunks: TypeAlias = Callable[[SearchFilter], list[Chunk]]
"""``VectorStore.chunks``."""


def neighbours(
    hits: Sequence[Hit], *, scope: SearchFilter, chunks: ReadChunks, best: int, reach: int = 1
) -> tuple[Hit, ...]:
    """Chunks next to the best hits that are no hits themselves, nearest to the best first.

    Args:
        hits: Best first.
        scope: What the person may see; nothing else is read.
        chunks: Reads chunks of the store.
        best: Number of hits whose neighbours are taken.
        reach: Chunks taken on each side of a hit.
    """
    known = {hit.chunk.chunk_id for hit in hits}
    documents: dict[str, dict[int, Chunk]] = {}
    found: dict[str, Hit] = {}
    for hit in hits[:best]:
        chunk = hit.chunk
        if chunk.document_id not in documents:
            stored = chunks(narrowed(scope, SearchFilter(document_ids=(chunk.document_id,))))
            documents[chunk.document_id] = {other.position: other for other in stored}
        for distance in range(1, reach + 1):
            # What follows comes first: a passage is cut at its end more often than it begins too late.
            for position in (chunk.position + distance, chunk.position - distance):
                other = documents[chunk.document_id].get(position)
                if other and other.version == chunk.version and other.chunk_id not in known:
                    found.setdefault(other.chunk_id, Hit(hit.rank, other, HitScores()))
    return tuple(found.values())


def beside(hits: Sequence[Hit], joined: Sequence[Hit], *, after: int) -> tuple[Hit, ...]:
    """Hits with their neighbours put behind the first ``after`` ones: those best hits are never given up for them."""
    return (*hits[:after], *joined, *hits[after:])
