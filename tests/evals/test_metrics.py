"""Figures worked out by hand from the definitions."""

from __future__ import annotations

import math

import pytest

from evals.metrics import ranking_metrics


def test_a_perfect_ranking_has_one_in_everything() -> None:
    metrics = ranking_metrics({"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0, "c": 0.5}})
    assert metrics == pytest.approx((1.0, 1.0, 1.0, 1.0, 1.0))


def test_each_metric_follows_its_definition() -> None:
    results = {"q": {"x": 4.0, "a": 3.0, "y": 2.0, "b": 1.0}}
    metrics = ranking_metrics({"q": {"a": 1, "b": 1, "missed": 1}}, results)
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 / math.log2(2) + 1 / math.log2(3) + 1 / math.log2(4)
    assert metrics.ndcg_at_10 == pytest.approx(gain / ideal)
    assert metrics.recall_at_10 == pytest.approx(2 / 3)
    assert metrics.mrr_at_10 == pytest.approx(1 / 2)
    assert metrics.map == pytest.approx((1 / 2 + 2 / 4) / 3)


def test_grades_are_gains() -> None:
    metrics = ranking_metrics({"q": {"good": 2, "fair": 1}}, {"q": {"fair": 2.0, "good": 1.0}})
    assert metrics.ndcg_at_10 == pytest.approx((1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3)))


def test_only_the_first_ten_or_hundred_count() -> None:
    results = {"q": {f"x{number:03}": 1000.0 - number for number in range(200)}}
    metrics = ranking_metrics({"q": {"x009": 1, "x010": 1, "x099": 1, "x100": 1}}, results)
    assert (metrics.recall_at_10, metrics.recall_at_100) == (1 / 4, 3 / 4)
    assert metrics.mrr_at_10 == pytest.approx(1 / 10)
    assert ranking_metrics({"q": {"x010": 1}}, results).mrr_at_10 == 0.0


def test_queries_are_averaged_and_one_without_results_counts_as_zero() -> None:
    judgements = {"found": {"a": 1}, "missed": {"b": 1}}
    metrics = ranking_metrics(judgements, {"found": {"a": 1.0}, "unjudged": {"a": 1.0}})
    assert metrics == pytest.approx((0.5, 0.5, 0.5, 0.5, 0.5))
