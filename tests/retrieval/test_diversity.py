from __future__ import annotations

import pytest

from retrieval.diversity import diversified, resemblance, without_duplicates
from tests.retrieval.ranked import passage, ranked, texts

_LIMITS = "A container that uses more memory than its limit is ended by the kernel of the node."


def test_resemblance_counts_runs_of_words_and_nothing_else() -> None:
    assert resemblance("Drain the node first", "drain  THE\nnode first") == 1.0
    assert resemblance("one two three four", "two three four five") == pytest.approx(1 / 3)
    assert resemblance("pod", "pod") == 1.0
    assert resemblance("pod", "node") == resemblance("", "pod here now") == 0.0


def test_a_repeat_is_left_out_and_named_by_the_better_passage() -> None:
    repeat = passage("copy", _LIMITS.upper())
    candidates = ranked(passage("a", _LIMITS), passage("b", "Exit code 137."), repeat, passage("c", "Rotate keys."))
    kept = without_duplicates(candidates, threshold=0.9, wanted=10)
    assert texts(kept) == [_LIMITS, "Exit code 137.", "Rotate keys."]
    assert [candidate.duplicates for candidate in kept] == [(repeat.chunk_id,), (), ()]


def test_nothing_is_left_out_where_nobody_looks_or_where_it_is_off() -> None:
    candidates = ranked(passage("a", _LIMITS), passage("b", "Exit code 137."), passage("copy", _LIMITS))
    assert without_duplicates(candidates, threshold=1.1, wanted=10) == candidates
    assert without_duplicates(candidates, threshold=0.9, wanted=2) == candidates


def test_novelty_lifts_a_different_passage_over_a_like_one() -> None:
    like = _LIMITS.replace("node", "machine")
    candidates = ranked(passage("a", _LIMITS), passage("b", like), passage("c", "Rotate the keys every ninety days."))
    assert texts(diversified(candidates, diversity=0.0, wanted=3)) == texts(candidates)
    various = diversified(candidates, diversity=0.5, wanted=3)
    assert texts(various) == [_LIMITS, "Rotate the keys every ninety days.", like]
    share = various[2].diversity
    assert share is not None
    assert (share.rank_before, share.similarity, share.penalty) == (
        2,
        resemblance(_LIMITS, like),
        0.5 * resemblance(_LIMITS, like),
    )


def test_candidates_that_nobody_looks_at_follow_as_they_were() -> None:
    candidates = ranked(*(passage(name, f"{name} same words here") for name in "abcd"))
    various = diversified(candidates, diversity=0.9, wanted=2)
    assert [candidate.diversity is None for candidate in various] == [False, False, True, True]
    assert sorted(texts(various)) == sorted(texts(candidates))
