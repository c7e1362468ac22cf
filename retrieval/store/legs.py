"""Both legs of one search, and what each says of the chunks that only the other one found. Knows no store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, Protocol, TypeAlias

from retrieval.types import LegResult, Legs, ScoredId, SearchFilter


class Scope(NamedTuple):
    """What one search may see, and how much of it is wanted of each leg."""

    search_filter: SearchFilter
    hidden: frozenset[str]
    limit: int


class _Point(Protocol):
    @property
    def id(self) -> object: ...

    @property
    def score(self) -> float: ...


Among: TypeAlias = Collection[str] | None
"""The chunks that a leg looks at; None for all of them."""
RankBoth: TypeAlias = Callable[[Among, Among], tuple[list[ScoredId], list[ScoredId]]]
"""The dense and the lexical leg at once, best first, each among its own chunks; among none nothing is found."""


def both_legs(rank: RankBoth, *, limit: int) -> Legs:
    """Both legs over all chunks, then each over what the other one found.

    Args:
        rank: Asks a store.
        limit: What a leg returns at most.
    """
    dense, bm25 = rank(None, None)
    dense_ids, bm25_ids = {found.chunk_id for found in dense}, {found.chunk_id for found in bm25}
    # A lexical leg that returned fewer than asked for has no others: the rest has none of the question's terms.
    unasked = dense_ids - bm25_ids if len(bm25) == limit else ()
    others_of_dense, others_of_bm25 = rank(bm25_ids - dense_ids, unasked)
    return Legs(LegResult(dense, others_of_dense), LegResult(bm25, others_of_bm25))


def best_first(points: Iterable[_Point]) -> list[ScoredId]:
    """What a leg returned; equal scores by id, the same in every home."""
    return sorted(
        (ScoredId(str(point.id), point.score) for point in points), key=lambda found: (-found.score, found.chunk_id)
    )
