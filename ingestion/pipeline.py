"""Sources into ledger and store: read, compare, parse, split, embed, write; a group of files at a time.

Killed at any moment, the next ingest finishes the work: a document is ``processing`` in the ledger from before its
first write to the store until after the last, and only ``ready`` ones count as unchanged.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

from ingestion.ledger import Content, KnownDocument, Ledger
from ingestion.preparing import (
    DocumentEncoder,
    FailedDocument,
    Preparation,
    PreparedDocument,
    Preparer,
    UnchangedDocument,
)
from ingestion.reconciling import LedgerStatus, documents_with_lost_chunks, reconcile
from ingestion.settings import IngestionSettings
from ingestion.sources import Discovery, Source, identity_of
from ingestion.types import FileOutcome, FileStatus, IngestProgress, IngestReport
from ingestion.writing import Writer
from retrieval.embedders.protocol import Embedder
from retrieval.errors import StoreUnavailable
from retrieval.store.protocol import VectorStore

_GROUP_CHUNKS = 192
_GROUP_FILES = 64
_GROUP_BYTES = 32 * 1024 * 1024
"""A group is large enough for batches of like length, and small enough that progress is seen every few seconds."""

OnProgress = Callable[[IngestProgress], None]


class Ingester:
    """Keeps ledger and store in step. Belongs to one event loop; documents are written one group at a time."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        store: VectorStore,
        embedder: Embedder,
        lexical: DocumentEncoder,
        settings: IngestionSettings,
    ) -> None:
        self._ledger = ledger
        self._store = store
        self._embedder = embedder
        self._preparer = Preparer(embedder, lexical, settings)
        self._writer = Writer(ledger, store, embedder)
        self._writing = asyncio.Lock()

    async def ingest(
        self,
        sources: Sequence[Source],
        *,
        collection: str,
        prune: bool = False,
        dry_run: bool = False,
        on_progress: OnProgress | None = None,
    ) -> IngestReport:
        """Bring the sources in; one source's failure is its own outcome and never ends the run.

        Args:
            sources: Files to ingest; a ``Discovery`` also brings its failures and what may be pruned.
            collection: Collection of the documents.
            prune: Remove documents of this collection that are gone from under the discovery's roots.
            dry_run: Report what would happen; read and parse, but write nothing.
            on_progress: Called on the event loop when a file is done.

        Raises:
            LedgerUnavailable: The database cannot be read or written; what was written before stays in.
            StoreUnavailable: The store could not be read at the start.
        """
        started = time.monotonic()
        discovery = sources if isinstance(sources, Discovery) else Discovery(tuple(sources))
        known = await self._ledger.known(collection)
        lost = await documents_with_lost_chunks(self._ledger, self._store, collection=collection)
        run = _Run(collection, known, lost, dry_run, len(discovery), on_progress)
        await self._bring_in(_unique(discovery), run)
        await self._leave_out(discovery, run, prune=prune)
        return run.report(time.monotonic() - started)

    async def delete(self, document_id: str) -> int:
        """Delete a document with its chunks; returns the chunks left in the store, counted, which is 0.

        Raises:
            StoreUnavailable: Nothing was deleted.
        """
        async with self._writing:
            return await self._writer.delete(document_id)

    async def status(self) -> LedgerStatus:
        """Ledger and store, compared by chunk ids."""
        return await reconcile(self._ledger, self._store, embedding_model=self._embedder.fingerprint)

    async def _bring_in(self, sources: Sequence[Source], run: _Run) -> None:
        """Write one group while the next is read and parsed."""
        remaining = iter(sources)
        upcoming = asyncio.create_task(asyncio.to_thread(self._next_group, remaining, run))
        try:
            while group := await upcoming:
                upcoming = asyncio.create_task(asyncio.to_thread(self._next_group, remaining, run))
                await self._finish_group(group, run)
        finally:
            run.stopped = True
            await asyncio.wait([upcoming])

    def _next_group(self, remaining: Iterator[Source], run: _Run) -> list[Preparation]:
        """Prepare sources until a group is full; none when no source is left."""
        group: list[Preparation] = []
        chunks = size = 0
        for source in remaining:
            identity = identity_of(source.source, run.collection)
            prepared = self._preparer.prepare(source, identity, indexed=run.indexed_content(identity.document_id))
            group.append(prepared)
            if isinstance(prepared, PreparedDocument):
                chunks += len(prepared.chunks)
                size += prepared.content.size_bytes
            if run.stopped or chunks >= _GROUP_CHUNKS or len(group) >= _GROUP_FILES or size >= _GROUP_BYTES:
                break
        return group

    async def _finish_group(self, group: Sequence[Preparation], run: _Run) -> None:
        prepared = [document for document in group if isinstance(document, PreparedDocument)]
        failed = {item.identity.document_id: item for item in group if isinstance(item, FailedDocument)}
        if not run.dry_run:
            async with self._writing:
                for document in failed.values():
                    before = document.identity.document_id in run.indexed_before
                    await self._writer.fail(document, indexed_before=before)
                for document in await self._writer.write(prepared, indexed_before=run.indexed_before):
                    failed[document.identity.document_id] = document
        for item in group:
            run.add(_outcome(failed.get(item.identity.document_id, item), run))

    async def _leave_out(self, discovery: Discovery, run: _Run, *, prune: bool) -> None:
        """Report what was not found; remove what is gone, if asked."""
        found = {source.source for source in discovery.sources}
        missing = {failure.source for failure in discovery.failures if failure.reason == "not_found"}
        gone: list[KnownDocument] = []
        for document in run.known.values():
            source = document.identity.source
            if prune and source not in found and (source in missing or discovery.may_prune(source)):
                gone.append(document)
        deleted = {document.identity.source for document in gone}
        for failure in discovery.failures:
            if failure.source not in deleted:
                run.add(failure)
        for document in sorted(gone, key=lambda document: document.identity.source):
            run.add(await self._delete_gone(document, dry_run=run.dry_run))

    async def _delete_gone(self, document: KnownDocument, *, dry_run: bool) -> FileOutcome:
        identity = document.identity
        outcome = FileOutcome(
            source=identity.source, status="deleted", document_id=identity.document_id, chunks=document.chunks
        )
        if dry_run:
            return outcome
        try:
            await self.delete(identity.document_id)
        except StoreUnavailable as error:
            changes = {"status": "failed", "reason": "store_failed", "detail": str(error)}
            return outcome.model_copy(update=changes)
        return outcome


@dataclass(slots=True)
class _Run:
    """What one ingest knows and has done."""

    collection: str
    known: dict[str, KnownDocument]
    lost: frozenset[str]
    dry_run: bool
    files_total: int
    on_progress: OnProgress | None
    outcomes: list[FileOutcome] = field(default_factory=list[FileOutcome])
    chunks_done: int = 0
    stopped: bool = False

    @property
    def indexed_before(self) -> frozenset[str]:
        """Documents of which the store may hold chunks: all that the ledger has ever begun."""
        return frozenset(self.known)

    def indexed_content(self, document_id: str) -> Content | None:
        """What was indexed of a document, if it is whole in ledger and store."""
        document = self.known.get(document_id)
        if document is None or document.status != "ready" or document_id in self.lost:
            return None
        return document.content

    def add(self, outcome: FileOutcome) -> None:
        """Take down an outcome and tell of it."""
        self.outcomes.append(outcome)
        if outcome.status in ("indexed", "updated"):
            self.chunks_done += outcome.chunks
        if self.on_progress is not None:
            done = min(len(self.outcomes), self.files_total)
            self.on_progress(
                IngestProgress(
                    files_done=done,
                    files_total=self.files_total,
                    chunks_done=self.chunks_done,
                    current=outcome.source,
                )
            )

    def report(self, seconds: float) -> IngestReport:
        """The whole run, files in order of their sources."""
        counts = Counter(outcome.status for outcome in self.outcomes)
        totals: dict[FileStatus, int] = {status: counts[status] for status in get_args(FileStatus)}
        files = tuple(sorted(self.outcomes, key=lambda outcome: outcome.source))
        return IngestReport(files=files, totals=totals, seconds=seconds)


def _unique(sources: Sequence[Source]) -> list[Source]:
    return list({source.source: source for source in sources}.values())


def _outcome(item: Preparation, run: _Run) -> FileOutcome:
    identity = item.identity
    before = run.known.get(identity.document_id)
    match item:
        case UnchangedDocument():
            return FileOutcome(
                source=identity.source,
                status="unchanged",
                document_id=identity.document_id,
                chunks=before.chunks if before else 0,
                pages=before.pages if before else None,
            )
        case FailedDocument(_, _, reason, detail):
            return FileOutcome(
                source=identity.source,
                status="failed",
                document_id=identity.document_id,
                reason=reason,
                detail=detail,
            )
        case PreparedDocument():
            return FileOutcome(
                source=identity.source,
                status="updated" if before is not None and before.chunks else "indexed",
                document_id=identity.document_id,
                chunks=len(item.chunks),
                pages=item.parsed.page_count,
            )
