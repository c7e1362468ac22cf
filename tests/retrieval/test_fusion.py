from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.candidates import fuse_legs
from retrieval.fusion import FusionMethod, by_distribution, min_max, reciprocal_ranks
from retrieval.types import LegResult, ScoredId

METHODS: list[FusionMethod] = list(get_args(FusionMethod))
_IDS = [f"chunk-{number}" for number in range(8)]
# Scores on a grid, so that no difference drowns in rounding.
_SCORES = st.dictionaries(st.sampled_from(_IDS), st.integers(-1000, 1000).map(lambda score: score / 100))
_WEIGHTS = st.integers(0, 10).map(lambda weight: weight / 10)


def _leg(scores: Mapping[str, float], others: Mapping[str, float] | None = None) -> LegResult:
    return LegResult([ScoredId(*pair) for pair in scores.items()], [ScoredId(*pair) for pair in (others or {}).items()])


def _fused(
    dense: Mapping[str, float], lexical: Mapping[str, float], weight: float, method: FusionMethod
) -> dict[str, float]:
    candidates = fuse_legs(_leg(dense), _leg(lexical), method=method, dense_weight=weight)
    assert [candidate.rank for candidate in candidates] == list(range(1, len(candidates) + 1))
    return {candidate.chunk_id: candidate.score for candidate in candidates}


def test_min_max_puts_the_best_at_one_and_the_worst_at_zero() -> None:
    assert min_max({"a": 9.0, "b": 3.0, "c": 6.0}) == {"a": 1.0, "b": 0.0, "c": 0.5}
    assert min_max({"a": 4.0, "b": 4.0}) == {"a": 1.0, "b": 1.0}
    assert min_max({}) == {}


def test_distribution_puts_the_mean_at_a_half_and_three_deviations_at_one() -> None:
    shares = by_distribution({"a": 1.0, "b": 2.0, "c": 3.0})
    assert shares == pytest.approx({"a": 0.5 - 1 / 6, "b": 0.5, "c": 0.5 + 1 / 6})
    assert by_distribution({"a": 7.0}) == {"a": 0.5}
    assert by_distribution({"a": 7.0, "b": 7.0}) == {"a": 0.5, "b": 0.5}
    assert by_distribution({}) == {}


def test_reciprocal_ranks_fall_with_the_rank_and_equal_scores_share_one() -> None:
    assert reciprocal_ranks({"a": 1.0, "b": 5.0, "c": 1.0, "d": 0.5}) == {
        "b": 1.0,
        "a": 61 / 62,
        "c": 61 / 62,
        "d": 61 / 64,
    }


def test_weights_decide_between_legs_that_disagree() -> None:
    dense, lexical = {"a": 1.0, "b": 0.5, "c": 0.0}, {"c": 9.0, "b": 5.0, "a": 0.0}
    assert next(iter(_fused(dense, lexical, 0.7, "minmax"))) == "a"
    assert next(iter(_fused(dense, lexical, 0.3, "minmax"))) == "c"


def test_fused_scores_are_the_weighted_sum_of_both_legs() -> None:
    fused = _fused({"a": 1.0, "b": 0.0}, {"b": 8.0, "c": 4.0, "d": 5.0}, 0.6, "minmax")
    assert fused == pytest.approx({"a": 0.6 - 0.4, "b": 0.4, "d": 0.1, "c": 0.0})
    assert list(fused) == ["b", "a", "d", "c"]


@pytest.mark.parametrize("method", ["minmax", "dbsf"])
def test_what_a_leg_did_not_return_counts_by_its_own_score(method: FusionMethod) -> None:
    dense, lexical = {"a": 0.9, "b": 0.8, "c": 0.7}, {"d": 9.0, "e": 8.8, "f": 7.0}
    near, far = {"d": 0.2, "e": 0.69, "f": 0.1}, {"a": 1.0, "b": 6.9}
    found = fuse_legs(_leg(dense, near), _leg(lexical, far), method=method, dense_weight=0.5)
    by_id = {fused.chunk_id: fused for fused in found}
    assert (by_id["e"].dense.rank, by_id["e"].dense.score) == (None, 0.69)
    assert by_id["e"].score > by_id["d"].score
    assert by_id["c"].bm25.normalised < by_id["a"].bm25.normalised < by_id["b"].bm25.normalised < 0.5


def test_an_only_score_leaves_the_rest_at_zero() -> None:
    found = fuse_legs(_leg({"a": 0.9, "b": 0.8}), _leg({"a": 9.0}), method="dbsf", dense_weight=0.5)
    assert {fused.chunk_id: fused.bm25.normalised for fused in found} == {"a": 0.5, "b": 0.0}


@pytest.mark.parametrize("method", METHODS)
def test_both_legs_say_what_they_gave(method: FusionMethod) -> None:
    found = fuse_legs(_leg({"a": 0.9, "b": 0.5}), _leg({"a": 9.0, "c": 5.0}), method=method, dense_weight=0.3)
    both, lexical_alone = found[0], next(candidate for candidate in found if candidate.chunk_id == "c")
    assert (both.chunk_id, both.dense.rank, both.bm25.rank) == ("a", 1, 1)
    assert (lexical_alone.dense.rank, lexical_alone.dense.score, lexical_alone.dense.contribution) == (None, None, 0.0)
    for candidate in found:
        for share in (candidate.dense, candidate.bm25):
            assert share.contribution == pytest.approx(share.weight * share.normalised)
        assert candidate.score == candidate.dense.contribution + candidate.bm25.contribution


@pytest.mark.parametrize("method", METHODS)
def test_empty_legs_fuse_to_nothing(method: FusionMethod) -> None:
    assert _fused({}, {}, 0.5, method) == {}


@pytest.mark.parametrize("method", METHODS)
@given(dense=_SCORES, lexical=_SCORES, weight=_WEIGHTS)
def test_every_found_chunk_is_in_the_result_once_best_first(
    method: FusionMethod, dense: dict[str, float], lexical: dict[str, float], weight: float
) -> None:
    fused = _fused(dense, lexical, weight, method)
    assert fused.keys() == dense.keys() | lexical.keys()
    assert list(fused.values()) == sorted(fused.values(), reverse=True)
    assert all(map(math.isfinite, fused.values()))
    if method == "rrf":
        assert all(0 <= score <= 1 + 1e-12 for score in fused.values())


@pytest.mark.parametrize("method", METHODS)
@given(dense=_SCORES, lexical=_SCORES, weight=_WEIGHTS, seed=st.randoms(use_true_random=False))
def test_the_order_in_which_a_leg_lists_its_chunks_does_not_matter(
    method: FusionMethod, dense: dict[str, float], lexical: dict[str, float], weight: float, seed: object
) -> None:
    shuffled = list(dense.items())
    seed.shuffle(shuffled)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType] # a Random
    again = _fused(dict(shuffled), dict(reversed(lexical.items())), weight, method)
    assert again == pytest.approx(_fused(dense, lexical, weight, method))


@pytest.mark.parametrize("method", METHODS)
@given(dense=_SCORES, lexical=_SCORES, weight=_WEIGHTS)
def test_a_chunk_that_is_no_worse_in_both_legs_is_no_worse_in_the_result(
    method: FusionMethod, dense: dict[str, float], lexical: dict[str, float], weight: float
) -> None:
    fused = _fused(dense, lexical, weight, method)
    both = sorted(dense.keys() & lexical.keys())
    for better in both:
        for worse in both:
            if dense[better] >= dense[worse] and lexical[better] >= lexical[worse]:
                assert fused[better] >= fused[worse] - 1e-9


@pytest.mark.parametrize("method", METHODS)
@given(dense=_SCORES)
def test_one_empty_leg_leaves_the_order_of_the_other(method: FusionMethod, dense: dict[str, float]) -> None:
    expected = sorted(dense, key=lambda chunk_id: (-dense[chunk_id], chunk_id))
    assert list(_fused(dense, {}, 0.5, method)) == expected
    assert list(_fused({}, dense, 0.5, method)) == expected
