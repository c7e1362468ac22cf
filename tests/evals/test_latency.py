from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from evals.latency import LatencyPlan, measure_search_latency
from evals.reports.plots import SizeLatency, growth_svg
from evals.retrieval import EvaluationProgress
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.settings import SearchSettings


def test_a_store_is_filled_and_searched_with_and_without_a_filter() -> None:
    seen: list[EvaluationProgress] = []
    latency = measure_search_latency(
        LatencyPlan(chunks=700, queries=5, rounds=2, optimize=True),
        embedder=HashingEmbedder(dim=32),
        settings=SearchSettings(),
        on_progress=seen.append,
    )
    assert (latency.chunks, latency.queries, latency.rounds, latency.optimized) == (700, 5, 2, True)
    assert seen == [("index", 500, 700), ("index", 700, 700)]
    for measured in (latency.unfiltered, latency.filtered):
        assert 0 < measured.p50 <= measured.p95
    assert latency.processor_ms > 0
    assert latency.local is None
    assert latency.ratio is None


def test_the_local_mode_searches_the_same_chunks() -> None:
    latency = measure_search_latency(
        LatencyPlan(chunks=200, queries=3, local_queries=2),
        embedder=HashingEmbedder(dim=32),
        settings=SearchSettings(),
    )
    assert latency.local
    assert latency.ratio == latency.local.p50 / latency.unfiltered.p50


def test_kept_store_is_not_filled_again(tmp_path: Path) -> None:
    seen: list[EvaluationProgress] = []
    for _ in range(2):
        measure_search_latency(
            LatencyPlan(chunks=50, queries=2),
            embedder=HashingEmbedder(dim=32),
            settings=SearchSettings(),
            keep=tmp_path,
            on_progress=seen.append,
        )
    assert seen == [("index", 50, 50)]


def test_growth_is_drawn_on_logarithmic_axes() -> None:
    sizes = [SizeLatency(1_000, 2.0, 3.0), SizeLatency(10_000, 4.0, 6.0), SizeLatency(100_000, 8.0, 24.0)]
    root = ElementTree.fromstring(growth_svg(sizes))
    dots = [(float(dot.get("cx", "")), float(dot.get("cy", ""))) for dot in root.iter() if dot.tag.endswith("circle")]
    (first, second, third), worse = dots[:3], dots[3:]
    assert second[0] - first[0] == pytest.approx(third[0] - second[0], abs=0.2)
    assert second[1] - first[1] == pytest.approx(third[1] - second[1], abs=0.2)
    assert all(above[1] < below[1] for above, below in zip(worse, dots[:3], strict=True))
    texts = {text.text for text in root.iter() if text.tag.endswith("text")}
    assert {"1,000", "100,000", "1 ms", "100 ms", "p50", "p95"} <= texts
