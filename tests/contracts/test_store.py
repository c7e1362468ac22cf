"""The promise of ``VectorStore``, over every home."""

from __future__ import annotations

from dataclasses import replace

import pytest

from retrieval.errors import EmbeddingModelMismatch, StoreUnavailable
from retrieval.filters import NOWHERE
from retrieval.store.protocol import VectorStore
from retrieval.types import Chunk, SearchFilter
from tests.contracts.stores import ALL, Home, dense, lexical, texts_of
from tests.retrieval.points import EMBEDDER, LEXICAL, NO_TERMS, make_chunk, make_point, make_points, uuid_of

FULL_CHUNK = Chunk(
    chunk_id=uuid_of("full"),
    document_id=uuid_of("document"),
    collection="ops",
    source="https://example.org/a b?c=d#e",
    title="Ünïcode 漢字 \u2028",
    position=7,
    text=' first\r\nline\ttab\x00nul "quote" \\ \u00ad 😀 e\u0301 ',
    char_start=3,
    char_end=45,
    page=12,
    heading_path=("A", "", "B > C"),
    token_count=9,
    metadata={
        "team.name": "SRE",
        "": "",
        "year": 2024,
        "large": 2**53 + 1,
        "ratio": 0.1,
        "whole": 3.0,
        "draft": False,
        "tags": ["x", "y=z"],
        "none": [],
        'quo"te': "é",
    },
    context="| code | meaning |",
)


def test_a_chunk_comes_back_as_it_was_written(store: VectorStore) -> None:
    store.upsert([make_point(FULL_CHUNK)])
    (chunk,) = store.chunks(ALL)
    assert chunk == FULL_CHUNK
    assert {key: type(value) for key, value in chunk.metadata.items()} == {
        key: type(value) for key, value in FULL_CHUNK.metadata.items()
    }
    assert [scored.chunk for scored in dense(store, FULL_CHUNK.text)] == [FULL_CHUNK]


def test_a_chunk_without_page_headings_and_metadata_comes_back_as_it_was_written(store: VectorStore) -> None:
    chunk = replace(FULL_CHUNK, page=None, heading_path=(), metadata={}, title="")
    store.upsert([make_point(chunk)])
    assert store.chunks(ALL) == [chunk]


def test_a_chunk_without_index_terms_is_stored_and_found_by_the_dense_leg(store: VectorStore) -> None:
    chunk = replace(make_chunk("... !"), title="")
    store.upsert([make_point(chunk)])
    assert [scored.chunk for scored in dense(store, "anything")] == [chunk]


def test_writing_a_known_id_replaces_the_chunk_in_both_legs(store: VectorStore) -> None:
    old = make_chunk("restart the pod")
    new = replace(old, text="rotate the certificate")
    store.upsert([make_point(old)])
    store.upsert([make_point(new)])
    assert store.chunks(ALL) == [new]
    assert lexical(store, "restart") == []
    assert texts_of(lexical(store, "certificate")) == [new.text]


def test_writing_nothing_changes_nothing(store: VectorStore) -> None:
    store.upsert([])
    store.delete_chunks([])
    assert store.count(ALL) == 0


def test_an_empty_store_answers_with_nothing(store: VectorStore) -> None:
    assert dense(store, "pod") == []
    assert lexical(store, "pod") == []
    assert store.chunk_ids(ALL) == set()
    assert store.chunks(ALL) == []


def test_deleting_chunks_takes_these_alone_and_ignores_unknown_ids(store: VectorStore) -> None:
    first, second = make_points("one", "two")
    store.upsert([first, second])
    store.delete_chunks([first.chunk.chunk_id, uuid_of("unknown")])
    assert store.chunk_ids(ALL) == {second.chunk.chunk_id}


def test_deleting_a_document_takes_all_its_chunks_and_counts_none_left(store: VectorStore) -> None:
    kept = make_points("kept", document="kept")
    store.upsert([*make_points("one", "two", "three", document="gone"), *kept])
    assert store.delete_document(uuid_of("gone")) == 0
    assert store.chunks(ALL) == [point.chunk for point in kept]
    assert lexical(store, "three") == []


def test_deleting_an_unknown_document_counts_none_left(store: VectorStore) -> None:
    store.upsert(make_points("one"))
    assert store.delete_document(uuid_of("unknown")) == 0
    assert store.count(ALL) == 1


def test_the_dense_leg_orders_by_cosine(store: VectorStore) -> None:
    texts = ["memory limit of a container", "memory limit", "certificate rotation"]
    points = make_points(*texts)
    store.upsert(points)
    found = dense(store, "Handbook memory limit")
    assert texts_of(found)[:2] == ["memory limit", "memory limit of a container"]
    query = EMBEDDER.embed_query("Handbook memory limit")
    cosines = {point.chunk.chunk_id: float(point.dense @ query) for point in points}
    assert {scored.chunk.chunk_id: scored.score for scored in found} == pytest.approx(cosines, abs=1e-5)


def test_the_lexical_leg_returns_only_chunks_that_share_a_term(store: VectorStore) -> None:
    store.upsert(make_points("OOMKilled container", "CrashLoopBackOff container", "certificate"))
    found = lexical(store, "oom")
    assert texts_of(found) == ["OOMKilled container"]
    assert found[0].score > 0


def test_the_lexical_leg_counts_a_rare_term_for_more_than_a_common_one(store: VectorStore) -> None:
    store.upsert(make_points("pod restarts", "pod evicted", "pod pending", "pod kubelet", "node kubelet drained"))
    assert texts_of(lexical(store, "pod drained"))[0] == "node kubelet drained"


def test_a_query_without_terms_finds_nothing_in_the_lexical_leg(store: VectorStore) -> None:
    store.upsert(make_points("pod"))
    assert lexical(store, "what is the") == []


def test_both_legs_return_at_most_the_limit_best_first(store: VectorStore) -> None:
    store.upsert(make_points(*(f"pod {'restart ' * number}" for number in range(1, 9))))
    for found in (dense(store, "pod restart", limit=3), lexical(store, "pod restart", limit=3)):
        assert len(found) == 3
        assert [scored.score for scored in found] == sorted((scored.score for scored in found), reverse=True)


FILTERED = [
    make_chunk("pod a", document="a", collection="ops", metadata={"team": "sre", "year": 2024, "tags": ["k8s", "oom"]}),
    make_chunk("pod b", document="b", collection="ops", metadata={"team": "dev", "year": 2023, "ratio": 0.5}),
    make_chunk("pod c", document="c", collection="hr", metadata={"team": "sre", "draft": True, "year": 2024.0}),
    make_chunk("pod d", document="d", collection="legal", metadata={"team.name": "sre", "draft": False, "tags": "k8s"}),
]


@pytest.mark.parametrize(
    ("search_filter", "expected"),
    [
        (SearchFilter(), "abcd"),
        (SearchFilter(collections=("ops",)), "ab"),
        (SearchFilter(collections=("ops", "hr")), "abc"),
        (SearchFilter(collections=("op",)), ""),
        (SearchFilter(sources=("/docs/b.md", "/docs/d.md", "/docs/none.md")), "bd"),
        (SearchFilter(sources=("/docs",)), ""),
        (SearchFilter(document_ids=(uuid_of("c"),)), "c"),
        (SearchFilter(metadata={"team": "sre"}), "ac"),
        (SearchFilter(metadata={"team.name": "sre"}), "d"),
        (SearchFilter(metadata={"year": 2024}), "ac"),
        (SearchFilter(metadata={"year": 2024.0}), "ac"),
        (SearchFilter(metadata={"year": "2024"}), "ac"),
        (SearchFilter(metadata={"ratio": 0.5}), "b"),
        (SearchFilter(metadata={"draft": True}), "c"),
        (SearchFilter(metadata={"draft": "false"}), "d"),
        (SearchFilter(metadata={"draft": 1}), ""),
        (SearchFilter(metadata={"tags": "k8s"}), "ad"),
        (SearchFilter(metadata={"tags": "oom"}), "a"),
        (SearchFilter(metadata={"unknown": "sre"}), ""),
        (SearchFilter(metadata={"team": "sre", "year": 2024}), "ac"),
        (SearchFilter(any_of=((("team", "dev"), ("tags", "oom")),)), "ab"),
        (SearchFilter(any_of=((("team", "dev"), ("team", "sre")), (("draft", True),))), "c"),
        (SearchFilter(any_of=((("file:type", "md"),), (("date:year", "2023"), ("date:year", "2025")))), "b"),
        (NOWHERE, ""),
        (SearchFilter(collections=("ops",), metadata={"team": "sre"}), "a"),
        (SearchFilter(collections=("hr",), document_ids=(uuid_of("a"),)), ""),
    ],
)
def test_a_filter_lets_the_same_chunks_through_everywhere(
    store: VectorStore, search_filter: SearchFilter, expected: str
) -> None:
    store.upsert([make_point(chunk) for chunk in FILTERED])
    wanted = {chunk.chunk_id for chunk in FILTERED if chunk.text[-1] in expected}
    assert {scored.chunk.chunk_id for scored in dense(store, "pod", search_filter)} == wanted
    assert {scored.chunk.chunk_id for scored in lexical(store, "pod", search_filter)} == wanted
    assert store.chunk_ids(search_filter) == wanted
    assert {chunk.chunk_id for chunk in store.chunks(search_filter)} == wanted
    assert store.count(search_filter) == len(wanted)


def test_a_filter_acts_inside_the_search_not_after_it(store: VectorStore) -> None:
    store.upsert(make_points(*["pod restart"] * 20, document="near", collection="other"))
    store.upsert(make_points("a pod that may restart some day", document="far", collection="wanted"))
    wanted = SearchFilter(collections=("wanted",))
    for found in (dense(store, "pod restart", wanted, 1), lexical(store, "pod restart", wanted, 1)):
        assert texts_of(found) == ["a pod that may restart some day"]


def test_chunks_come_ordered_by_document_and_position(store: VectorStore) -> None:
    points = [*make_points("a", "b", "c", document="x"), *make_points("d", "e", document="y")]
    store.upsert(points[::-1])
    expected = sorted((point.chunk for point in points), key=lambda chunk: (chunk.document_id, chunk.position))
    assert store.chunks(ALL) == expected


def test_more_chunks_than_one_page_are_all_read(store: VectorStore) -> None:
    points = make_points(*(f"chunk {number}" for number in range(1001)))
    store.upsert(points)
    assert store.chunk_ids(ALL) == {point.chunk.chunk_id for point in points}
    assert [chunk.position for chunk in store.chunks(ALL)] == list(range(1001))
    assert store.count(ALL) == 1001


def test_points_come_back_with_their_vectors(store: VectorStore) -> None:
    written = make_points("OOMKilled container", "certificate rotation")
    store.upsert(written)
    read = {point.chunk.chunk_id: point for point in store.points(ALL)}
    assert set(read) == {point.chunk.chunk_id for point in written}
    for point in written:
        found = read[point.chunk.chunk_id]
        assert found.chunk == point.chunk
        assert found.dense == pytest.approx(point.dense, abs=1e-6)
        assert dict(zip(found.sparse.indices, found.sparse.values, strict=True)) == pytest.approx(
            dict(zip(point.sparse.indices, point.sparse.values, strict=True))
        )


def test_optimizing_keeps_every_chunk_and_answer(store: VectorStore) -> None:
    store.upsert(make_points("OOMKilled", "CrashLoopBackOff", "Evicted"))
    before = dense(store, "crash loop"), lexical(store, "crash loop"), store.chunks(ALL)
    store.optimize()
    assert (dense(store, "crash loop"), lexical(store, "crash loop"), store.chunks(ALL)) == before


def test_a_store_of_another_model_is_refused(home: Home) -> None:
    first = home.open()
    first.upsert(make_points("pod"))
    if home.one_owner:
        first.close()
    with pytest.raises(EmbeddingModelMismatch, match="another-model"):
        home.open(fingerprint="another-model@1")
    with pytest.raises(EmbeddingModelMismatch, match="32"):
        home.open(dim=32)
    reopened = home.open()
    assert reopened.count(ALL) == 1
    reopened.close()


def test_a_closed_store_says_that_it_cannot_be_used(home: Home) -> None:
    store = home.open()
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable):
        store.count(ALL)
    with pytest.raises(StoreUnavailable):
        dense(store, "pod")
    with pytest.raises(StoreUnavailable):
        store.upsert(make_points("pod"))


def test_each_leg_scores_what_only_the_other_one_found(store: VectorStore) -> None:
    pods, limits = "pod pod pod pod", "limits limits limits"
    long = "the limit of the pod is what it may not pass"
    store.upsert(make_points("pod limit", "pod", pods, limits, long, "certificates"))
    vector, terms = EMBEDDER.embed_query("pod limit"), LEXICAL.encode_query("pod limit")
    by_meaning = {one.chunk.chunk_id: one.score for one in dense(store, "pod limit")}
    by_words = dict(store.search_lexical(terms, search_filter=ALL, limit=10))

    others = [0, 0]
    for limit in range(1, 7):
        legs = store.search_legs(vector, terms, search_filter=ALL, limit=limit)

        near, worded = dict(legs.dense.found), dict(legs.bm25.found)
        assert near == pytest.approx({name: by_meaning[name] for name in list(by_meaning)[:limit]}, abs=1e-6)
        assert worded == pytest.approx({name: by_words[name] for name in list(by_words)[:limit]}, abs=1e-6)
        only_dense, only_bm25 = near.keys() - worded.keys(), worded.keys() - near.keys()
        assert dict(legs.dense.others) == pytest.approx({name: by_meaning[name] for name in only_bm25}, abs=1e-6)
        assert dict(legs.bm25.others) == pytest.approx(
            {name: by_words[name] for name in only_dense if name in by_words}, abs=1e-6
        )
        others = [count + len(leg.others) for count, leg in zip(others, legs, strict=True)]
    assert all(others)


def test_both_legs_keep_the_filter(store: VectorStore) -> None:
    store.upsert([*make_points("pod limit"), *make_points("pod quota", document="quota", collection="finance")])
    vector, terms = EMBEDDER.embed_query("pod"), LEXICAL.encode_query("pod")

    legs = store.search_legs(vector, terms, search_filter=SearchFilter(collections=("finance",)), limit=1)

    found = {one.chunk_id for leg in legs for one in (*leg.found, *leg.others)}
    assert [chunk.text for chunk in store.fetch(sorted(found))] == ["pod quota"]


def test_a_question_without_terms_has_a_dense_leg_alone(store: VectorStore) -> None:
    store.upsert(make_points("pod limit"))
    legs = store.search_legs(EMBEDDER.embed_query("pod"), NO_TERMS, search_filter=ALL, limit=3)

    assert len(legs.dense.found) == 1
    assert not any((legs.bm25.found, legs.bm25.others, legs.dense.others))


def test_chunks_are_fetched_in_the_order_asked_for(store: VectorStore) -> None:
    points = make_points("one", "two", "three")
    store.upsert(points)
    first, second, third = (point.chunk for point in points)
    assert store.fetch([third.chunk_id, uuid_of("unknown"), first.chunk_id]) == [third, first]
    assert store.fetch([]) == []
    store.visibility.change(hide=[second.version, third.version])
    assert store.fetch([first.chunk_id]) == []
