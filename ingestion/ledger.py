"""The ledger: which documents are in, why others are not, and which chunks the store must hold."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ingestion.errors import LedgerUnavailable
from ingestion.tables import document_chunks, document_texts, documents
from ingestion.types import DocumentIdentity, DocumentRecord, FailureReason, ParsedDocument

_BATCH = 500
"""Values in one ``IN`` list or insert; SQLite's own limit is far above."""


@dataclass(frozen=True, slots=True)
class Content:
    """What was read of a source, and how it is to be indexed.

    Attributes:
        sha256: Hash of the bytes, hex.
        size_bytes: Number of bytes.
        fingerprint: The embedder's fingerprint.
        recipe: Name of the settings that shape the chunks.
    """

    sha256: str
    size_bytes: int
    fingerprint: str
    recipe: str


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What the ledger knows of a document before an ingest."""

    identity: DocumentIdentity
    status: Literal["ready", "failed", "processing"]
    content: Content
    chunks: int
    pages: int | None


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document whose chunks are all in the store."""

    identity: DocumentIdentity
    content: Content
    parsed: ParsedDocument
    chunk_ids: Sequence[str]


@dataclass(frozen=True, slots=True)
class CollectionSize:
    """A collection and how many ready documents and chunks it holds."""

    name: str
    documents: int
    chunks: int


class Ledger:
    """Reads and writes the tables of documents; every method is one transaction.

    Every method raises ``LedgerUnavailable`` when the database cannot be read or written.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def documents(
        self, *, collection: str | None = None, status: Literal["ready", "failed", "processing"] | None = None
    ) -> list[DocumentRecord]:
        """Documents by collection and source, failed ones too."""
        query = sa.select(documents).order_by(documents.c.collection, documents.c.source)
        if collection is not None:
            query = query.where(documents.c.collection == collection)
        if status is not None:
            query = query.where(documents.c.status == status)
        async with self._transaction() as connection:
            return [_record(row) for row in (await connection.execute(query)).mappings()]

    async def document(self, document_id: str) -> DocumentRecord | None:
        """One document; None without one of that id."""
        query = sa.select(documents).where(documents.c.document_id == document_id)
        async with self._transaction() as connection:
            row = (await connection.execute(query)).mappings().one_or_none()
        return _record(row) if row is not None else None

    async def text(self, document_id: str) -> str | None:
        """The stored text of a document, which all offsets count in; None without one."""
        query = sa.select(document_texts.c.text).where(document_texts.c.document_id == document_id)
        async with self._transaction() as connection:
            return (await connection.execute(query)).scalar_one_or_none()

    async def collections(self) -> list[CollectionSize]:
        """Collections that any document is in, by name; one whose documents all failed holds 0."""
        query = (
            sa.select(
                documents.c.collection,
                sa.func.sum(sa.case((documents.c.status == "ready", 1), else_=0)),
                sa.func.sum(documents.c.chunks),
            )
            .group_by(documents.c.collection)
            .order_by(documents.c.collection)
        )
        async with self._transaction() as connection:
            rows = (await connection.execute(query)).all()
        return [CollectionSize(name, int(ready), int(chunks)) for name, ready, chunks in rows]

    async def known(self, collection: str) -> dict[str, KnownDocument]:
        """What is known of a collection's documents, by document id."""
        query = sa.select(documents).where(documents.c.collection == collection)
        async with self._transaction() as connection:
            rows = (await connection.execute(query)).mappings().all()
        return {row["document_id"]: _known(row) for row in rows}

    async def chunk_ids(self, *, collection: str | None = None) -> dict[str, str]:
        """Ids of all chunks that the store must hold, each with its document's id."""
        query = sa.select(document_chunks.c.chunk_id, document_chunks.c.document_id)
        if collection is not None:
            query = query.join(documents, documents.c.document_id == document_chunks.c.document_id)
            query = query.where(documents.c.collection == collection)
        async with self._transaction() as connection:
            return {row[0]: row[1] for row in (await connection.execute(query)).all()}

    async def begin(self, started: Sequence[tuple[DocumentIdentity, Content]]) -> None:
        """Mark documents as ``processing`` before their first write to the store; what was in stays recorded."""
        async with self._transaction() as connection:
            for identity, content in started:
                values = {"status": "processing", "reason": None, "detail": "", **_content_values(content)}
                await _put(connection, identity, values)

    async def complete(self, indexed: Sequence[IndexedDocument]) -> None:
        """Record documents as ``ready``, with text and chunk ids in place of those before."""
        async with self._transaction() as connection:
            await _forget(connection, [document.identity.document_id for document in indexed])
            for document in indexed:
                await _put(connection, document.identity, _ready_values(document))
            texts = [
                {"document_id": document.identity.document_id, "text": document.parsed.text} for document in indexed
            ]
            chunks = [
                {"chunk_id": chunk_id, "document_id": document.identity.document_id, "position": position}
                for document in indexed
                for position, chunk_id in enumerate(document.chunk_ids)
            ]
            if texts:
                await connection.execute(sa.insert(document_texts), texts)
            for start in range(0, len(chunks), _BATCH):
                await connection.execute(sa.insert(document_chunks), chunks[start : start + _BATCH])

    async def fail(
        self,
        identity: DocumentIdentity,
        content: Content,
        *,
        reason: FailureReason,
        detail: str,
        keep_indexed: bool = False,
    ) -> None:
        """Record why a document is not in.

        Args:
            identity: The document.
            content: What was read of it.
            reason: Of the closed set.
            detail: One sentence for a person.
            keep_indexed: Whether the version before is still in the store, and stays recorded.
        """
        values: dict[str, Any] = {"status": "failed", "reason": reason, "detail": detail, **_content_values(content)}
        async with self._transaction() as connection:
            if not keep_indexed:
                values |= {"chunks": 0, "pages": None}
                await _forget(connection, [identity.document_id])
            await _put(connection, identity, values)

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Forget documents with text and chunk ids; unknown ids are ignored."""
        async with self._transaction() as connection:
            await _forget(connection, document_ids)
            for start in range(0, len(document_ids), _BATCH):
                part = list(document_ids[start : start + _BATCH])
                await connection.execute(sa.delete(documents).where(documents.c.document_id.in_(part)))

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise LedgerUnavailable(_sentence(error)) from error


async def _put(connection: AsyncConnection, identity: DocumentIdentity, values: Mapping[str, Any]) -> None:
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    key = documents.c.document_id == identity.document_id
    changed = await connection.execute(sa.update(documents).where(key).values(**values, updated_at=now))
    if changed.rowcount == 0:
        row = {
            "document_id": identity.document_id,
            "collection": identity.collection,
            "source": identity.source,
            "created_at": now,
            "updated_at": now,
            **values,
        }
        await connection.execute(sa.insert(documents).values(**row))


async def _forget(connection: AsyncConnection, document_ids: Sequence[str]) -> None:
    for start in range(0, len(document_ids), _BATCH):
        part = list(document_ids[start : start + _BATCH])
        for table in (document_chunks, document_texts):
            await connection.execute(sa.delete(table).where(table.c.document_id.in_(part)))


def _content_values(content: Content) -> dict[str, Any]:
    return {
        "content_sha256": content.sha256,
        "size_bytes": content.size_bytes,
        "embedding_fingerprint": content.fingerprint,
        "recipe": content.recipe,
    }


def _ready_values(document: IndexedDocument) -> dict[str, Any]:
    parsed = document.parsed
    return {
        "status": "ready",
        "reason": None,
        "detail": "",
        "title": parsed.title,
        "chunks": len(document.chunk_ids),
        "pages": parsed.page_count,
        "media_type": parsed.media_type,
        "metadata": json.dumps(dict(parsed.metadata), ensure_ascii=False),
        **_content_values(document.content),
    }


def _record(row: sa.RowMapping) -> DocumentRecord:
    values = {name: row[name] for name in DocumentRecord.model_fields if name != "metadata"}
    return DocumentRecord.model_validate({**values, "metadata": json.loads(row["metadata"])})


def _known(row: sa.RowMapping) -> KnownDocument:
    content = Content(row["content_sha256"], row["size_bytes"], row["embedding_fingerprint"], row["recipe"])
    identity = DocumentIdentity(row["document_id"], row["collection"], row["source"])
    return KnownDocument(identity, row["status"], content, row["chunks"], row["pages"])


def _sentence(error: SQLAlchemyError) -> str:
    cause = str(getattr(error, "orig", None) or error).splitlines()[0]
    if "full" in cause:
        return "The disk is full; free some space and run the command again, which goes on from there."
    return f"The database of documents cannot be used ({cause}); check the disk and the database settings."
