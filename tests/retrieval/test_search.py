from __future__ import annotations

from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pytest

from retrieval.candidates import Candidate
from retrieval.errors import RerankFailed, RerankTimedOut
from retrieval.explanation import RerankShare
from retrieval.rerankers.protocol import RerankScore
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.store.edge import EdgeStore, open_edge_store
from retrieval.types import SearchFilter, SearchWarning
from tests.retrieval.points import EMBEDDER, LEXICAL, make_points


@pytest.fixture
def store(tmp_path: Path) -> Generator[EdgeStore]:
    store = open_edge_store(tmp_path, dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
    store.upsert(
        make_points(
            "A container that was OOMKilled used more memory than its limit.",
            "Exit code 137 means that a process got SIGKILL.",
            "Rotate certificates every ninety days.",
            document="memory",
        )
    )
    store.upsert(make_points("The memory limit of a team's quota.", document="quota", collection="finance"))
    yield store
    store.close()


def _retriever(store: EdgeStore, settings: SearchSettings | None = None) -> Retriever:
    return Retriever(embedder=EMBEDDER, store=store, lexical=LEXICAL, settings=settings or SearchSettings())


def test_the_best_hit_comes_first_and_says_why(store: EdgeStore) -> None:
    result = _retriever(store, SearchSettings(fusion="minmax")).search(
        "Which memory limits did the OOMKilled containers have?"
    )
    best = result.hits[0]
    assert best.chunk.text.startswith("A container that was OOMKilled")
    assert [hit.rank for hit in result.hits] == [1, 2, 3, 4]
    assert best.matched_terms == ("memory", "limits", "oomkilled", "oom", "killed", "containers")
    assert (best.scores.dense_rank, best.scores.bm25_rank, best.scores.rerank) == (1, 1, None)
    assert best.scores.fused == 1.0
    assert result.query == "Which memory limits did the OOMKilled containers have?"


def test_a_hit_of_one_leg_has_no_score_in_the_other(store: EdgeStore) -> None:
    hits = _retriever(store).search("certificates").hits
    assert hits[0].chunk.text.startswith("Rotate certificates")
    assert hits[0].scores.bm25 is not None
    assert {(hit.scores.bm25, hit.scores.bm25_rank, hit.matched_terms) for hit in hits[1:]} == {(None, None, ())}


@pytest.mark.parametrize("method", ["minmax", "dbsf", "rrf"])
def test_every_fusion_ranks_with_falling_scores_between_zero_and_one(store: EdgeStore, method: str) -> None:
    settings = SearchSettings.model_validate({"fusion": method})
    hits = _retriever(store, settings).search("memory limit exit code").hits
    fused = [hit.scores.fused for hit in hits]
    assert fused == sorted(fused, reverse=True)
    assert all(0 <= score <= 1 for score in fused)


def test_the_weight_of_a_leg_can_be_taken_away(store: EdgeStore) -> None:
    lexical_alone = _retriever(store, SearchSettings(dense_weight=0.0)).search("certificates")
    assert [hit.chunk.position for hit in lexical_alone.hits if hit.scores.fused > 0] == [2]


def test_the_caller_limits_the_hits(store: EdgeStore) -> None:
    assert len(_retriever(store, SearchSettings(limit=2)).search("memory").hits) == 2
    assert len(_retriever(store, SearchSettings(limit=2)).search("memory", limit=3).hits) == 3
    assert len(_retriever(store, SearchSettings(candidates=1)).search("memory", limit=4).hits) == 4


def test_a_filter_holds_for_both_legs(store: EdgeStore) -> None:
    result = _retriever(store).search("memory limit", search_filter=SearchFilter(collections=("finance",)))
    assert [hit.chunk.collection for hit in result.hits] == ["finance"]


@pytest.mark.parametrize("query", ["", "  \n", "?!", "🚀 …"])
def test_a_query_without_content_finds_nothing(store: EdgeStore, query: str) -> None:
    result = _retriever(store).search(query)
    assert (result.query, result.hits) == (query, ())


def test_a_query_of_stop_words_alone_is_answered_by_the_dense_leg(store: EdgeStore) -> None:
    hits = _retriever(store).search("how is it").hits
    assert len(hits) == 4
    assert all(hit.scores.bm25 is None for hit in hits)


def test_timings_add_up(store: EdgeStore) -> None:
    timings = _retriever(store).search("memory").timings
    assert timings.total == pytest.approx(timings.embed + timings.search + timings.rerank)
    assert timings.embed > 0


def test_threads_get_the_answers_that_one_thread_gets(store: EdgeStore) -> None:
    queries = ["memory limit", "exit code 137", "certificates", "OOMKilled"] * 8
    retriever = _retriever(store)

    def found(query: str) -> list[str]:
        return [hit.chunk.chunk_id for hit in retriever.search(query).hits]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(found, queries)) == [found(query) for query in queries]


def test_nothing_is_explained_unasked(store: EdgeStore) -> None:
    result = _retriever(store).search("memory limit")
    assert (result.explanation, {hit.explanation for hit in result.hits}) == (None, {None})


def test_an_explanation_adds_up(store: EdgeStore) -> None:
    result = _retriever(store).search("memory limits of OOMKilled containers in Quebec", explain=True)
    assert result.hits
    for hit in result.hits:
        why = hit.explanation
        assert why is not None
        assert why.fused_score == pytest.approx(sum(leg.contribution for leg in why.legs))
        assert [leg.rank for leg in why.legs] == [hit.scores.dense_rank, hit.scores.bm25_rank]
        assert sum(term.contribution for term in why.terms) == pytest.approx(hit.scores.bm25 or 0.0, abs=1e-4)
        assert tuple(term.spelling for term in why.terms if term.count) == hit.matched_terms
        assert {term.idf for term in why.terms if term.spelling == "quebec"} == {None}


def test_an_explanation_counts_what_a_filter_cut(store: EdgeStore) -> None:
    collection = SearchFilter(collections=("default",))
    nothing_cut = _retriever(store).search("memory", search_filter=collection, explain=True).explanation
    document = SearchFilter(collections=("default",), sources=("/docs/nowhere.md",))
    all_cut = _retriever(store).search("memory", search_filter=document, explain=True).explanation
    assert nothing_cut is not None
    assert all_cut is not None
    assert (nothing_cut.stored, nothing_cut.searched) == (3, 3)
    assert (all_cut.stored, all_cut.searched, all_cut.fused) == (3, 0, 0)


def test_an_explanation_counts_the_candidates(store: EdgeStore) -> None:
    why = _retriever(store).search("certificates", limit=1, explain=True).explanation
    assert why is not None
    assert (why.stored, why.dense_candidates, why.bm25_candidates, why.fused, why.below_limit) == (4, 4, 1, 4, 3)


class _Backwards:
    """A reranker that turns the order round."""

    name = "backwards"

    def rerank(self, query: str, candidates: Sequence[Candidate], *, seconds: float) -> list[RerankScore]:
        return [RerankScore(float(place)) for place, _ in enumerate(candidates)]


@dataclass
class _Failing:
    """A reranker that raises."""

    error: RerankFailed
    name: str = "failing"

    def rerank(self, query: str, candidates: Sequence[Candidate], *, seconds: float) -> list[RerankScore]:
        raise self.error


def test_a_reranker_orders_the_best_candidates_and_the_rest_follows(store: EdgeStore) -> None:
    settings = SearchSettings(pool=2, per_document=0)
    before = _retriever(store, settings).search("memory limits").hits
    result = replace(_retriever(store, settings), reranker=_Backwards()).search("memory limits", explain=True)
    names = [hit.chunk.chunk_id for hit in before]
    assert [hit.chunk.chunk_id for hit in result.hits] == [names[1], names[0], *names[2:]]
    assert [hit.scores.rerank for hit in result.hits] == [1.0, 0.0, None, None]
    why = result.hits[0].explanation
    assert why is not None
    assert why.rerank == RerankShare("backwards", 1.0, rank_before=2, rank_after=1)
    assert result.explanation is not None
    assert result.explanation.reranked == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RerankFailed("The server is down; start it."), "rerank_failed"),
        (RerankTimedOut("It took too long; wait."), "rerank_timeout"),
    ],
)
def test_a_failing_reranker_leaves_the_order_and_says_so(
    store: EdgeStore, error: RerankFailed, code: Literal["rerank_failed", "rerank_timeout"]
) -> None:
    plain = _retriever(store).search("memory limits")
    result = replace(_retriever(store), reranker=_Failing(error)).search("memory limits", explain=True)
    assert [hit.chunk.chunk_id for hit in result.hits] == [hit.chunk.chunk_id for hit in plain.hits]
    assert (plain.warnings, result.warnings) == ((), (SearchWarning(code, str(error)),))
    assert result.explanation is not None
    assert result.explanation.reranked == 0


def test_a_repeated_passage_is_found_once_and_named(store: EdgeStore) -> None:
    text = "A container that was OOMKilled used more memory than its limit."
    store.upsert(make_points(text, document="copy"))
    result = _retriever(store).search("OOMKilled container", explain=True)
    assert [hit.chunk.text for hit in result.hits].count(text) == 1
    assert result.hits[0].explanation is not None
    assert len(result.hits[0].explanation.duplicates) == 1
    assert result.explanation is not None
    assert (result.explanation.duplicates, result.explanation.below_limit) == (1, 0)


def test_more_hits_than_the_pool_has_begin_with_the_same_ones(store: EdgeStore) -> None:
    retriever = _retriever(store, SearchSettings(pool=2))
    few, many = retriever.search("memory limit", limit=2).hits, retriever.search("memory limit", limit=4).hits
    assert [hit.chunk.chunk_id for hit in many[:2]] == [hit.chunk.chunk_id for hit in few]
    assert len(many) == 4
