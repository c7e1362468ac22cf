"""Prepared documents into the store: written out of sight, counted, shown in one step, and then what was before goes.

The ledger is told before and after each step, so that a kill leaves a trace that the next run takes up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ingestion.ledger import Ledger, StartedDocument
from ingestion.preparing import FailedDocument, PreparedDocument
from ingestion.records import IndexedDocument, StageFailure, StageTime, now
from ingestion.types import FailureReason, Stage
from retrieval.embedders.protocol import Embedder
from retrieval.errors import EmbeddingFailed, StoreUnavailable
from retrieval.store.protocol import VectorStore
from retrieval.types import FloatVector, IndexedChunk, SearchFilter, index_text

_UPSERT_CHUNKS = 256
"""Chunks in one write: about 3 MB as JSON, far below a Qdrant server's request limit of 32 MB."""
_DRAIN_SECONDS = 10.0
"""A search that takes longer than this may see a document half; it has run into its own time limit by then."""
_CONTENT_GONE: frozenset[FailureReason] = frozenset(
    ("encrypted", "no_text_layer", "corrupt", "unsupported_type", "undecodable", "too_large", "empty", "unsafe_archive")
)
"""Failures of the file itself: the version before is no longer what the source says, and is taken out."""


@dataclass(slots=True)
class EmbeddedGroup:
    """Documents with the points of each by its id, and those that could not be embedded."""

    documents: list[PreparedDocument] = field(default_factory=list[PreparedDocument])
    points: dict[str, list[IndexedChunk]] = field(default_factory=dict[str, list[IndexedChunk]])
    failed: list[FailedDocument] = field(default_factory=list[FailedDocument])


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes groups of documents; one group at a time."""

    ledger: Ledger
    store: VectorStore
    embedder: Embedder

    def embed(self, group: Sequence[PreparedDocument]) -> EmbeddedGroup:
        """Points of a group. Blocks; nothing is written. Vectors of texts that did not change are taken over."""
        if not group:
            return EmbeddedGroup()
        started = now()
        if problem := self._probe():
            return EmbeddedGroup(failed=[_failed(document, "embedded", "store_failed", problem) for document in group])
        try:
            known = self._known_vectors(group)
            embedded = EmbeddedGroup(list(group), self._points(group, known))
        except EmbeddingFailed:
            embedded = self._embed_one_by_one(group)
        except StoreUnavailable as error:
            return EmbeddedGroup(
                failed=[_failed(document, "embedded", "store_failed", str(error)) for document in group]
            )
        embedded.documents = [_with_time(document, "embedded", started) for document in embedded.documents]
        return embedded

    async def write(self, embedded: EmbeddedGroup, *, indexed_before: frozenset[str]) -> list[FailedDocument]:
        """Write a group; returns the documents that failed, all others are ready.

        Args:
            embedded: Documents to write.
            indexed_before: Ids of documents that the store may hold chunks of.
        """
        group = embedded.documents
        failed = list(embedded.failed)
        if group:
            staged = await self.ledger.begin(
                [StartedDocument(document.identity, document.content, document.times) for document in group]
            )
            await self._hide(list(staged))
            started = now()
            try:
                await asyncio.to_thread(self._upsert, group, embedded.points)
                written = [_with_time(document, "written", started) for document in group]
                started = now()
                missing = await asyncio.to_thread(self._missing, written)
            except StoreUnavailable as error:
                failed += [_failed(document, "written", "store_failed", str(error)) for document in group]
            else:
                failed += [_lost(document, missing) for document in written if document.identity.document_id in missing]
                whole = [
                    _with_time(document, "verified", started)
                    for document in written
                    if document.identity.document_id not in missing
                ]
                await self._switch(whole, staged, indexed_before)
            await self._take_back(failed, staged)
        for document in failed:
            await self.fail(document, indexed_before=document.identity.document_id in indexed_before)
        return failed

    async def fail(self, document: FailedDocument, *, indexed_before: bool) -> None:
        """Record a document that is not in; the version before goes out when the file itself is at fault."""
        document_id = document.identity.document_id
        keep = indexed_before and document.failure.reason not in _CONTENT_GONE
        if indexed_before and not keep:
            try:
                await self._remove_points([document_id, *document.gone])
            except StoreUnavailable:
                keep = True
            else:
                await self.ledger.remove(document.gone)
        await self.ledger.fail(
            document.identity, document.content, document.failure, times=document.times, keep_indexed=keep
        )

    async def delete(self, document_ids: Sequence[str]) -> int:
        """Delete documents from the store, then from the ledger; returns the chunks that are left, counted.

        Raises:
            StoreUnavailable: The ledger then still has the documents.
        """
        left = await self._remove_points(document_ids)
        if left == 0:
            await self.ledger.remove(document_ids)
        return left

    async def recover(self) -> int:
        """Take out what a killed process left out of sight; returns the number of its chunks."""
        versions = list(await self.ledger.hidden(own=True))
        if not versions:
            return 0
        left = await asyncio.to_thread(self.store.chunk_ids, SearchFilter(versions=tuple(versions)))
        await asyncio.to_thread(self.store.delete_chunks, sorted(left))
        await self.ledger.shown(versions)
        self.store.visibility.change(show=versions)
        return len(left)

    async def _hide(self, versions: Collection[str]) -> None:
        self.store.visibility.change(hide=versions)
        await asyncio.to_thread(self.store.visibility.drain, timeout_seconds=_DRAIN_SECONDS)

    async def _switch(
        self, whole: Sequence[PreparedDocument], staged: Mapping[str, str], indexed_before: frozenset[str]
    ) -> None:
        """Show what is whole and hide what it replaces, in one step; then delete that."""
        if not whole:
            return
        retired = await self.ledger.complete([_indexed(document) for document in whole])
        ready = {document.identity.document_id for document in whole}
        show = [version for version, document_id in staged.items() if document_id in ready]
        self.store.visibility.change(hide=list(retired), show=show)
        await asyncio.to_thread(self.store.visibility.drain, timeout_seconds=_DRAIN_SECONDS)
        before = [document_id for document_id in ready if document_id in indexed_before]
        gone = [document_id for document in whole for document_id in document.gone]
        keep = {chunk.chunk_id for document in whole for chunk in document.chunks}
        try:
            await asyncio.to_thread(self._delete_others, [*before, *gone], keep)
        except StoreUnavailable:
            # They stay hidden, and recorded: the next ingest takes them out.
            return
        if retired:
            await self.ledger.shown(list(retired))
            self.store.visibility.change(show=list(retired))

    async def _take_back(self, failed: Sequence[FailedDocument], staged: Mapping[str, str]) -> None:
        """Take out what was written of documents that failed after all; what cannot be stays hidden."""
        ids = {document.identity.document_id for document in failed}
        versions = [version for version, document_id in staged.items() if document_id in ids]
        if not versions:
            return
        try:
            left = await asyncio.to_thread(self.store.chunk_ids, SearchFilter(versions=tuple(versions)))
            await asyncio.to_thread(self.store.delete_chunks, sorted(left))
        except StoreUnavailable:
            return
        await self.ledger.shown(versions)
        self.store.visibility.change(show=versions)

    async def _remove_points(self, document_ids: Sequence[str]) -> int:
        """Take documents out of sight in one step, then out of the store; returns the chunks left, counted."""
        versions = await self.ledger.versions(document_ids)
        self.store.visibility.change(hide=versions)
        try:
            return await asyncio.to_thread(self._delete_documents, document_ids)
        finally:
            self.store.visibility.change(show=versions)

    def _delete_documents(self, document_ids: Sequence[str]) -> int:
        return sum(self.store.delete_document(document_id) for document_id in document_ids)

    def _delete_others(self, document_ids: Sequence[str], keep: Collection[str]) -> None:
        """Delete chunks of these documents save those: the store is asked, not what the ledger remembers."""
        if document_ids:
            held = self.store.chunk_ids(SearchFilter(document_ids=tuple(document_ids)))
            self.store.delete_chunks(sorted(held.difference(keep)))

    def _probe(self) -> str:
        """Why the store cannot be used; empty when it can. Spares the embedding of what cannot be written."""
        try:
            self.store.count(SearchFilter(document_ids=("00000000-0000-0000-0000-000000000000",)))
        except StoreUnavailable as error:
            return str(error)
        return ""

    def _known_vectors(self, group: Sequence[PreparedDocument]) -> dict[str, FloatVector]:
        """Vectors of earlier versions and of moved files, by the text that they are of."""
        alike = {document_id for document in group if document.chunks for document_id in document.alike}
        if not alike:
            return {}
        points = self.store.points(SearchFilter(document_ids=tuple(sorted(alike))))
        return {index_text(point.chunk): point.dense for point in points}

    def _embed_one_by_one(self, group: Sequence[PreparedDocument]) -> EmbeddedGroup:
        """A group that could not be embedded whole: finds the bad document."""
        embedded = EmbeddedGroup()
        for document in group:
            try:
                embedded.points |= self._points([document], {})
            except EmbeddingFailed as error:
                embedded.failed.append(_failed(document, "embedded", "embedding_failed", str(error)))
            else:
                embedded.documents.append(document)
        return embedded

    def _points(
        self, group: Sequence[PreparedDocument], known: Mapping[str, FloatVector]
    ) -> dict[str, list[IndexedChunk]]:
        """Points by document id; texts without a known vector are embedded in one call, for batches of like length."""
        vectors = dict(known)
        texts = [index_text(chunk) for document in group for chunk in document.chunks]
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        vectors |= dict(zip(new, self.embedder.embed_documents(new), strict=True))
        return {
            document.identity.document_id: [
                IndexedChunk(chunk, vectors[index_text(chunk)], sparse)
                for chunk, sparse in zip(document.chunks, document.sparse, strict=True)
            ]
            for document in group
        }

    def _upsert(self, group: Sequence[PreparedDocument], points: Mapping[str, list[IndexedChunk]]) -> None:
        new = [point for document in group for point in points[document.identity.document_id]]
        for start in range(0, len(new), _UPSERT_CHUNKS):
            self.store.upsert(new[start : start + _UPSERT_CHUNKS])

    def _missing(self, group: Sequence[PreparedDocument]) -> dict[str, int]:
        """Number of chunks, by document, that the store does not have after all."""
        versions = tuple(document.content.version(document.identity.document_id) for document in group)
        held = self.store.chunk_ids(SearchFilter(versions=versions))
        missing = {
            document.identity.document_id: sum(chunk.chunk_id not in held for chunk in document.chunks)
            for document in group
        }
        return {document_id: count for document_id, count in missing.items() if count}


def _with_time(document: PreparedDocument, stage: Stage, started: datetime) -> PreparedDocument:
    return replace(document, times=(*document.times, StageTime(stage, started, now())))


def _failed(document: PreparedDocument, stage: Stage, reason: FailureReason, detail: str) -> FailedDocument:
    return FailedDocument(document.identity, document.content, StageFailure(stage, reason, detail), document.times)


def _lost(document: PreparedDocument, missing: Mapping[str, int]) -> FailedDocument:
    count, total = missing[document.identity.document_id], len(document.chunks)
    detail = f"{count} of {total} chunks were not in the store after they had been written; check the store's disk."
    return _failed(document, "verified", "store_failed", detail)


def _indexed(document: PreparedDocument) -> IndexedDocument:
    return IndexedDocument(
        document.identity,
        document.content,
        document.parsed,
        [chunk.chunk_id for chunk in document.chunks],
        document.children,
        document.gone,
        document.times,
    )
