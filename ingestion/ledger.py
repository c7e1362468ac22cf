"""The ledger: which documents are in, why others are not, how far each came, and which chunks the store must hold."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from ingestion import ledger_rows as rows
from ingestion.errors import LedgerUnavailable
from ingestion.records import Content, IndexedDocument, KnownDocument, StageFailure, StageTime, now, timestamp
from ingestion.tables import collections, document_chunks, document_stages, document_texts, documents, hidden_versions
from ingestion.types import DocumentIdentity, DocumentRecord, DocumentStatus, ParsedDocument, StageRecord

_STAGE_ORDER = ("found", "parsed", "chunked", "embedded", "written", "verified")


@dataclass(frozen=True, slots=True)
class CollectionSize:
    """A collection and how many ready documents and chunks it holds."""

    name: str
    documents: int
    chunks: int
    description: str = ""


@dataclass(frozen=True, slots=True)
class StartedDocument:
    """A document that is about to be written."""

    identity: DocumentIdentity
    content: Content
    times: Sequence[StageTime] = ()


class Ledger:
    """Reads and writes the tables of documents; every method is one transaction.

    ``owner`` names the home whose process writes: what a killed process left half done is told from what another
    process on the same database is doing. Every method raises ``LedgerUnavailable`` when the database cannot be used.
    """

    def __init__(self, engine: AsyncEngine, *, owner: str = "") -> None:
        self._engine = engine
        self._owner = owner

    async def documents(
        self,
        *,
        collection: str | None = None,
        status: DocumentStatus | None = None,
        document_ids: Collection[str] | None = None,
    ) -> list[DocumentRecord]:
        """Documents by collection and source, failed ones too; of these ids alone where any are given."""
        query = sa.select(documents).order_by(documents.c.collection, documents.c.source)
        if collection is not None:
            query = query.where(documents.c.collection == collection)
        if status is not None:
            query = query.where(documents.c.status == status)
        if document_ids is not None:
            query = query.where(documents.c.document_id.in_(document_ids))
        async with self._transaction() as connection:
            return [rows.to_record(row) for row in (await connection.execute(query)).mappings()]

    async def document(self, document_id: str) -> DocumentRecord | None:
        """One document; None without one of that id."""
        query = sa.select(documents).where(documents.c.document_id == document_id)
        async with self._transaction() as connection:
            row = (await connection.execute(query)).mappings().one_or_none()
        return rows.to_record(row) if row is not None else None

    async def text(self, document_id: str) -> str | None:
        """The stored text of a document, which all offsets count in; None without one."""
        query = sa.select(document_texts.c.text).where(document_texts.c.document_id == document_id)
        async with self._transaction() as connection:
            return (await connection.execute(query)).scalar_one_or_none()

    async def parsed(self, document_id: str) -> ParsedDocument | None:
        """A document as its loader made it, from the stored text and structure; None without one."""
        query = sa.select(documents, document_texts.c.text, document_texts.c.blocks).join(
            document_texts, document_texts.c.document_id == documents.c.document_id
        )
        async with self._transaction() as connection:
            found = await connection.execute(query.where(documents.c.document_id == document_id))
            row = found.mappings().one_or_none()
        return rows.to_parsed(row) if row is not None else None

    async def stages(self, document_id: str) -> list[StageRecord]:
        """The stages that a document's latest attempt came to, in their order."""
        query = sa.select(document_stages).where(document_stages.c.document_id == document_id)
        async with self._transaction() as connection:
            found = [StageRecord.model_validate(dict(row)) for row in (await connection.execute(query)).mappings()]
        return sorted(found, key=lambda record: _STAGE_ORDER.index(record.stage))

    async def known(self, collection: str | None = None) -> dict[str, KnownDocument]:
        """What is known of a collection's documents, by document id; None takes all collections."""
        query = sa.select(documents)
        if collection is not None:
            query = query.where(documents.c.collection == collection)
        async with self._transaction() as connection:
            return {row["document_id"]: rows.to_known(row) for row in (await connection.execute(query)).mappings()}

    async def chunk_ids(self, *, collection: str | None = None) -> dict[str, str]:
        """Ids of all chunks that the store must hold, each with its document's id."""
        query = sa.select(document_chunks.c.chunk_id, document_chunks.c.document_id)
        async with self._transaction() as connection:
            return {row[0]: row[1] for row in (await connection.execute(_within(query, collection))).all()}

    async def chunk_count(self, *, collection: str | None = None) -> int:
        """Number of chunks that the store must hold."""
        query = sa.select(sa.func.count()).select_from(document_chunks)
        async with self._transaction() as connection:
            return int((await connection.execute(_within(query, collection))).scalar_one())

    async def hidden(self, *, own: bool = False) -> dict[str, str]:
        """Versions that readers must not see, each with its document's id; ``own``: of this owner alone."""
        query = sa.select(hidden_versions.c.version, hidden_versions.c.document_id)
        if own:
            query = query.where(hidden_versions.c.owner == self._owner)
        async with self._transaction() as connection:
            return {row[0]: row[1] for row in (await connection.execute(query)).all()}

    async def descendants(self, document_ids: Sequence[str]) -> list[str]:
        """Ids of the documents inside these, at any depth."""
        found: list[str] = []
        async with self._transaction() as connection:
            level = list(document_ids)
            while level:
                below: list[str] = []
                for part in rows.batches(level):
                    query = sa.select(documents.c.document_id).where(documents.c.parent_id.in_(part))
                    below += (await connection.execute(query)).scalars().all()
                found += below
                level = below
        return found

    async def versions(self, document_ids: Sequence[str]) -> list[str]:
        """The versions of these documents that readers see."""
        async with self._transaction() as connection:
            found = await rows.before(connection, document_ids)
        return [entry.version for entry in found.values() if entry.version]

    async def begin(self, started: Sequence[StartedDocument]) -> dict[str, str]:
        """Mark documents as ``processing`` before their first write to the store; what was in stays recorded.

        Returns:
            New versions, each with its document's id: not to be seen before they are whole, and recorded as hidden.
        """
        ids = [document.identity.document_id for document in started]
        async with self._transaction() as connection:
            earlier = await rows.before(connection, ids)
            attempts = {key: earlier[key].attempt + 1 if key in earlier else 1 for key in ids}
            marks = {"status": "processing", "reason": None, "detail": ""}
            for is_known in (True, False):
                part = [document for document in started if (document.identity.document_id in earlier) is is_known]
                await rows.put_documents(
                    connection,
                    [
                        (
                            document.identity,
                            # What was indexed stays said of a document until the next version takes its place.
                            {**marks, "attempt": attempts[document.identity.document_id]}
                            | ({} if is_known else rows.content_values(document.content)),
                        )
                        for document in part
                    ],
                )
            for part_ids in rows.batches(ids):
                await connection.execute(sa.delete(document_stages).where(document_stages.c.document_id.in_(part_ids)))
            await rows.put_stages(connection, _stages(started, attempts))
            versions = {
                version: document.identity.document_id
                for document in started
                if (version := document.content.version(document.identity.document_id))
                != (earlier[document.identity.document_id].version if document.identity.document_id in earlier else "")
            }
            await rows.hide(connection, versions, owner=self._owner)
        return versions

    async def complete(self, indexed: Sequence[IndexedDocument]) -> dict[str, str]:
        """Record documents as ``ready`` in place of what was before.

        Returns:
            Versions that are no longer to be seen, each with its document's id. They stay recorded as hidden until
            ``shown`` is told that the store has none of their chunks any more.
        """
        ids = [document.identity.document_id for document in indexed]
        gone = [document_id for document in indexed for document_id in document.gone]
        async with self._transaction() as connection:
            await rows.forget_content(connection, ids)
            earlier = await rows.put_documents(
                connection, [(document.identity, rows.ready_values(document)) for document in indexed]
            )
            attempts = {key: earlier[key].attempt if key in earlier else 1 for key in ids}
            await rows.put_contents(connection, indexed)
            await rows.put_stages(connection, _stages(indexed, attempts))
            new = [document.content.version(document.identity.document_id) for document in indexed]
            earlier |= await rows.before(connection, gone)
            retired = {entry.version: key for key, entry in earlier.items() if entry.version}
            retired = {version: key for version, key in retired.items() if version not in new}
            await rows.forget_documents(connection, gone)
            await rows.show(connection, new)
            await rows.hide(connection, retired, owner=self._owner)
        return retired

    async def shown(self, versions: Sequence[str]) -> None:
        """Nothing of these versions is in the store any more, or all of it may be seen."""
        async with self._transaction() as connection:
            await rows.show(connection, versions)

    async def fail(
        self,
        identity: DocumentIdentity,
        content: Content,
        failure: StageFailure,
        *,
        times: Sequence[StageTime] = (),
        keep_indexed: bool = False,
    ) -> None:
        """Record why a document is not in.

        Args:
            identity: The document.
            content: What was read of it.
            failure: What went wrong.
            times: Stages that it came through before.
            keep_indexed: Whether the version before is still in the store, and stays recorded.
        """
        async with self._transaction() as connection:
            values: dict[str, Any] = {"status": "failed", "reason": failure.reason, "detail": failure.detail}
            if not keep_indexed:
                values |= {"chunks": 0, "children": 0, "pages": None, "version": ""}
                await rows.forget_content(connection, [identity.document_id])
            earlier = await rows.before(connection, [identity.document_id])
            last = earlier.get(identity.document_id)
            attempt = 1 if last is None else last.attempt + (last.status != "processing")
            values |= {"attempt": attempt, **rows.content_values(content)}
            await rows.put_documents(connection, [(identity, values)])
            own = document_stages.c.document_id == identity.document_id
            await connection.execute(sa.delete(document_stages).where(own))
            done = [rows.stage_values(identity.document_id, time, content, attempt) for time in times]
            failed = rows.failed_stage_values(identity.document_id, failure, content, attempt)
            await rows.put_stages(connection, [*done, failed])

    async def remove(self, document_ids: Sequence[str]) -> None:
        """Forget documents with all that is recorded of them; unknown ids are ignored."""
        async with self._transaction() as connection:
            await rows.forget_documents(connection, document_ids)

    async def collections(self) -> list[CollectionSize]:
        """Collections that were created or hold any document, by name; one whose documents all failed holds 0."""
        query = sa.select(
            documents.c.collection,
            sa.func.sum(sa.case((documents.c.status == "ready", 1), else_=0)),
            sa.func.sum(documents.c.chunks),
        ).group_by(documents.c.collection)
        async with self._transaction() as connection:
            created = {row.name: row.description for row in (await connection.execute(sa.select(collections))).all()}
            sizes = {row[0]: (int(row[1]), int(row[2])) for row in (await connection.execute(query)).all()}
        return [
            CollectionSize(name, *sizes.get(name, (0, 0)), created.get(name, "")) for name in sorted({*sizes, *created})
        ]

    async def create_collection(self, name: str, *, description: str = "") -> bool:
        """Create or describe a collection; whether it was new to this table."""
        try:
            async with self._transaction() as connection:
                row = {"name": name, "description": description, "created_at": timestamp(now())}
                await connection.execute(sa.insert(collections).values(**row))
        except LedgerUnavailable as error:
            if not isinstance(error.__cause__, IntegrityError):
                raise
        else:
            return True
        async with self._transaction() as connection:
            same = collections.c.name == name
            await connection.execute(sa.update(collections).where(same).values(description=description))
        return False

    async def remove_collection(self, name: str) -> None:
        """Forget the description of a collection; its documents are another matter."""
        async with self._transaction() as connection:
            await connection.execute(sa.delete(collections).where(collections.c.name == name))

    @asynccontextmanager
    async def _transaction(self) -> AsyncGenerator[AsyncConnection]:
        try:
            async with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise LedgerUnavailable(rows.sentence(error)) from error


def _within(query: sa.Select[*tuple[Any, ...]], collection: str | None) -> sa.Select[*tuple[Any, ...]]:
    """The query over chunks, of one collection alone."""
    if collection is None:
        return query
    joined = query.join(documents, documents.c.document_id == document_chunks.c.document_id)
    return joined.where(documents.c.collection == collection)


def _stages(found: Sequence[StartedDocument | IndexedDocument], attempts: dict[str, int]) -> list[dict[str, Any]]:
    return [
        rows.stage_values(
            document.identity.document_id, time, document.content, attempts[document.identity.document_id]
        )
        for document in found
        for time in document.times
    ]
