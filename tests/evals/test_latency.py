from __future__ import annotations

from evals.latency import measure_search_latency
from evals.retrieval import EvaluationProgress
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.settings import SearchSettings


def test_a_store_is_filled_and_searched_with_and_without_a_filter() -> None:
    seen: list[EvaluationProgress] = []
    latency = measure_search_latency(
        embedder=HashingEmbedder(dim=32),
        settings=SearchSettings(),
        chunks=700,
        queries=5,
        optimize=True,
        on_progress=seen.append,
    )
    assert (latency.chunks, latency.queries, latency.optimized) == (700, 5, True)
    assert seen == [("index", 500, 700), ("index", 700, 700)]
    for measured in (latency.unfiltered, latency.filtered):
        assert 0 < measured.p50 <= measured.p95
