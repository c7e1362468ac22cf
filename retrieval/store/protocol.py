"""The promise every vector store keeps; held by tests/contracts/test_store.py over all homes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from retrieval.store.visibility import Visibility
from retrieval.types import Chunk, FloatVector, IndexedChunk, Legs, ScoredId, SearchFilter, SparseVector


class VectorStore(Protocol):
    """Holds chunks with a dense and a sparse vector each. Calls block; safe from several threads.

    Every method raises ``StoreUnavailable`` when the store cannot be read or written. An acknowledged write
    survives a killed process.
    """

    def upsert(self, points: Sequence[IndexedChunk]) -> None:
        """Write chunks; a chunk with a known id is replaced. No points: no call."""
        ...

    def delete_chunks(self, chunk_ids: Sequence[str]) -> None:
        """Delete these chunks; unknown ids are ignored."""
        ...

    def delete_document(self, document_id: str) -> int:
        """Delete all chunks of a document and return how many are left, which is 0."""
        ...

    @property
    def visibility(self) -> Visibility:
        """Which versions searches and ``chunks`` leave out; ``count`` and ``chunk_ids`` tell what is there."""
        ...

    def search_lexical(self, vector: SparseVector, *, search_filter: SearchFilter, limit: int) -> list[ScoredId]:
        """Best chunks by BM25 with the store's inverse document frequencies, best first; score above 0."""
        ...

    def search_legs(self, dense: FloatVector, sparse: SparseVector, *, search_filter: SearchFilter, limit: int) -> Legs:
        """The nearest chunks by cosine and the best by BM25, and the scores that each leg gives to the other's chunks.

        The filter acts inside both. A question without terms has no lexical leg.
        """
        ...

    def fetch(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Chunks by id, in the order asked for; unknown ids and hidden versions are left out."""
        ...

    def count(self, search_filter: SearchFilter) -> int:
        """Exact number of chunks that the filter lets through."""
        ...

    def chunk_ids(self, search_filter: SearchFilter) -> set[str]:
        """Ids of all chunks that the filter lets through."""
        ...

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        """Chunks that the filter lets through, ordered by document and position; hidden versions are left out."""
        ...

    def points(self, search_filter: SearchFilter) -> list[IndexedChunk]:
        """Chunks with their vectors, hidden versions too, in no order; for a filter that lets few through."""
        ...

    def optimize(self) -> None:
        """Build indexes after a large write; may take long, reads go on meanwhile. No-op on a server."""
        ...

    def close(self) -> None:
        """Flush and release the store; the object is not used afterwards."""
        ...
