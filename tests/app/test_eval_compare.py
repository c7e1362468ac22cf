from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

from app.eval_compare import bootstrap_interval, compare_cases, randomisation_p_value
from app.eval_schema import EvalCase


def case(question_id: str, passed: bool = True, **values: float) -> EvalCase:
    return EvalCase(
        question_id=question_id,
        kind="lookup",
        answerable=True,
        question=question_id,
        values=values,
        passed=passed,
        why_not="" if passed else "Wrong.",
    )


def test_questions_are_paired_and_the_second_is_held_against_the_first() -> None:
    first = [case("a", ndcg=0.5), case("b", ndcg=0.5), case("gone", ndcg=1.0)]
    second = [case("b", ndcg=1.0), case("a", ndcg=0.75), case("new", ndcg=0.0)]
    comparison = compare_cases(first, second, names=("old", "new"))
    (measure,) = comparison.measures
    assert (measure.measure, measure.questions, measure.values) == ("ndcg", 2, (0.5, 0.875))
    assert (measure.difference, measure.better, measure.worse) == (0.375, 2, 0)
    assert measure.interval == (0.25, 0.5)
    assert measure.p_value == 0.5
    assert comparison.questions == 2
    assert comparison.differences == ("1 questions are in the first alone.", "1 questions are in the second alone.")


def test_shorter_is_better_for_latency_alone() -> None:
    comparison = compare_cases(
        [case("a", latency_ms=10.0, match=1.0)], [case("a", latency_ms=5.0, match=0.0)], names=("a", "b")
    )
    assert [(m.measure, m.better, m.worse) for m in comparison.measures] == [("latency_ms", 1, 0), ("match", 0, 1)]


def test_questions_that_changed_sides_are_listed_with_their_reasons() -> None:
    comparison = compare_cases([case("a"), case("b")], [case("a", passed=False), case("b")], names=("x", "y"))
    (changed,) = comparison.changed
    assert (changed.question_id, changed.passed, changed.why_not) == ("a", (True, False), ("", "Wrong."))


@pytest.mark.parametrize("size", [8, 60])
def test_the_p_value_is_that_of_the_library(size: int) -> None:
    drawn = np.random.default_rng(3)
    first = drawn.normal(0.5, 0.2, size)
    second = first + drawn.normal(0.05, 0.1, size)

    def difference(x: NDArray[np.float64], y: NDArray[np.float64], axis: int) -> Any:
        return np.mean(y - x, axis=axis)

    expected = stats.permutation_test(
        (first, second),
        difference,
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(1),
    ).pvalue
    assert randomisation_p_value(second - first) == pytest.approx(expected, abs=0.01)


def test_no_difference_has_the_p_value_one() -> None:
    assert randomisation_p_value(np.zeros(20)) == 1.0


def test_the_interval_holds_the_mean_and_shrinks_with_more_questions() -> None:
    drawn = np.random.default_rng(5).normal(0.1, 0.3, 400)
    low, high = bootstrap_interval(drawn)
    few_low, few_high = bootstrap_interval(drawn[:40])
    assert low < float(drawn.mean()) < high
    assert high - low < few_high - few_low
    assert high - low == pytest.approx(2 * 1.96 * drawn.std() / 20, rel=0.1)
