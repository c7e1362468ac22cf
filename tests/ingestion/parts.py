"""Stores that fail, embedders that refuse and count, and how tests ingest and look at what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Protocol

from ingestion.ledger import Ledger
from ingestion.pipeline import Ingester
from ingestion.sources import discover
from ingestion.types import FileStatus, IngestReport
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.errors import EmbeddingFailed, StoreUnavailable
from retrieval.store.edge import EdgeStore
from retrieval.store.visibility import Visibility
from retrieval.types import Chunk, FloatMatrix, FloatVector, IndexedChunk, Legs, ScoredId, SearchFilter, SparseVector

EMBEDDER = HashingEmbedder(dim=64)


@dataclass
class BrokenStore:
    """A real store whose calls fail on demand."""

    store: EdgeStore
    upserts_left: int = 1_000_000
    error: BaseException = field(default_factory=lambda: StoreUnavailable("The store is down; start it again."))
    deletes_fail: bool = False

    def upsert(self, points: Sequence[IndexedChunk]) -> None:
        self.upserts_left -= 1
        if self.upserts_left < 0:
            raise self.error
        self.store.upsert(points)

    def delete_chunks(self, chunk_ids: Sequence[str]) -> None:
        if self.deletes_fail:
            raise self.error
        self.store.delete_chunks(chunk_ids)

    def delete_document(self, document_id: str) -> int:
        if self.deletes_fail:
            raise self.error
        return self.store.delete_document(document_id)

    def search_lexical(self, vector: SparseVector, *, search_filter: SearchFilter, limit: int) -> list[ScoredId]:
        return self.store.search_lexical(vector, search_filter=search_filter, limit=limit)

    def search_legs(self, dense: FloatVector, sparse: SparseVector, *, search_filter: SearchFilter, limit: int) -> Legs:
        return self.store.search_legs(dense, sparse, search_filter=search_filter, limit=limit)

    def fetch(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        return self.store.fetch(chunk_ids)

    def count(self, search_filter: SearchFilter) -> int:
        return self.store.count(search_filter)

    def chunk_ids(self, search_filter: SearchFilter) -> set[str]:
        return self.store.chunk_ids(search_filter)

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        return self.store.chunks(search_filter)

    @property
    def visibility(self) -> Visibility:
        return self.store.visibility

    def points(self, search_filter: SearchFilter) -> list[IndexedChunk]:
        return self.store.points(search_filter)

    def optimize(self) -> None:
        self.store.optimize()

    def close(self) -> None:
        self.store.close()


class ForgetfulStore(BrokenStore):
    """Acknowledges writes and keeps nothing."""

    def upsert(self, points: Sequence[IndexedChunk]) -> None:
        return


class PickyEmbedder(HashingEmbedder):
    """Refuses texts that hold a word."""

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        if any("poison" in text for text in texts):
            raise EmbeddingFailed("The embedding model failed; see the log.")
        return super().embed_documents(texts)


class MakeIngester(Protocol):
    """Makes an ingester over a store, with settings of its own."""

    def __call__(
        self, ledger: Ledger, store: EdgeStore | BrokenStore, embedder: HashingEmbedder = EMBEDDER, **changes: object
    ) -> Ingester: ...


async def ingest(ingester: Ingester, *paths: Path | str, prune: bool = False, dry_run: bool = False) -> IngestReport:
    return await ingester.ingest(
        discover([str(path) for path in paths]), collection="default", prune=prune, dry_run=dry_run
    )


def totals(report: IngestReport) -> dict[FileStatus, int]:
    return {status: count for status, count in report.totals.items() if count}


def texts(store: EdgeStore) -> list[str]:
    return [chunk.text for chunk in store.chunks(SearchFilter())]


class CountingEmbedder(HashingEmbedder):
    """Remembers how many texts it was given."""

    embedded: ClassVar[list[str]] = []

    def embed_documents(self, texts: Sequence[str]) -> FloatMatrix:
        self.embedded.extend(texts)
        return super().embed_documents(texts)
