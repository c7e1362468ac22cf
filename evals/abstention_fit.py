"""Fitting the decision to withhold an answer: thresholds of the rules, or weights of the learned doubt. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from agents.abstention import EvidenceSignals, is_too_weak
from agents.answerability import SIGNS, LearnedDoubt
from agents.thresholds import FittedThresholds, Thresholds, load_thresholds
from evals.errors import DatasetUnreadable

SWEEPS = 2
GRID: Mapping[str, Sequence[float]] = {
    "min_cosine": [n / 50 for n in range(10, 31)],
    "doubtful_cosine": [n / 50 for n in range(15, 36)],
    "min_coverage": [n / 20 for n in range(4, 19)],
    "sure_cosine": [n / 50 for n in range(20, 43)],
    "code_coverage": [n / 20 for n in range(8, 20)],
    "min_lead": [n / 50 for n in range(21)],
}
"""Values that a fit tries for each threshold."""
FOLDS = 5
REPEATS = 5
"""Ways of cutting the questions into folds; the shares that are reported are means over them."""
LEAST_OF_A_KIND = 25
"""Questions with and without an answer that weights need; fewer teach chance."""
_PENALTY = 0.1
"""Inverse strength of the L2 penalty over standardised signs; results differ little from 0.03 to 0.3."""


@dataclass(frozen=True, slots=True)
class JudgedQuestion:
    """A question, whether the documents answer it, and what the search says of it.

    Attributes:
        question: As typed.
        answerable: Whether the documents hold an answer.
        signals: What the rules look at.
        signs: What learned weights look at; empty where only rules are fitted.
        conversation: Questions of one conversation are never on both sides of a fold.
    """

    question: str
    answerable: bool
    signals: EvidenceSignals
    signs: Mapping[str, float]
    conversation: str


class Point(NamedTuple):
    """Precision and recall of abstaining; 1.0 where nothing was to decide."""

    threshold: float
    precision: float
    recall: float


class LearnedFit(NamedTuple):
    """Weights of all questions, and what weights that did not see a question said of it.

    Attributes:
        learned: Fitted to all questions.
        precision: Of questions judged by weights and a threshold of the other folds, mean over the repeats.
        recall: Likewise.
        doubts: Doubt of each question by weights of the other folds, mean over the repeats.
    """

    learned: LearnedDoubt
    precision: float
    recall: float
    doubts: NDArray[np.float64]


def decision(questions: Sequence[JudgedQuestion], fitted: FittedThresholds | None = None) -> Point:
    """The decision as the graph takes it; None takes the thresholds that are shipped."""
    fitted = fitted or load_thresholds()
    doubts = [fitted.learned.doubt(one.signs) if fitted.learned else None for one in questions]
    return _point(
        0.0,
        [
            (one.answerable, is_too_weak(replace(one.signals, doubt=doubt), fitted))
            for one, doubt in zip(questions, doubts, strict=True)
        ],
    )


def fit_rules(questions: Sequence[JudgedQuestion], start: FittedThresholds) -> Thresholds:
    """Thresholds that raise the smaller of precision and recall, one after the other, twice; ties stay at the start."""
    best, reached = start.thresholds, _reached(questions, start)
    for _ in range(SWEEPS):
        for name, values in GRID.items():
            for value in values:
                tried = best.model_copy(update={name: value})
                found = _reached(questions, start.model_copy(update={"thresholds": tried, "learned": None}))
                if found > reached:
                    best, reached = tried, found
    return best


def fit_learned(questions: Sequence[JudgedQuestion]) -> LearnedFit:
    """Weights of the signs, and how well they do on questions that they have not seen.

    Raises:
        DatasetUnreadable: Too few questions with or without an answer.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    unanswerable = np.array([not one.answerable for one in questions])
    least = min(int(unanswerable.sum()), int((~unanswerable).sum()))
    if least < LEAST_OF_A_KIND:
        raise DatasetUnreadable(
            f"weights need {LEAST_OF_A_KIND} questions with an answer and {LEAST_OF_A_KIND} without one, and of one "
            f"kind there are {least}; add questions, or fit the rules with `--method rules`"
        )
    signs = np.array([[one.signs[name] for name in SIGNS] for one in questions])
    groups = np.array([one.conversation for one in questions])
    doubts = np.zeros(len(questions))
    shares: list[Point] = []
    for repeat in range(REPEATS):
        folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=repeat)
        withheld = np.zeros(len(questions), dtype=bool)
        for seen, unseen in folds.split(signs, unanswerable, groups):
            weights = _weights(signs[seen], unanswerable[seen])
            found = np.array([weights.doubt(dict(zip(SIGNS, row, strict=True))) for row in signs[unseen].tolist()])
            doubts[unseen] += found / REPEATS
            withheld[unseen] = found >= weights.threshold
        shares.append(_point(0.0, list(zip((~unanswerable).tolist(), withheld.tolist(), strict=True))))
    return LearnedFit(
        _weights(signs, unanswerable),
        float(np.mean([share.precision for share in shares])),
        float(np.mean([share.recall for share in shares])),
        doubts,
    )


def cosine_curve(questions: Sequence[JudgedQuestion], thresholds: Iterable[float]) -> list[Point]:
    """What the best cosine alone would do, withholding below each threshold."""
    return [
        _point(threshold, [(one.answerable, (one.signals.top_cosine or 0.0) < threshold) for one in questions])
        for threshold in thresholds
    ]


def doubt_curve(
    questions: Sequence[JudgedQuestion], doubts: Sequence[float], thresholds: Iterable[float]
) -> list[Point]:
    """What the learned doubt does, withholding from each threshold on."""
    pairs = [(one.answerable, doubt) for one, doubt in zip(questions, doubts, strict=True)]
    return [_point(threshold, [(known, doubt >= threshold) for known, doubt in pairs]) for threshold in thresholds]


def _weights(signs: NDArray[np.float64], unanswerable: NDArray[np.bool_]) -> LearnedDoubt:
    """A logistic regression, both kinds weighing the same, and the threshold at which precision and recall meet."""
    from sklearn.linear_model import LogisticRegression

    means, scales = signs.mean(axis=0), np.maximum(signs.std(axis=0), 1e-9)
    model = LogisticRegression(C=_PENALTY, class_weight="balanced", max_iter=2000)
    model.fit((signs - means) / scales, unanswerable)
    weights = cast("NDArray[np.float64]", model.coef_[0]) / scales
    intercept = float(cast("NDArray[np.float64]", model.intercept_)[0] - weights @ means)
    learned = LearnedDoubt(weights=dict(zip(SIGNS, weights.tolist(), strict=True)), intercept=intercept, threshold=1.0)
    doubts = [learned.doubt(dict(zip(SIGNS, row, strict=True))) for row in signs.tolist()]
    known = [(not without, doubt) for without, doubt in zip(unanswerable.tolist(), doubts, strict=True)]
    steps = sorted({0.0, *doubts, 1.0})
    tried = [sum(pair) / 2 for pair in pairwise(steps)]
    points = [_point(between, [(has, doubt >= between) for has, doubt in known]) for between in tried]
    best = max(points, key=lambda point: (min(point.precision, point.recall), point.precision))
    return learned.model_copy(update={"threshold": best.threshold})


def _reached(questions: Sequence[JudgedQuestion], fitted: FittedThresholds) -> tuple[float, float]:
    _, precision, recall = decision(questions, fitted)
    return min(precision, recall), precision + recall


def _point(threshold: float, decided: Sequence[tuple[bool, bool]]) -> Point:
    right = sum(abstained and not answerable for answerable, abstained in decided)
    abstained = sum(abstained for _, abstained in decided)
    unanswerable = sum(not answerable for answerable, _ in decided)
    return Point(threshold, right / abstained if abstained else 1.0, right / unanswerable if unanswerable else 1.0)
