"""The promise of ``Embedder``, over every embedder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from retrieval.embedders.hashing import HashingEmbedder
from retrieval.embedders.onnx import load_onnx_embedder
from retrieval.embedders.protocol import Embedder

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
TEXTS = [
    "A container that was OOMKilled used more memory than its limit.",
    "",
    "Ünïcode 漢字 😀",
    "pod",
    "word " * 2000,
    "Rotate certificates every ninety days. " * 9,
]


@pytest.fixture(
    scope="module",
    params=["hashing", pytest.param("onnx", marks=pytest.mark.model)],
)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "hashing":
        return HashingEmbedder()
    home: Path = request.getfixturevalue("model_home")
    # Few tokens a batch: texts of one call fall into several batches.
    folder = home / "models" / MODEL.replace("/", "--")
    return load_onnx_embedder(folder, name=MODEL, batch_tokens=600)


def test_vectors_are_normalised_rows_of_float32(embedder: Embedder) -> None:
    vectors = embedder.embed_documents(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), embedder.dim), np.float32)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    query = embedder.embed_query("pod")
    assert (query.shape, query.dtype) == ((embedder.dim,), np.float32)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    vectors = embedder.embed_documents([])
    assert (vectors.shape, vectors.dtype) == ((0, embedder.dim), np.float32)
    assert embedder.count_tokens([]) == []


def test_rows_stand_in_the_order_of_the_texts(embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS)
    alone = np.concatenate([embedder.embed_documents([text]) for text in TEXTS])
    assert np.einsum("ij,ij->i", together, alone) == pytest.approx(np.ones(len(TEXTS)), abs=1e-4)
    assert np.allclose(embedder.embed_documents(TEXTS[::-1]), together[::-1], atol=1e-4)


def test_more_texts_than_one_window_stand_in_their_order(embedder: Embedder) -> None:
    texts = [f"pod {number}" for number in range(1030)]
    vectors = embedder.embed_documents(texts)
    for row in (0, 1023, 1024, 1029):
        assert vectors[row] @ embedder.embed_query(texts[row]) == pytest.approx(1.0, abs=1e-4)


def test_like_texts_are_nearer_than_unlike_ones(embedder: Embedder) -> None:
    query = embedder.embed_query("container memory limit")
    near, far = embedder.embed_documents(["the memory limit of a container", "rotate the certificate"])
    assert query @ near > query @ far + 0.2


def test_tokens_are_counted_without_special_ones_and_without_a_cut(embedder: Embedder) -> None:
    assert embedder.count_tokens(["", "pod", "pod pod", "word " * 2000]) == [0, 1, 2, 2000]


def test_what_lies_behind_the_longest_input_does_not_matter(embedder: Embedder) -> None:
    long = "word " * embedder.max_tokens
    first, second = embedder.embed_documents([long, f"{long} certificate rotation"])
    assert first @ second == pytest.approx(1.0, abs=1e-5)


def test_the_fingerprint_names_the_model_and_stays(embedder: Embedder) -> None:
    name, _, version = embedder.fingerprint.partition("@")
    assert name
    assert version
    assert embedder.fingerprint == embedder.fingerprint


def test_threads_get_the_vectors_that_one_thread_gets(embedder: Embedder) -> None:
    texts = [f"pod {number} " * (number % 5 + 1) for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        together = np.stack(list(pool.map(embedder.embed_query, texts)))
    assert np.allclose(together, embedder.embed_documents(texts), atol=1e-4)
