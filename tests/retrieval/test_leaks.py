"""A restricted search never shows a chunk from outside its filter, whatever is stored and asked; over both homes."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from qdrant_client import QdrantClient

from retrieval.read_filters import read_filters
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.store.qdrant import open_qdrant_store
from retrieval.types import SearchFilter
from tests.retrieval.oracle import may_be_seen
from tests.retrieval.points import EMBEDDER, LEXICAL, make_chunk, make_point, uuid_of

COLLECTIONS = ("ops", "hr", "legal")
TEAMS = ("sre", "dev", "law")
WORDS = ("pod", "memory", "limit", "restart", "etcd", "backup", "salary", "merger")
CHUNKS = [
    replace(
        make_chunk(
            " ".join(WORDS[(document + position + step) % len(WORDS)] for step in range(5)),
            document=f"doc-{document}",
            collection=COLLECTIONS[document % 3],
            position=position,
            metadata={"team": TEAMS[document % 2], "tags": [TEAMS[document % 3], "all"]},
        ),
        version=f"v{document}",
    )
    for document in range(12)
    for position in range(4)
]
HIDDEN_VERSION = "v0"


@pytest.fixture(scope="module", params=["edge", "memory"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generator[VectorStore]:
    path: Path = tmp_path_factory.mktemp("leaks")
    if request.param == "edge":
        store: VectorStore = open_edge_store(path, dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
    else:
        store = open_qdrant_store(
            QdrantClient(":memory:"), collection="chunks", dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint
        )
    store.upsert([make_point(chunk) for chunk in CHUNKS])
    store.visibility.change(hide=[HIDDEN_VERSION])
    yield store
    store.close()


queries = st.lists(st.sampled_from((*WORDS, "in the hr collection", "tagged law")), min_size=1, max_size=4).map(
    " ".join
)
pairs = st.tuples(st.sampled_from(("team", "tags")), st.sampled_from(TEAMS))
filters = st.builds(
    SearchFilter,
    collections=st.lists(st.sampled_from((*COLLECTIONS, "none")), unique=True, max_size=2).map(tuple),
    document_ids=st.lists(
        st.sampled_from([uuid_of(f"doc-{number}") for number in range(12)]), unique=True, max_size=3
    ).map(tuple),
    metadata=st.dictionaries(st.sampled_from(("team", "tags")), st.sampled_from(TEAMS), max_size=2),
    any_of=st.lists(st.lists(pairs, min_size=1, max_size=2).map(tuple), max_size=1).map(tuple),
)


@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries, search_filter=filters, limit=st.integers(1, 60))
def test_hits_explanations_and_counts_stay_within_the_filter(
    store: VectorStore, query: str, search_filter: SearchFilter, limit: int
) -> None:
    retriever = Retriever(embedder=EMBEDDER, store=store, lexical=LEXICAL, settings=SearchSettings(candidates=20))
    visible = [chunk for chunk in CHUNKS if may_be_seen(chunk, search_filter)]
    shown = {chunk.chunk_id for chunk in visible if chunk.version != HIDDEN_VERSION}
    result = retriever.search(query, search_filter=search_filter, limit=limit, explain=True)
    assert {hit.chunk.chunk_id for hit in result.hits} <= shown
    assert result.explanation
    assert result.explanation.searched == len(visible)
    bounded = SearchFilter(collections=search_filter.collections)
    assert result.explanation.stored == sum(may_be_seen(chunk, bounded) for chunk in CHUNKS)
    for hit in result.hits:
        assert hit.explanation
        assert set(hit.explanation.duplicates) <= shown


@hypothesis_settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries, within=filters)
def test_filters_read_from_the_words_stay_within_the_given_one(
    store: VectorStore, query: str, within: SearchFilter
) -> None:
    read = read_filters(query, within=within, count=store.count)
    assert all(may_be_seen(chunk, within) for chunk in store.chunks(read.search_filter))
    if read.filters and any(one.applied for one in read.filters):
        assert store.count(read.search_filter) > 0


@pytest.mark.parametrize("collection", COLLECTIONS)
def test_a_word_that_only_hidden_chunks_have_is_not_known(store: VectorStore, collection: str) -> None:
    secret = make_chunk("zanzibar pod", document="secret", collection="secret")
    store.upsert([make_point(secret)])
    retriever = Retriever(embedder=EMBEDDER, store=store, lexical=LEXICAL, settings=SearchSettings())
    result = retriever.search(
        "zanzibar pod", search_filter=SearchFilter(collections=(collection,)), limit=60, explain=True
    )
    assert result.hits
    for hit in result.hits:
        assert hit.explanation
        (term,) = [term for term in hit.explanation.terms if term.spelling == "zanzibar"]
        assert (term.count, term.idf, term.contribution) == (0, None, 0.0)
    store.delete_chunks([secret.chunk_id])
