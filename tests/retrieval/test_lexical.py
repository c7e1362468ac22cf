from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from qdrant_client import QdrantClient
from rank_bm25 import BM25Okapi

from retrieval.lexical import LexicalEncoder, analyse, term_id
from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.store.qdrant import open_qdrant_store
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


_WORDS = {
    "plain": [f"word{number}" for number in range(60)],
    "operations": [
        *("OOMKilled", "CrashLoopBackOff", "--max-old-space-size", "kube_pod_status", "RULE-A002", "CVE-2024-3094"),
        *("/var/lib/kubelet", "v1.29.3", "10.0.0.1", "10.96.0.0/12", "9f86d081884c7d65", "restarting", "exit code 137"),
    ],
    "scripts": [
        *("перезапуск", "контейнера", "إعادة", "تشغيل", "الحاوية", "容器重启", "内存不足", "コンテナ", "再起動"),
        *("컨테이너를", "재시작", "รีสตาร์ทคอนเทนเนอร์", "पुनः", "आरंभ", "επανεκκίνηση", "מיכל", "Überlastung", "naïve"),
    ],
}


@pytest.fixture(params=["edge", "qdrant"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[VectorStore]:
    if request.param == "edge":
        opened: VectorStore = open_edge_store(tmp_path, dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
    else:
        client = QdrantClient(":memory:")
        opened = open_qdrant_store(client, collection="chunks", dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
    yield opened
    opened.close()


@pytest.mark.parametrize("kind", list(_WORDS))
def test_the_store_ranks_as_rank_bm25_does_on_the_same_tokens(store: VectorStore, kind: str) -> None:
    """With one idf and the true average length the formulas are the same, so scores are, up to the ``float32``."""
    generator = random.Random(3)
    words = _WORDS[kind]
    weights = [1 / (1 + number) for number in range(len(words))]
    texts = [" ".join(generator.choices(words, weights, k=generator.randint(2, 60))) for _ in range(120)]
    tokens = [analyse(text) for text in texts]
    oracle = BM25Okapi(tokens, k1=1.2, b=0.75)
    frequency = Counter(term for document in tokens for term in set(document))
    oracle.idf = {term: math.log(1 + (len(texts) - count + 0.5) / (count + 0.5)) for term, count in frequency.items()}
    encoder = LexicalEncoder(k1=1.2, b=0.75, average_length=oracle.avgdl)
    chunks = [make_chunk(text, position=position) for position, text in enumerate(texts)]
    places = {chunk.chunk_id: chunk.position for chunk in chunks}
    store.upsert([replace(make_point(chunk), sparse=encoder.encode_document(chunk.text)) for chunk in chunks])
    for query in (words[0], f"{words[1]} {words[3]}", f"{words[2]} {words[5]} {words[-1]}", f"{words[1]} " * 3):
        found = store.search_lexical(encoder.encode_query(query), search_filter=SearchFilter(), limit=200)
        scores = cast("list[float]", oracle.get_scores(list(dict.fromkeys(analyse(query)))).tolist())
        expected = {position: score for position, score in enumerate(scores) if score > 0}
        assert expected
        assert {places[scored.chunk_id]: scored.score for scored in found} == pytest.approx(expected, abs=1e-4)
