"""Compares ledger and store by chunk ids: what is promised against what is there."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ingestion.ledger import CollectionSize, Ledger
from ingestion.types import DocumentRecord
from retrieval.store.protocol import VectorStore
from retrieval.types import SearchFilter

_EVERYTHING = SearchFilter()


@dataclass(frozen=True, slots=True)
class LedgerStatus:
    """State of ledger and store; ``consistent`` when both hold the same chunk ids and no document is half written.

    Attributes:
        documents: Documents that are ready.
        chunks: Chunks in the ledger.
        points: Chunks in the store.
        consistent: Whether the two agree.
        collections: Collections by name.
        failed: Documents that are not in, with their reason.
        embedding_model: Fingerprint of the embedding model.
        store: Kind of the store.
        missing_chunks: Chunks in the ledger, not in the store.
        orphaned_points: Chunks in the store, not in the ledger.
        processing: Documents that are being written, or were when their ingest was killed.
    """

    documents: int
    chunks: int
    points: int
    consistent: bool
    collections: tuple[CollectionSize, ...]
    failed: tuple[DocumentRecord, ...]
    embedding_model: str
    store: str
    missing_chunks: int
    orphaned_points: int
    processing: int


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs: documents whose chunks are not all in the store, and chunks that belong to no document."""

    lost: frozenset[str] = frozenset()
    orphans: frozenset[str] = frozenset()


async def reconcile(ledger: Ledger, store: VectorStore, *, embedding_model: str) -> LedgerStatus:
    """Read both sides whole and compare.

    Raises:
        StoreUnavailable: The store cannot be read.
        LedgerUnavailable: The database cannot be read.
    """
    promised = set(await ledger.chunk_ids())
    held = await asyncio.to_thread(store.chunk_ids, _EVERYTHING)
    collections = await ledger.collections()
    processing = await ledger.documents(status="processing")
    missing, orphaned = len(promised - held), len(held - promised)
    return LedgerStatus(
        documents=sum(collection.documents for collection in collections),
        chunks=len(promised),
        points=len(held),
        consistent=not (missing or orphaned or processing),
        collections=tuple(collections),
        failed=tuple(await ledger.documents(status="failed")),
        embedding_model=embedding_model,
        store=type(store).__name__.removesuffix("Store").lower(),
        missing_chunks=missing,
        orphaned_points=orphaned,
        processing=len(processing),
    )


async def difference(ledger: Ledger, store: VectorStore, *, collection: str | None = None) -> Difference:
    """What differs in a collection, or in all.

    Ids are compared only when the counts differ, which keeps an ingest without changes quick and small. Versions that
    the ledger says are hidden are somebody's work in progress, and no orphans.
    """
    search_filter = _EVERYTHING if collection is None else SearchFilter(collections=(collection,))
    if await asyncio.to_thread(store.count, search_filter) == await ledger.chunk_count(collection=collection):
        return Difference()
    promised = await ledger.chunk_ids(collection=collection)
    held = await asyncio.to_thread(store.chunk_ids, search_filter)
    hidden = tuple(await ledger.hidden())
    expected = await asyncio.to_thread(store.chunk_ids, SearchFilter(versions=hidden)) if hidden else set[str]()
    return Difference(
        lost=frozenset(document_id for chunk_id, document_id in promised.items() if chunk_id not in held),
        orphans=frozenset(held - promised.keys() - expected),
    )
