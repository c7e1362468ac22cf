"""Both homes rank the same data in the same order."""

from __future__ import annotations

import random
from collections.abc import Generator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.store.qdrant import open_qdrant_store
from retrieval.types import IndexedChunk, SearchFilter
from tests.retrieval.points import EMBEDDER, LEXICAL, make_chunk, make_point

_WORDS = ["pod", "node", "kubelet", "limit", "memory", "restart", "OOMKilled", "probe", "rollout", "quota", "evicted"]
_FILTERS = [SearchFilter(), SearchFilter(collections=("odd",)), SearchFilter(metadata={"team": "team-1"})]


def _points() -> list[IndexedChunk]:
    generator = random.Random(7)
    chunks = [
        make_chunk(
            " ".join(generator.choices(_WORDS, k=generator.randint(3, 40))),
            document=f"document-{number}",
            collection="odd" if number % 2 else "even",
            metadata={"team": f"team-{number % 3}"},
        )
        for number in range(150)
    ]
    return [make_point(chunk) for chunk in chunks]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[VectorStore, VectorStore]]:
    edge = open_edge_store(Path(tmp_path_factory.mktemp("edge")), dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
    server = open_qdrant_store(
        QdrantClient(":memory:"), collection="chunks", dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint
    )
    for store in (edge, server):
        store.upsert(_points())
    yield edge, server
    edge.close()
    server.close()


@pytest.mark.parametrize("search_filter", _FILTERS)
@pytest.mark.parametrize("query", ["memory limit", "OOMKilled pod restart", "drain the node", "quota quota probe"])
def test_both_homes_give_the_same_scores(
    stores: tuple[VectorStore, VectorStore], query: str, search_filter: SearchFilter
) -> None:
    edge, server = stores
    vector, terms = EMBEDDER.embed_query(query), LEXICAL.encode_query(query)
    of_edge, of_server = (
        store.search_legs(vector, terms, search_filter=search_filter, limit=200) for store in (edge, server)
    )
    assert dict(of_edge.dense.found) == pytest.approx(dict(of_server.dense.found), abs=1e-4)
    assert dict(of_edge.bm25.found) == pytest.approx(dict(of_server.bm25.found), abs=1e-4)


@pytest.mark.parametrize("query", ["memory limit", "OOMKilled pod restart", "drain the node"])
def test_both_homes_give_the_same_ranking(stores: tuple[VectorStore, VectorStore], query: str) -> None:
    rankings = [
        [
            hit.chunk.chunk_id
            for hit in Retriever(
                embedder=EMBEDDER, store=store, lexical=LEXICAL, settings=SearchSettings(candidates=150)
            )
            .search(query)
            .hits
        ]
        for store in stores
    ]
    assert rankings[0] == rankings[1]
