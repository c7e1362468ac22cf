from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from retrieval.lexical import LexicalEncoder, analyse, term_id
from retrieval.store.edge import open_edge_store
from retrieval.types import SearchFilter
from tests.retrieval.points import EMBEDDER, make_chunk, make_point

ENCODER = LexicalEncoder()


def test_term_ids_never_change() -> None:
    assert term_id("pod") == 51_012_459
    assert term_id("容器") == 2_407_596_983


def test_a_document_weighs_terms_by_saturated_frequency() -> None:
    vector = LexicalEncoder(k1=1.0, b=0.0).encode_document("pod pod pod node")
    weights = dict(zip(vector.indices, vector.values, strict=True))
    assert weights == pytest.approx({term_id("pod"): 3 * 2 / (3 + 1), term_id("node"): 1 * 2 / (1 + 1)})


def test_a_longer_document_gives_a_term_less_weight() -> None:
    short, long = ENCODER.encode_document("pod"), ENCODER.encode_document("pod " + "node " * 300)
    assert short.values[0] > long.values[0] > 0


def test_a_query_weighs_each_term_once() -> None:
    vector = ENCODER.encode_query("pod Pods POD node")
    assert vector.indices == (term_id("pod"), term_id("node"))
    assert vector.values == (1.0, 1.0)


@pytest.mark.parametrize("text", ["", "what is the", "...", "🚀"])
def test_a_text_without_terms_gives_an_empty_vector(text: str) -> None:
    assert ENCODER.encode_document(text).indices == ()
    assert ENCODER.encode_query(text).indices == ()


@given(st.text())
def test_vectors_are_what_a_store_accepts(text: str) -> None:
    for vector in (ENCODER.encode_document(text), ENCODER.encode_query(text)):
        assert len(vector.indices) == len(vector.values) == len(set(vector.indices))
        assert all(0 <= index < 2**32 for index in vector.indices)
        assert all(math.isfinite(value) and value > 0 for value in vector.values)


def test_the_store_ranks_as_rank_bm25_does_on_the_same_tokens(tmp_path: Path) -> None:
    """With one idf and the true average length the formulas are the same, so scores are, up to the ``float32``."""
    generator = random.Random(3)
    words = [f"word{number}" for number in range(60)]
    weights = [1 / (1 + number) for number in range(60)]
    texts = [" ".join(generator.choices(words, weights, k=generator.randint(5, 120))) for _ in range(200)]
    tokens = [analyse(text) for text in texts]
    oracle = BM25Okapi(tokens, k1=1.2, b=0.75)
    frequency = {word: sum(word in document for document in tokens) for word in words}
    oracle.idf = {
        word: math.log(1 + (len(texts) - count + 0.5) / (count + 0.5)) for word, count in frequency.items() if count
    }
    encoder = LexicalEncoder(k1=1.2, b=0.75, average_length=oracle.avgdl)
    store = open_edge_store(tmp_path, dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
    chunks = [make_chunk(text, position=position) for position, text in enumerate(texts)]
    for chunk in chunks:
        encoded = replace(make_point(chunk), sparse=encoder.encode_document(chunk.text))
        store.upsert([encoded])
    for query in ("word0 word3", "word7 word11 word40", "word59", "word1 word1 word2"):
        found = store.search_lexical(encoder.encode_query(query), search_filter=SearchFilter(), limit=200)
        scores = cast("list[float]", oracle.get_scores(list(dict.fromkeys(analyse(query)))).tolist())
        expected = {position: score for position, score in enumerate(scores) if score > 0}
        places = {chunk.chunk_id: chunk.position for chunk in chunks}
        assert {places[scored.chunk_id]: scored.score for scored in found} == pytest.approx(expected, abs=1e-4)
    store.close()
