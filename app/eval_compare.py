"""Two evaluations compared question by question: differences, their intervals, and how likely chance makes them. Pure.

Both tests keep the pairs together. The p-value is that of the paired randomisation test (Fisher): the share of ways to
swap the two results of each question that give a mean difference as large as the measured one, in either direction.
All ways are counted up to 2**14, beyond that a fixed random sample is. The interval is the percentile bootstrap over
questions (Efron).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from app.eval_schema import ChangedCase, EvalCase, EvalComparison, PairedMeasure

RESAMPLES = 10_000
_EXACT_PAIRS = 14
_SEED = 20260101
_TIE = 1e-12
"""Sums of the same numbers in another order differ by less."""
_LOWER_IS_BETTER = ("latency_ms",)


def compare_cases(first: Sequence[EvalCase], second: Sequence[EvalCase], *, names: tuple[str, str]) -> EvalComparison:
    """The second evaluation against the first, over the questions that both measured.

    Args:
        first: What is compared with.
        second: What is compared.
        names: How people call the two.
    """
    before = {case.question_id: case for case in first}
    after = {case.question_id: case for case in second}
    shared = [question_id for question_id in before if question_id in after]
    measures = dict.fromkeys(name for question_id in shared for name in before[question_id].values)
    paired = [
        measure
        for name in measures
        if (measure := _measure(name, [before[key] for key in shared], [after[key] for key in shared])) is not None
    ]
    changed = [
        ChangedCase(
            question_id=key,
            question=before[key].question,
            passed=(before[key].passed, after[key].passed),
            why_not=(before[key].why_not, after[key].why_not),
        )
        for key in shared
        if before[key].passed != after[key].passed
    ]
    return EvalComparison(
        names=names, questions=len(shared), measures=paired, changed=changed, differences=_differences(before, after)
    )


def randomisation_p_value(differences: NDArray[np.float64]) -> float:
    """Two-sided p-value that the mean of paired differences is 0; 1.0 without a difference."""
    moved = differences[np.abs(differences) > _TIE]
    if not moved.size:
        return 1.0
    observed = abs(float(moved.sum())) - _TIE
    if moved.size <= _EXACT_PAIRS:
        signs = np.array(list(product((1.0, -1.0), repeat=moved.size)))
        return float(np.mean(np.abs(signs @ moved) >= observed))
    signs = np.random.default_rng(_SEED).choice((1.0, -1.0), size=(RESAMPLES, moved.size))
    # The measured order is one of the ways, so that the p-value is never 0 (Davison and Hinkley 1997, section 4.2).
    return float((1 + np.count_nonzero(np.abs(signs @ moved) >= observed)) / (1 + RESAMPLES))


def bootstrap_interval(differences: NDArray[np.float64]) -> tuple[float, float]:
    """Where the mean difference lies with 95 % confidence."""
    drawn = np.random.default_rng(_SEED).integers(0, differences.size, size=(RESAMPLES, differences.size))
    low, high = np.percentile(differences[drawn].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def _measure(name: str, first: Sequence[EvalCase], second: Sequence[EvalCase]) -> PairedMeasure | None:
    pairs = [
        (one.values[name], other.values[name])
        for one, other in zip(first, second, strict=True)
        if name in one.values and name in other.values
    ]
    if not pairs:
        return None
    values = np.array(pairs, dtype=np.float64)
    differences = values[:, 1] - values[:, 0]
    low, high = bootstrap_interval(differences)
    gains = -differences if name in _LOWER_IS_BETTER else differences
    return PairedMeasure(
        measure=name,
        questions=len(pairs),
        values=(round(float(values[:, 0].mean()), 4), round(float(values[:, 1].mean()), 4)),
        difference=round(float(differences.mean()), 4),
        interval=(round(low, 4), round(high, 4)),
        p_value=round(randomisation_p_value(differences), 4),
        better=int(np.count_nonzero(gains > _TIE)),
        worse=int(np.count_nonzero(gains < -_TIE)),
    )


def _differences(before: Mapping[str, EvalCase], after: Mapping[str, EvalCase]) -> tuple[str, ...]:
    """What keeps the two from being the same questions, in words."""
    notes: list[str] = []
    if only := len(before.keys() - after.keys()):
        notes.append(f"{only} questions are in the first alone.")
    if only := len(after.keys() - before.keys()):
        notes.append(f"{only} questions are in the second alone.")
    return tuple(notes)
