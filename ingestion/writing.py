"""Prepared documents into the store, with the ledger told before and after, so that a kill leaves a trace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from ingestion.ledger import IndexedDocument, Ledger
from ingestion.preparing import FailedDocument, PreparedDocument
from ingestion.types import FailureReason
from retrieval.embedders.protocol import Embedder
from retrieval.errors import EmbeddingFailed, StoreUnavailable
from retrieval.store.protocol import VectorStore
from retrieval.types import IndexedChunk, SearchFilter, index_text

_UPSERT_CHUNKS = 256
"""Chunks in one write: about 3 MB as JSON, far below a Qdrant server's request limit of 32 MB."""
_CONTENT_GONE: frozenset[FailureReason] = frozenset(
    ("encrypted", "no_text_layer", "corrupt", "unsupported_type", "undecodable", "too_large", "empty", "unsafe_archive")
)
"""Failures of the file itself: the version before is no longer what the source says, and is taken out."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes groups of documents; one group at a time."""

    ledger: Ledger
    store: VectorStore
    embedder: Embedder

    async def write(self, group: Sequence[PreparedDocument], *, indexed_before: frozenset[str]) -> list[FailedDocument]:
        """Embed and write a group; returns the documents that failed, all others are ready.

        Args:
            group: Documents to write.
            indexed_before: Ids of documents that the store may hold chunks of.
        """
        if not group:
            return []
        if failure := await asyncio.to_thread(self._probe):
            return await self._record(
                [_failed(document, "store_failed", failure) for document in group], indexed_before
            )
        await self.ledger.begin([(document.identity, document.content) for document in group])
        points, failed = await asyncio.to_thread(self._embed, group)
        written = [document for document in group if document.identity.document_id in points]
        try:
            await asyncio.to_thread(self._replace, written, points, indexed_before)
        except StoreUnavailable as error:
            failed.extend(_failed(document, "store_failed", str(error)) for document in written)
        else:
            await self.ledger.complete([_indexed(document) for document in written])
        return await self._record(failed, indexed_before)

    async def fail(self, document: FailedDocument, *, indexed_before: bool) -> None:
        """Record a document that is not in; the version before goes out when the file itself is at fault."""
        keep = indexed_before and document.reason not in _CONTENT_GONE
        if indexed_before and not keep:
            try:
                await asyncio.to_thread(self.store.delete_document, document.identity.document_id)
            except StoreUnavailable:
                keep = True
        await self.ledger.fail(
            document.identity, document.content, reason=document.reason, detail=document.detail, keep_indexed=keep
        )

    async def delete(self, document_id: str) -> int:
        """Delete a document from the store, then from the ledger; returns the chunks that are left, counted.

        Raises:
            StoreUnavailable: The ledger then still has the document.
        """
        left = await asyncio.to_thread(self.store.delete_document, document_id)
        if left == 0:
            await self.ledger.remove([document_id])
        return left

    def _probe(self) -> str:
        """Why the store cannot be used; empty when it can. Spares the embedding of what cannot be written."""
        try:
            self.store.count(SearchFilter(document_ids=("00000000-0000-0000-0000-000000000000",)))
        except StoreUnavailable as error:
            return str(error)
        return ""

    def _embed(self, group: Sequence[PreparedDocument]) -> tuple[dict[str, list[IndexedChunk]], list[FailedDocument]]:
        """Points by document id: all in one call, and one by one when that fails, to find the bad one."""
        try:
            return self._points(group), []
        except EmbeddingFailed:
            points: dict[str, list[IndexedChunk]] = {}
            failed: list[FailedDocument] = []
            for document in group:
                try:
                    points |= self._points([document])
                except EmbeddingFailed as error:
                    failed.append(_failed(document, "embedding_failed", str(error)))
            return points, failed

    def _points(self, group: Sequence[PreparedDocument]) -> dict[str, list[IndexedChunk]]:
        vectors = self.embedder.embed_documents([index_text(chunk) for document in group for chunk in document.chunks])
        points: dict[str, list[IndexedChunk]] = {}
        start = 0
        for document in group:
            end = start + len(document.chunks)
            points[document.identity.document_id] = [
                IndexedChunk(chunk, dense, sparse)
                for chunk, dense, sparse in zip(document.chunks, vectors[start:end], document.sparse, strict=True)
            ]
            start = end
        return points

    def _replace(
        self,
        group: Sequence[PreparedDocument],
        points: dict[str, list[IndexedChunk]],
        indexed_before: frozenset[str],
    ) -> None:
        """New chunks in, then stale ones out: what the store truly holds is asked, not what the ledger remembers."""
        new = [point for document in group for point in points[document.identity.document_id]]
        for start in range(0, len(new), _UPSERT_CHUNKS):
            self.store.upsert(new[start : start + _UPSERT_CHUNKS])
        for document in group:
            document_id = document.identity.document_id
            if document_id in indexed_before:
                held = self.store.chunk_ids(SearchFilter(document_ids=(document_id,)))
                stale = held - {chunk.chunk_id for chunk in document.chunks}
                if stale:
                    self.store.delete_chunks(sorted(stale))

    async def _record(self, failed: Sequence[FailedDocument], indexed_before: frozenset[str]) -> list[FailedDocument]:
        for document in failed:
            await self.fail(document, indexed_before=document.identity.document_id in indexed_before)
        return list(failed)


def _failed(document: PreparedDocument, reason: FailureReason, detail: str) -> FailedDocument:
    return FailedDocument(document.identity, document.content, reason, detail)


def _indexed(document: PreparedDocument) -> IndexedDocument:
    ids = [chunk.chunk_id for chunk in document.chunks]
    return IndexedDocument(document.identity, document.content, document.parsed, ids)
