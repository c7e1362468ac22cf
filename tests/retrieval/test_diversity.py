from __future__ import annotations

from retrieval.diversity import diversified, without_duplicates
from retrieval.resemblance import resemblance
from tests.retrieval.ranked import passage, ranked, texts

_LIMITS = "A container that uses more memory than its limit is ended by the kernel of the node."


def test_a_repeat_is_left_out_and_named_by_the_better_passage() -> None:
    repeat = passage("copy", _LIMITS.upper())
    candidates = ranked(passage("a", _LIMITS), passage("b", "Exit code 137."), repeat, passage("c", "Rotate keys."))
    kept = without_duplicates(candidates, threshold=0.9, wanted=10)
    assert texts(kept) == [_LIMITS, "Exit code 137.", "Rotate keys."]
    assert [candidate.duplicates for candidate in kept] == [(repeat.chunk_id,), (), ()]


def test_a_like_passage_with_another_figure_is_kept() -> None:
    other = _LIMITS.replace("its limit", "its limit of 2 GiB")
    candidates = ranked(passage("a", _LIMITS.replace("its limit", "its limit of 1 GiB")), passage("b", other))
    assert without_duplicates(candidates, threshold=0.5, wanted=10) == candidates


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
