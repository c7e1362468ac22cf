from __future__ import annotations

from agents.searching import merge_hits
from retrieval.types import Hit, HitScores
from tests.agents.passages import chunk


def _hits(*numbers: int, cosine: float = 0.5) -> list[Hit]:
    return [Hit(rank, chunk("text", number=n), HitScores(dense=cosine)) for rank, n in enumerate(numbers, start=1)]


def _order(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.chunk.chunk_id for hit in hits]


def test_without_parts_the_order_is_that_of_the_question() -> None:
    assert merge_hits(_hits(1, 2), []) == tuple(_hits(1, 2))


def test_what_question_and_part_both_find_comes_first_and_each_hit_once() -> None:
    merged = merge_hits(_hits(1, 2, 3), [_hits(3, 4)])
    assert _order(merged) == ["chunk-3", "chunk-1", "chunk-2", "chunk-4"]
    assert [hit.rank for hit in merged] == [1, 2, 3, 4]


def test_hit_keeps_the_scores_of_the_question() -> None:
    (hit,) = merge_hits(_hits(1, cosine=0.7), [_hits(1, cosine=0.2)])
    assert hit.scores.dense == 0.7
