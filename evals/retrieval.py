"""How well search ranks a judged corpus, and how fast. Indexes into a store of its own that is gone afterwards.

Each document is one chunk, title and text together, whatever its length: the dense leg reads it up to the embedder's
``max_tokens``, the lexical leg reads all of it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple
from uuid import NAMESPACE_OID, uuid5

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from app.eval_schema import EvalCase
from app.reranking import open_reranker
from evals.datasets import CorpusDocument, Dataset, read_dataset
from evals.metrics import metrics_by_query, ranking_metrics
from retrieval.embedders.protocol import Embedder
from retrieval.lexical import LexicalEncoder
from retrieval.search import Retriever
from retrieval.settings import SearchSettings
from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.types import DEFAULT_COLLECTION, Chunk, IndexedChunk, SearchResult, index_text

_INDEX_BATCH = 256
_JUDGED_DEPTH = 100
"""Hits asked for per query: recall@100 looks no deeper."""
_WIRE = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, serialize_by_alias=True)


class EvaluationProgress(NamedTuple):
    """How far a step is."""

    step: Literal["index", "search"]
    done: int
    total: int


class Latency(BaseModel):
    """Milliseconds of one search with the settings' own limit, embedding included."""

    model_config = _WIRE

    p50: float
    p95: float


class RetrievalConfig(BaseModel):
    """What was measured: two reports compare only where this is equal."""

    model_config = _WIRE

    embedding_model: str
    """The embedder's fingerprint."""
    store: Literal["edge"] = "edge"
    documents: int
    """Size of the corpus."""
    documents_as: Literal["one chunk each"] = "one chunk each"
    """How documents became chunks; the dense leg cuts at ``max_tokens``, the lexical leg reads all."""
    max_tokens: int
    search: SearchSettings
    k1: float
    """Term saturation of the lexical leg."""
    b: float
    """Length normalisation of the lexical leg."""
    average_length: float
    """Reference length of the lexical leg, in terms."""


class RetrievalReport(BaseModel):
    """Averages over the judged queries of one data set; serialises under the names of DESIGN 4.1."""

    model_config = _WIRE

    dataset: str
    queries: int
    ndcg_at_10: float = Field(alias="ndcg@10")
    recall_at_10: float = Field(alias="recall@10")
    recall_at_100: float = Field(alias="recall@100")
    mrr_at_10: float = Field(alias="mrr@10")
    map: float
    latency_ms: Latency
    config: RetrievalConfig
    cases: tuple[EvalCase, ...] = ()
    """Each query with its own figures, so that two reports can be compared in pairs."""


def run_retrieval_eval(
    dataset_dir: Path,
    *,
    embedder: Embedder,
    settings: SearchSettings,
    on_progress: Callable[[EvaluationProgress], None] = lambda _: None,
) -> RetrievalReport:
    """Index a BEIR folder's corpus and score the search over its test queries.

    Raises:
        DatasetUnreadable: The folder is no data set.
        RetrievalError: Embedding or the store failed.
    """
    return run_retrieval_evals(dataset_dir, embedder=embedder, settings=[settings], on_progress=on_progress)[0]


def run_retrieval_evals(
    dataset_dir: Path,
    *,
    embedder: Embedder,
    settings: Sequence[SearchSettings],
    on_progress: Callable[[EvaluationProgress], None] = lambda _: None,
) -> list[RetrievalReport]:
    """The same with each of these settings over one index; reports in their order.

    Raises:
        DatasetUnreadable: The folder is no data set.
        RetrievalError: Embedding or the store failed.
    """
    dataset = read_dataset(dataset_dir)
    lexical = LexicalEncoder()
    with tempfile.TemporaryDirectory(prefix="groundwork-eval-") as folder:
        store = open_edge_store(Path(folder), dim=embedder.dim, fingerprint=embedder.fingerprint)
        try:
            index_dataset(dataset, embedder=embedder, lexical=lexical, store=store, on_progress=on_progress)
            reports: list[RetrievalReport] = []
            for chosen in settings:
                with open_reranker(chosen.rerank) as reranker:
                    retriever = Retriever(embedder, store, lexical, chosen, reranker)
                    results, latencies = _search(dataset, retriever=retriever, on_progress=on_progress)
                reports.append(_report(dataset, results, latencies, retriever=retriever))
            return reports
        finally:
            store.close()


def _report(
    dataset: Dataset, results: Mapping[str, Mapping[str, float]], latencies: Sequence[float], *, retriever: Retriever
) -> RetrievalReport:
    embedder, lexical = retriever.embedder, retriever.lexical
    metrics = ranking_metrics(dataset.judgements, results)
    cases = [
        EvalCase(
            question_id=query_id,
            kind="query",
            answerable=True,
            question=dataset.queries[query_id],
            values={
                "ndcg@10": own.ndcg_at_10,
                "recall@10": own.recall_at_10,
                "recall@100": own.recall_at_100,
                "mrr@10": own.mrr_at_10,
                "map": own.map,
            },
            passed=own.recall_at_10 > 0,
            why_not="" if own.recall_at_10 > 0 else "No relevant document among the first ten.",
        )
        for query_id, own in metrics_by_query(dataset.judgements, results).items()
    ]
    return RetrievalReport(
        dataset=dataset.name,
        queries=len(dataset.queries),
        **metrics._asdict(),
        latency_ms=Latency(p50=float(np.percentile(latencies, 50)), p95=float(np.percentile(latencies, 95))),
        config=RetrievalConfig(
            embedding_model=embedder.fingerprint,
            documents=len(dataset.documents),
            max_tokens=embedder.max_tokens,
            search=retriever.settings,
            k1=lexical.k1,
            b=lexical.b,
            average_length=lexical.average_length,
        ),
        cases=tuple(cases),
    )


def index_dataset(
    dataset: Dataset,
    *,
    embedder: Embedder,
    lexical: LexicalEncoder,
    store: VectorStore,
    on_progress: Callable[[EvaluationProgress], None] = lambda _: None,
) -> None:
    """Write the whole corpus, each document as one chunk whose source is its id in the data set."""
    documents = dataset.documents
    for start in range(0, len(documents), _INDEX_BATCH):
        chunks = [_to_chunk(document) for document in documents[start : start + _INDEX_BATCH]]
        texts = [index_text(chunk) for chunk in chunks]
        vectors = embedder.embed_documents(texts)
        sparse = [lexical.encode_document(text) for text in texts]
        store.upsert([IndexedChunk(*point) for point in zip(chunks, vectors, sparse, strict=True)])
        on_progress(EvaluationProgress("index", start + len(chunks), len(documents)))


def _search(
    dataset: Dataset, *, retriever: Retriever, on_progress: Callable[[EvaluationProgress], None]
) -> tuple[dict[str, Mapping[str, float]], list[float]]:
    """Results by query id and the milliseconds of each query."""
    results: dict[str, Mapping[str, float]] = {}
    latencies: list[float] = []
    for number, (query_id, query) in enumerate(dataset.queries.items(), start=1):
        # Timed as users search; ranked again as deep as recall@100 looks.
        latencies.append(retriever.search(query).timings.total)
        results[query_id] = _by_rank(retriever.search(query, limit=_JUDGED_DEPTH))
        on_progress(EvaluationProgress("search", number, len(dataset.queries)))
    return results, latencies


def _by_rank(result: SearchResult) -> dict[str, float]:
    """Falling scores in the order of the hits, so that a metric cannot order equal scores its own way."""
    return {hit.chunk.source: 1 / hit.rank for hit in result.hits}


def _to_chunk(document: CorpusDocument) -> Chunk:
    """The whole document; its id in the data set is its source."""
    document_uuid = str(uuid5(NAMESPACE_OID, document.document_id))
    return Chunk(
        chunk_id=document_uuid,
        document_id=document_uuid,
        collection=DEFAULT_COLLECTION,
        source=document.document_id,
        title=document.title,
        position=0,
        text=document.text,
        char_start=0,
        char_end=len(document.text),
    )
