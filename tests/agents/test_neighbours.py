from __future__ import annotations

from agents.neighbours import beside, neighbours
from retrieval.types import Chunk, Hit, HitScores, SearchFilter
from tests.agents.passages import chunk

CHUNKS = [chunk(f"part {number}", number=number, document="d") for number in range(5)]
OTHER = chunk("other", number=9, document="e")


class _Store:
    def __init__(self) -> None:
        self.asked: list[SearchFilter] = []

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        self.asked.append(search_filter)
        if search_filter.collections not in ((), ("default",)):
            return []
        return [one for one in [*CHUNKS, OTHER] if one.document_id in search_filter.document_ids]


def _hit(rank: int, found: Chunk) -> Hit:
    return Hit(rank, found, HitScores(fused=1.0))


def _names(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.chunk.chunk_id for hit in hits]


def test_chunks_beside_the_best_hits_join_what_follows_first() -> None:
    hits = [_hit(1, CHUNKS[2]), _hit(2, CHUNKS[0])]
    assert _names(neighbours(hits, scope=SearchFilter(), chunks=_Store().chunks, best=1)) == ["chunk-3", "chunk-1"]


def test_a_hit_is_no_neighbour_and_a_document_is_read_once() -> None:
    store = _Store()
    hits = [_hit(1, CHUNKS[2]), _hit(2, CHUNKS[3])]
    assert _names(neighbours(hits, scope=SearchFilter(), chunks=store.chunks, best=2)) == ["chunk-1", "chunk-4"]
    assert len(store.asked) == 1


def test_neighbours_are_read_within_what_the_person_may_see() -> None:
    scope = SearchFilter(collections=("runbooks",))
    assert neighbours([_hit(1, CHUNKS[2])], scope=scope, chunks=_Store().chunks, best=1) == ()


def test_neighbours_stand_behind_the_best_hits() -> None:
    hits, joined = (_hit(1, CHUNKS[2]), _hit(2, OTHER)), (_hit(1, CHUNKS[3]),)
    assert _names(beside(hits, joined, after=1)) == ["chunk-2", "chunk-3", "chunk-9"]
