"""How fast one hybrid search is over a large store, on chunks made up from a vocabulary with natural frequencies.

Vectors of the chunks are random: how long a search takes does not depend on what they mean. Questions are embedded.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import numpy as np
from pydantic import BaseModel, ConfigDict

from evals.retrieval import EvaluationProgress, Latency
from retrieval.embedders.protocol import Embedder
from retrieval.lexical import LexicalEncoder
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.types import Chunk, IndexedChunk, SearchFilter, index_text

_SEED = 11
_VOCABULARY = 50_000
_WORDS_PER_CHUNK = 120
_WORDS_PER_QUESTION = 8
_CHUNKS_PER_DOCUMENT = 20
_COLLECTIONS = 10
_INDEX_BATCH = 500


class SearchLatency(BaseModel):
    """Milliseconds per search, embedding of the question included."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chunks: int
    queries: int
    optimized: bool
    """Whether the store built its vector indexes first."""
    unfiltered: Latency
    filtered: Latency
    """The same questions over one of ten collections."""


def measure_search_latency(
    *,
    embedder: Embedder,
    settings: SearchSettings,
    chunks: int = 100_000,
    queries: int = 200,
    optimize: bool = False,
    on_progress: Callable[[EvaluationProgress], None] = lambda _: None,
) -> SearchLatency:
    """Fill a store of its own, search it, and take it away again; minutes, most of them for filling."""
    lexical = LexicalEncoder()
    with tempfile.TemporaryDirectory(prefix="groundwork-latency-") as folder:
        store = open_edge_store(Path(folder), dim=embedder.dim, fingerprint=embedder.fingerprint)
        try:
            _fill(store, dim=embedder.dim, lexical=lexical, chunks=chunks, on_progress=on_progress)
            if optimize:
                store.optimize()
            retriever = Retriever(embedder=embedder, store=store, lexical=lexical, settings=settings)
            return SearchLatency(
                chunks=chunks,
                queries=queries,
                optimized=optimize,
                unfiltered=_timed(retriever, queries, SearchFilter()),
                filtered=_timed(retriever, queries, SearchFilter(collections=("collection-0",))),
            )
        finally:
            store.close()


def _timed(retriever: Retriever, queries: int, search_filter: SearchFilter) -> Latency:
    words = _Words(_SEED + 1)
    questions = [words.text(_WORDS_PER_QUESTION) for _ in range(queries)]
    retriever.search(questions[0], search_filter=search_filter)
    timings = [retriever.search(question, search_filter=search_filter).timings.total for question in questions]
    return Latency(p50=float(np.percentile(timings, 50)), p95=float(np.percentile(timings, 95)))


def _fill(
    store: VectorStore,
    *,
    dim: int,
    lexical: LexicalEncoder,
    chunks: int,
    on_progress: Callable[[EvaluationProgress], None],
) -> None:
    words = _Words(_SEED)
    generator = np.random.default_rng(_SEED)
    for start in range(0, chunks, _INDEX_BATCH):
        batch = [_chunk(number, words) for number in range(start, min(start + _INDEX_BATCH, chunks))]
        vectors = generator.standard_normal((len(batch), dim), dtype=np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        sparse = [lexical.encode_document(index_text(chunk)) for chunk in batch]
        store.upsert([IndexedChunk(*point) for point in zip(batch, vectors, sparse, strict=True)])
        on_progress(EvaluationProgress("index", start + len(batch), chunks))


def _chunk(number: int, words: _Words) -> Chunk:
    document = number // _CHUNKS_PER_DOCUMENT
    text = words.text(_WORDS_PER_CHUNK)
    return Chunk(
        chunk_id=str(UUID(int=number)),
        document_id=str(UUID(int=document)),
        collection=f"collection-{document % _COLLECTIONS}",
        source=f"document-{document}",
        title=f"Document {document}",
        position=number % _CHUNKS_PER_DOCUMENT,
        text=text,
        char_start=0,
        char_end=len(text),
    )


class _Words:
    """Made-up words, the nth drawn with a frequency of 1 / n (Zipf's law); the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._generator = random.Random(seed)
        self._vocabulary = [f"w{number:x}" for number in range(_VOCABULARY)]
        total, self._cumulative = 0.0, list[float]()
        for number in range(_VOCABULARY):
            total += 1 / (number + 1)
            self._cumulative.append(total)

    def text(self, length: int) -> str:
        return " ".join(self._generator.choices(self._vocabulary, cum_weights=self._cumulative, k=length))
