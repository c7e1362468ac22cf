from __future__ import annotations

from evals.latency import LatencyPlan, measure_search_latency
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
