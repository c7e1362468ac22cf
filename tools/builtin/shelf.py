"""What the document tools need of the stored documents, in protocols that the document ledger and the store fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from retrieval.types import Chunk, SearchFilter, SearchResult


class StoredDocument(Protocol):
    """A document of the ledger."""

    @property
    def source(self) -> str:
        """Path or URL."""
        ...

    @property
    def title(self) -> str:
        """Its title; may be empty."""
        ...


class StoredCollection(Protocol):
    """A collection of the ledger."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


class DocumentShelf(Protocol):
    """The ledger of documents."""

    async def document(self, document_id: str) -> StoredDocument | None:
        """The document of that id; None without one."""
        ...

    async def text(self, document_id: str) -> str | None:
        """The stored text, which all offsets count in; None for a document that could not be read."""
        ...

    async def collections(self) -> Sequence[StoredCollection]:
        """Collections that any document is in, by name."""
        ...


class ChunkShelf(Protocol):
    """The store of chunks; calls block."""

    def chunks(self, search_filter: SearchFilter) -> list[Chunk]:
        """Chunks that the filter lets through, ordered by document and position."""
        ...


class Searcher(Protocol):
    """The search; calls block."""

    def search(self, query: str, *, search_filter: SearchFilter, limit: int) -> SearchResult:
        """Hits for a question, best first."""
        ...
