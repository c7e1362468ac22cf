"""Sources into ledger and store: read, compare, parse, split, embed, write; a group of files at a time.

Three groups are on their way at once: one is parsed and split, one embedded, one written. Killed at any moment, the
next ingest finishes the work: a document is ``processing`` in the ledger from before its first write to the store until
it is whole, counted and shown, and only ``ready`` ones count as unchanged.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ingestion.engines.engine import LOCAL, Engine
from ingestion.freed_memory import give_back
from ingestion.history import History
from ingestion.ledger import Ledger
from ingestion.preparing import (
    DocumentEncoder,
    FailedDocument,
    Preparation,
    PreparedDocument,
    Preparer,
    is_sidecar,
)
from ingestion.reconciling import LedgerStatus, difference, reconcile
from ingestion.records import KnownDocument
from ingestion.repair import repair
from ingestion.run import IngestRun, OnProgress, deleted, failed_again, make_report
from ingestion.settings import IngestionSettings
from ingestion.sources import Discovery, Source
from ingestion.types import IngestReport
from ingestion.workers import ParsePool
from ingestion.writing import EmbeddedGroup, Writer
from retrieval.embedders.protocol import Embedder
from retrieval.errors import StoreUnavailable
from retrieval.store.protocol import VectorStore

_GROUP_CHUNKS = 256
_FIRST_CHUNKS = 32
"""The first group is small, and each next one twice as large, so that embedding starts soon."""
_GROUP_FILES = 64
_GROUP_BYTES = 32 * 1024 * 1024
"""A group is large enough for batches of like length, and small enough that progress is seen every few seconds."""
OPTIMIZE_CHUNKS = 20_000
"""An ingest of so many new chunks is followed by building the store's indexes in the background."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """Where files are parsed.

    Attributes:
        pool: Processes that parse, not closed by the ingester; None starts some of the settings' own for each ingest.
        scratch: Folder for files that are inside others, emptied by its owner after a kill; None takes the system's.
    """

    pool: ParsePool | None = None
    scratch: Path | None = None


_ANYWHERE = Workplace()


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
        workplace: Workplace = _ANYWHERE,
    ) -> None:
        """Take the parts.

        Args:
            ledger: What is known.
            store: Where chunks go.
            embedder: Makes dense vectors and counts tokens.
            lexical: Makes term weights.
            settings: How files become chunks.
            workplace: Where files are parsed.
        """
        self._scratch = workplace.scratch
        self._pool = workplace.pool
        self._ledger = ledger
        self._store = store
        self._embedder = embedder
        self._lexical = lexical
        self._settings = settings
        self._writer = Writer(ledger, store, embedder)
        self._writing = asyncio.Lock()
        self._optimizing: asyncio.Task[None] | None = None

    async def ingest(
        self,
        sources: Sequence[Source],
        *,
        collection: str,
        prune: bool = False,
        dry_run: bool = False,
        on_progress: OnProgress | None = None,
        engine: Engine = LOCAL,
    ) -> IngestReport:
        """Bring the sources in; one source's failure is its own outcome and never ends the run.

        Args:
            sources: Files to ingest; a ``Discovery`` also brings its failures and what may be pruned.
            collection: Collection of the documents.
            prune: Remove documents of this collection that are gone from under the discovery's roots.
            dry_run: Report what would happen; read and parse, but write nothing.
            on_progress: Called on the event loop when a file is done.
            engine: What parses and embeds in place of this process, and settings of this run alone.

        Raises:
            LedgerUnavailable: The database cannot be read or written; what was written before stays in.
            StoreUnavailable: The store could not be read at the start.
        """
        started = time.monotonic()
        discovery = sources if isinstance(sources, Discovery) else Discovery(tuple(sources))
        unique = await asyncio.to_thread(_unique, discovery)
        run = await self._begin(unique, collection=collection, dry_run=dry_run, on_progress=on_progress)
        preparer = Preparer(self._embedder, self._lexical, engine.settings or self._settings)
        await self._bring_in(unique, run, preparer, engine)
        await self._leave_out(discovery, run, prune=prune)
        if run.chunks_done >= OPTIMIZE_CHUNKS and not dry_run:
            self._optimizing = asyncio.create_task(self._optimize(), name="optimize-store")
        return run.report(time.monotonic() - started)

    async def delete(self, document_id: str) -> int:
        """Delete a document with its chunks and the files inside; returns the chunks left in the store, counted: 0.

        Raises:
            StoreUnavailable: Nothing was deleted.
        """
        async with self._writing:
            inside = await self._ledger.descendants([document_id])
            return await self._writer.delete([document_id, *inside])

    async def delete_collection(self, name: str) -> int:
        """Delete a collection with all documents; returns the chunks left in the store, counted, which is 0.

        Raises:
            StoreUnavailable: Some documents are still there.
        """
        async with self._writing:
            left = await self._writer.delete(list(await self._ledger.known(name)))
            if left == 0:
                await self._ledger.remove_collection(name)
            return left

    async def status(self) -> LedgerStatus:
        """Ledger and store, compared by chunk ids."""
        return await reconcile(self._ledger, self._store, embedding_model=self._embedder.fingerprint)

    async def recover(self) -> None:
        """Take out what a killed process left half done; documents it had not finished are finished by their ingest."""
        async with self._writing:
            await self._writer.recover()

    async def repair(self) -> IngestReport:
        """Mend what differs between ledger and store; the report names the documents that were not whole.

        Raises:
            StoreUnavailable: The store cannot be read or written.
            LedgerUnavailable: The database cannot be read or written.
        """
        started = time.monotonic()
        preparer = Preparer(self._embedder, self._lexical, self._settings)
        async with self._writing:
            outcomes = await repair(self._ledger, self._store, self._writer, preparer)
        return make_report(outcomes, time.monotonic() - started)

    @asynccontextmanager
    async def paused(self) -> AsyncGenerator[None]:
        """Nothing is written to ledger and store until the context ends; running ingests wait."""
        async with self._writing:
            yield

    async def aclose(self) -> None:
        """Wait for work in the background."""
        if self._optimizing is not None:
            await asyncio.wait([self._optimizing])

    async def _begin(
        self, sources: Sequence[Source], *, collection: str, dry_run: bool, on_progress: OnProgress | None
    ) -> IngestRun:
        async with self._writing:
            if not dry_run:
                await self._writer.recover()
            differs = await difference(self._ledger, self._store, collection=collection)
            if differs.orphans and not dry_run:
                await asyncio.to_thread(self._store.delete_chunks, sorted(differs.orphans))
            known = await self._ledger.known(collection)
        history = History(known, lost=differs.lost, found=[source.source for source in sources])
        return IngestRun(collection, history, frozenset(known), dry_run, len(sources), on_progress)

    async def _bring_in(self, sources: Sequence[Source], run: IngestRun, preparer: Preparer, engine: Engine) -> None:
        """Write one group while the next is embedded and the one after it read and parsed."""
        settings = preparer.settings
        writer = replace(self._writer, embedder=engine.embedder or self._embedder)
        own = engine.pool or self._pool
        pool = own or ParsePool(
            workers=settings.workers,
            timeout_seconds=settings.parse_timeout_seconds,
            memory_bytes=settings.parse_memory_bytes,
        )
        with tempfile.TemporaryDirectory(prefix="groundwork-inside-", dir=self._scratch) as scratch:
            items = preparer.prepare_all(
                sources, run.history, collection=run.collection, pool=pool, scratch=Path(scratch)
            )
            preparing = asyncio.create_task(asyncio.to_thread(_next_group, items, run))
            embedding: asyncio.Task[EmbeddedGroup] | None = None
            waiting: tuple[list[Preparation], EmbeddedGroup] | None = None
            try:
                while True:
                    group = await preparing
                    if group:
                        preparing = asyncio.create_task(asyncio.to_thread(_next_group, items, run))
                        embedding = asyncio.create_task(asyncio.to_thread(_embed, writer, group, run))
                    if waiting is not None:
                        await self._finish_group(*waiting, run)
                        waiting = None
                        await asyncio.to_thread(give_back)
                    if not group or embedding is None:
                        break
                    waiting = (group, await embedding)
            finally:
                run.stopped = True
                if pool is not own:
                    await asyncio.to_thread(pool.close)
                await asyncio.wait([task for task in (preparing, embedding) if task is not None])

    async def _finish_group(self, group: Sequence[Preparation], embedded: EmbeddedGroup, run: IngestRun) -> None:
        failed = {item.identity.document_id: item for item in group if isinstance(item, FailedDocument)}
        if not run.dry_run:
            async with self._writing:
                for document in failed.values():
                    before = document.identity.document_id in run.indexed_before
                    await self._writer.fail(document, indexed_before=before)
                for document in await self._writer.write(embedded, indexed_before=run.indexed_before):
                    failed[document.identity.document_id] = document
        for item in group:
            run.add_prepared(failed.get(item.identity.document_id, item))

    async def _leave_out(self, discovery: Discovery, run: IngestRun, *, prune: bool) -> None:
        """Report what was not found; remove what is gone, if asked."""
        found = {source.source for source in discovery.sources}
        missing = {failure.source for failure in discovery.failures if failure.reason == "not_found"}
        known = await self._ledger.known(run.collection) if prune else {}
        gone = [
            document
            for document in known.values()
            if document.identity.parent_id is None
            and document.identity.source not in found
            and (document.identity.source in missing or discovery.may_prune(document.identity.source))
        ]
        sources = {document.identity.source for document in gone}
        for failure in discovery.failures:
            if failure.source not in sources:
                run.add(failure)
        for document in sorted(gone, key=lambda document: document.identity.source):
            await self._delete_gone(document, run)

    async def _delete_gone(self, document: KnownDocument, run: IngestRun) -> None:
        outcomes = [deleted(document)]
        outcomes += [deleted(inside) for inside in run.history.descendants(document.identity.document_id)]
        if not run.dry_run:
            try:
                await self.delete(document.identity.document_id)
            except StoreUnavailable as error:
                outcomes = [failed_again(outcome, str(error)) for outcome in outcomes]
        for outcome in outcomes:
            run.add(outcome)

    async def _optimize(self) -> None:
        """Build the store's indexes; nothing is written meanwhile."""
        async with self._writing:
            await asyncio.to_thread(self._store.optimize)


def _embed(writer: Writer, group: Sequence[Preparation], run: IngestRun) -> EmbeddedGroup:
    if run.dry_run:
        return EmbeddedGroup()
    return writer.embed([document for document in group if isinstance(document, PreparedDocument)])


def _next_group(items: Iterator[Preparation], run: IngestRun) -> list[Preparation]:
    """Prepare sources until a group is full; none when no source is left."""
    group: list[Preparation] = []
    chunks = size = 0
    enough = min(_GROUP_CHUNKS, _FIRST_CHUNKS << min(run.groups_begun, 8))
    run.groups_begun += 1
    for item in items:
        group.append(item)
        if isinstance(item, PreparedDocument):
            chunks += len(item.chunks)
            size += item.content.size_bytes
        if run.stopped or chunks >= enough or len(group) >= _GROUP_FILES or size >= _GROUP_BYTES:
            break
    return group


def _unique(sources: Sequence[Source]) -> list[Source]:
    """Each source once, files that hold the metadata of others left out."""
    return list({source.source: source for source in sources if not is_sidecar(source)}.values())
