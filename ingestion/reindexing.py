"""All documents into a second index by another embedding model, from the ledger's stored texts; then the switch.

Nothing of the active index is touched before the switch, which is one transaction. A killed build goes on where it
was: a document is recorded when its chunks are in. The way back is the same build with the index that was kept, in
which only what has changed since is missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ingestion.errors import TextMissing
from ingestion.index_ledger import BuiltDocument, Index, IndexLedger
from ingestion.ledger import Ledger
from ingestion.preparing import Preparer
from ingestion.records import Content, KnownDocument
from retrieval.store.protocol import VectorStore
from retrieval.types import Chunk, IndexedChunk, SearchFilter, index_text

_GROUP_DOCUMENTS = 64
_GROUP_CHUNKS = 256
OnBuilt = Callable[[int, int, int], None]
"""Documents done, documents in all, chunks embedded."""


@dataclass(frozen=True, slots=True)
class Build:
    """How an index is built.

    Attributes:
        ledger: What is to be embedded.
        indexes: What has been embedded.
        preparer: Cuts and embeds, with the model of the new index.
        store: Store of the new index.
        index: The new index.
    """

    ledger: Ledger
    indexes: IndexLedger
    preparer: Preparer
    store: VectorStore
    index: Index


async def build_index(build: Build, on_progress: OnBuilt = lambda _done, _all, _chunks: None) -> int:
    """Bring the new index up to date with the active one; returns the number of chunks that were embedded.

    Nothing may be ingested meanwhile.

    Raises:
        StoreUnavailable: The new store cannot be written; a later build goes on from there.
        EmbeddingFailed: The model failed; a later build goes on from there.
        LedgerUnavailable: The database cannot be used.
    """
    known = {key: document for key, document in (await build.ledger.known()).items() if document.chunks}
    await _take_out_gone(build, known)
    done = await build.indexes.built(build.index.name)
    lost = await _lost(build)
    missing = [document for key, document in known.items() if key in lost or done.get(key) != document.version]
    finished, embedded = len(known) - len(missing), 0
    on_progress(finished, len(known), embedded)
    group: list[tuple[KnownDocument, list[Chunk]]] = []
    for number, document in enumerate(missing, start=1):
        group.append((document, await _chunks(build, document)))
        chunks = sum(len(chunks) for _, chunks in group)
        if chunks >= _GROUP_CHUNKS or len(group) >= _GROUP_DOCUMENTS or number == len(missing):
            await _add(build, group)
            finished, embedded = finished + len(group), embedded + chunks
            group = []
            on_progress(finished, len(known), embedded)
    return embedded


async def _take_out_gone(build: Build, known: dict[str, KnownDocument]) -> None:
    """Take documents out of the new index that are no longer in, and chunks that nobody has recorded."""
    gone = [key for key in await build.indexes.built(build.index.name) if key not in known]
    await build.indexes.forget(build.index.name, gone)
    recorded = await build.indexes.chunk_ids(build.index.name)
    held = await asyncio.to_thread(build.store.chunk_ids, SearchFilter())
    await asyncio.to_thread(build.store.delete_chunks, sorted(held - recorded.keys()))


async def _lost(build: Build) -> frozenset[str]:
    """Documents of which the new store does not hold all chunks that are recorded."""
    recorded = await build.indexes.chunk_ids(build.index.name)
    held = await asyncio.to_thread(build.store.chunk_ids, SearchFilter())
    return frozenset(document_id for chunk_id, document_id in recorded.items() if chunk_id not in held)


async def _chunks(build: Build, document: KnownDocument) -> list[Chunk]:
    document_id = document.identity.document_id
    parsed = await build.ledger.parsed(document_id)
    if parsed is None or not parsed.blocks:
        raise TextMissing(
            f"The ledger has no structure of {document.identity.source!r}, which an earlier version brought in; "
            "ingest it again first."
        )
    return await asyncio.to_thread(build.preparer.chunks, parsed, document.identity, _new_version(build, document))


async def _add(build: Build, group: Sequence[tuple[KnownDocument, list[Chunk]]]) -> None:
    points = await asyncio.to_thread(_embed, build.preparer, [chunk for _, chunks in group for chunk in chunks])
    await asyncio.to_thread(build.store.upsert, points)
    ids = [document.identity.document_id for document, _ in group]
    before = await build.indexes.chunk_ids(build.index.name, ids)
    await asyncio.to_thread(
        build.store.delete_chunks, sorted(before.keys() - {point.chunk.chunk_id for point in points})
    )
    await build.indexes.record(
        build.index.name,
        [
            BuiltDocument(
                document.identity.document_id,
                document.version,
                _new_version(build, document),
                [chunk.chunk_id for chunk in chunks],
            )
            for document, chunks in group
        ],
    )


def _embed(preparer: Preparer, chunks: Sequence[Chunk]) -> list[IndexedChunk]:
    texts = [index_text(chunk) for chunk in chunks]
    vectors = preparer.embedder.embed_documents(texts)
    return [
        IndexedChunk(chunk, vector, preparer.lexical.encode_document(text))
        for chunk, vector, text in zip(chunks, vectors, texts, strict=True)
    ]


def _new_version(build: Build, document: KnownDocument) -> str:
    content = document.content
    return Content(content.sha256, content.size_bytes, build.index.fingerprint, content.recipe).version(
        document.identity.document_id
    )
