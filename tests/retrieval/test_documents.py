from __future__ import annotations

import pytest

from retrieval.documents import spread, with_support
from tests.retrieval.ranked import passage, ranked, texts


def test_a_document_with_several_good_passages_passes_one_with_a_single_one() -> None:
    lone, first, second, third = (
        passage("lone", "lone"),
        passage("rich", "first", 0),
        passage("rich", "second", 1),
        passage("rich", "third", 2),
    )
    candidates = ranked(lone, first, second, third, passage("end", "end"), scores=(1.0, 0.95, 0.9, 0.8, 0.0))
    supported = with_support(candidates, weight=0.5)
    assert texts(supported) == ["first", "second", "third", "lone", "end"]
    assert supported[0].support == pytest.approx(0.5 * (0.95 + 0.9 + 0.8) / 3)
    assert supported[0].relevance == pytest.approx(supported[0].fused.score + supported[0].support)


@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
def test_documents_of_one_passage_keep_their_order(weight: float) -> None:
    candidates = ranked(*(passage(name, name) for name in "abcd"))
    assert texts(with_support(candidates, weight=weight)) == list("abcd")


def test_no_document_takes_more_than_its_places_at_the_top() -> None:
    candidates = ranked(
        passage("a", "a0"), passage("a", "a1", 1), passage("a", "a2", 2), passage("b", "b0"), passage("a", "a3", 3)
    )
    assert texts(spread(candidates, per_document=2)) == ["a0", "a1", "b0", "a2", "a3"]
    assert texts(spread(candidates, per_document=1)) == ["a0", "b0", "a1", "a2", "a3"]
    assert texts(spread(candidates, per_document=0)) == ["a0", "a1", "a2", "b0", "a3"]


def test_nothing_comes_of_nothing() -> None:
    assert with_support([], weight=0.5) == []
    assert spread([], per_document=2) == []
