"""The ledger of indexes: which store is searched, which are being built or kept, and the switch from one to another."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ingestion import ledger_rows as rows
from ingestion.errors import LedgerUnavailable
from ingestion.records import now, timestamp
from ingestion.tables import document_chunks, documents, index_chunks, index_documents, indexes

BASE_INDEX = "base"
"""Name of the index that a home begins with."""


@dataclass(frozen=True, slots=True)
class Index:
    """A store of all documents by one embedding model; ``embedding_model`` is a name or the path of a folder."""

    name: str
    embedding_model: str
    fingerprint: str
    state: Literal["active", "building", "previous"]


@dataclass(frozen=True, slots=True)
class BuiltDocument:
    """A document in an index that is being built."""

    document_id: str
    source_version: str
    version: str
    chunk_ids: Sequence[str]


class IndexLedger:
    """Reads and writes the tables of indexes; every method is one transaction.

    Every method raises ``LedgerUnavailable`` when the database cannot be used.
    """

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def all(self) -> list[Index]:
        """Indexes by name; none where there has only ever been one."""
        query = sa.select(indexes).order_by(indexes.c.name)
        async with self._transaction() as connection:
            found = (await connection.execute(query)).all()
        return [Index(row.name, row.embedding_model, row.fingerprint, row.state) for row in found]

    async def active(self) -> Index | None:
        """The index that is searched; None where there has only ever been one."""
        return next((index for index in await self.all() if index.state == "active"), None)

    async def add(self, index: Index) -> None:
        """Record an index."""
        values = {
            "name": index.name,
            "embedding_model": index.embedding_model,
            "fingerprint": index.fingerprint,
            "state": index.state,
            "created_at": timestamp(now()),
        }
        async with self._transaction() as connection:
            await connection.execute(sa.insert(indexes).values(**values))

    async def remove(self, name: str) -> None:
        """Forget an index that is not active."""
        async with self._transaction() as connection:
            await _clear(connection, name)
            await connection.execute(sa.delete(indexes).where(indexes.c.name == name))

    async def built(self, name: str) -> dict[str, str]:
        """Documents that an index holds, each with the active version that they were built from."""
        columns = (index_documents.c.document_id, index_documents.c.source_version)
        query = sa.select(*columns).where(index_documents.c.index_name == name)
        async with self._transaction() as connection:
            return {row[0]: row[1] for row in (await connection.execute(query)).all()}

    async def chunk_ids(self, name: str, document_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Chunk ids of an index, each with its document's id; None takes all documents."""
        query = sa.select(index_chunks.c.chunk_id, index_chunks.c.document_id).where(index_chunks.c.index_name == name)
        found: dict[str, str] = {}
        async with self._transaction() as connection:
            if document_ids is None:
                return {row[0]: row[1] for row in (await connection.execute(query)).all()}
            for part in rows.batches(document_ids):
                narrowed = query.where(index_chunks.c.document_id.in_(part))
                found |= {row[0]: row[1] for row in (await connection.execute(narrowed)).all()}
        return found

    async def record(self, name: str, built: Sequence[BuiltDocument]) -> None:
        """Record documents whose chunks are all in the index's store."""
        async with self._transaction() as connection:
            await _forget(connection, name, [document.document_id for document in built])
            document_rows = [
                {
                    "index_name": name,
                    "document_id": document.document_id,
                    "source_version": document.source_version,
                    "version": document.version,
                    "chunks": len(document.chunk_ids),
                }
                for document in built
            ]
            chunk_rows = [
                {"index_name": name, "chunk_id": chunk_id, "document_id": document.document_id, "position": position}
                for document in built
                for position, chunk_id in enumerate(document.chunk_ids)
            ]
            await rows.insert_all(connection, index_documents, document_rows)
            await rows.insert_all(connection, index_chunks, chunk_rows)

    async def forget(self, name: str, document_ids: Sequence[str]) -> None:
        """Forget documents of an index."""
        async with self._transaction() as connection:
            await _forget(connection, name, document_ids)

    async def switch(self, new: str, old: str) -> None:
        """Make another index the active one, in one transaction; the active one becomes the previous one."""
        async with self._transaction() as connection:
            fingerprint = await connection.scalar(sa.select(indexes.c.fingerprint).where(indexes.c.name == new))
            await _clear(connection, old)
            await _keep_active_as(connection, old, new)
            await connection.execute(sa.delete(document_chunks))
            columns = ["chunk_id", "document_id", "position"]
            chunk_query = sa.select(*(index_chunks.c[column] for column in columns))
            await connection.execute(
                sa.insert(document_chunks).from_select(columns, chunk_query.where(index_chunks.c.index_name == new))
            )
            ours = (index_documents.c.index_name == new) & (index_documents.c.document_id == documents.c.document_id)
            values = {
                "version": sa.select(index_documents.c.version).where(ours).scalar_subquery(),
                "chunks": sa.select(index_documents.c.chunks).where(ours).scalar_subquery(),
                "embedding_fingerprint": fingerprint,
            }
            in_it = sa.select(index_documents.c.document_id).where(index_documents.c.index_name == new)
            await connection.execute(sa.update(documents).where(documents.c.document_id.in_(in_it)).values(**values))
            await connection.execute(
                sa.update(documents).where(documents.c.status == "container").values(embedding_fingerprint=fingerprint)
            )
            await _clear(connection, new)
            for name, state in ((old, "previous"), (new, "active")):
                await connection.execute(sa.update(indexes).where(indexes.c.name == name).values(state=state))

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise LedgerUnavailable(rows.sentence(error)) from error


async def _keep_active_as(connection: AsyncConnection, old: str, new: str) -> None:
    """Write down what the active index holds, so that a way back finds it."""
    name = sa.literal(old)
    chunk_query = sa.select(name, document_chunks.c.chunk_id, document_chunks.c.document_id, document_chunks.c.position)
    await connection.execute(
        sa.insert(index_chunks).from_select(["index_name", "chunk_id", "document_id", "position"], chunk_query)
    )
    ours = (index_documents.c.document_id == documents.c.document_id) & (index_documents.c.index_name == new)
    document_query = sa.select(
        name, documents.c.document_id, index_documents.c.version, documents.c.version, documents.c.chunks
    ).join(index_documents, ours)
    await connection.execute(
        sa.insert(index_documents).from_select(
            ["index_name", "document_id", "source_version", "version", "chunks"], document_query
        )
    )


async def _clear(connection: AsyncConnection, name: str) -> None:
    for table in (index_chunks, index_documents):
        await connection.execute(sa.delete(table).where(table.c.index_name == name))


async def _forget(connection: AsyncConnection, name: str, document_ids: Sequence[str]) -> None:
    for part in rows.batches(document_ids):
        for table in (index_chunks, index_documents):
            own = (table.c.index_name == name) & table.c.document_id.in_(part)
            await connection.execute(sa.delete(table).where(own))
