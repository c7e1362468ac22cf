"""Rows of the ledger's tables: built from values, read into values, written many at a time. Knows no rules."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from ingestion.records import (
    Content,
    IndexedDocument,
    KnownDocument,
    StageFailure,
    StageTime,
    blocks_from_json,
    blocks_to_json,
    now,
    timestamp,
)
from ingestion.tables import document_chunks, document_stages, document_texts, documents, hidden_versions
from ingestion.types import DocumentIdentity, DocumentRecord, ParsedDocument

BATCH = 500
"""Values in one ``IN`` list or insert; SQLite's own limit is far above."""


class Before(NamedTuple):
    """What a document's row said before a write."""

    version: str
    attempt: int
    status: str


async def put_documents(
    connection: AsyncConnection, rows: Sequence[tuple[DocumentIdentity, Mapping[str, Any]]]
) -> dict[str, Before]:
    """Insert or update rows that all set the same columns; returns what those that existed said before."""
    known = await before(connection, [identity.document_id for identity, _ in rows])
    moment = timestamp(now())
    updates = [
        {"key": identity.document_id, **values, "parent_id": identity.parent_id, "updated_at": moment}
        for identity, values in rows
        if identity.document_id in known
    ]
    inserts = [
        {
            "document_id": identity.document_id,
            "collection": identity.collection,
            "source": identity.source,
            "parent_id": identity.parent_id,
            "created_at": moment,
            "updated_at": moment,
            **values,
        }
        for identity, values in rows
        if identity.document_id not in known
    ]
    if updates:
        columns: dict[str, Any] = {name: sa.bindparam(name) for name in updates[0] if name != "key"}
        statement = sa.update(documents).where(documents.c.document_id == sa.bindparam("key")).values(columns)
        await connection.execute(statement, updates)
    await insert_all(connection, documents, inserts)
    return known


async def before(connection: AsyncConnection, document_ids: Sequence[str]) -> dict[str, Before]:
    """Version and attempt of the documents that there are."""
    found: dict[str, Before] = {}
    columns = (documents.c.document_id, documents.c.version, documents.c.attempt, documents.c.status)
    for part in batches(document_ids):
        query = sa.select(*columns).where(documents.c.document_id.in_(part))
        found |= {row[0]: Before(row[1], row[2], row[3]) for row in (await connection.execute(query)).all()}
    return found


async def put_stages(connection: AsyncConnection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write stages over those of the same documents and names."""
    keys = [{"document": row["document_id"], "name": row["stage"]} for row in rows]
    if keys:
        same = (document_stages.c.document_id == sa.bindparam("document")) & (
            document_stages.c.stage == sa.bindparam("name")
        )
        await connection.execute(sa.delete(document_stages).where(same), keys)
    await insert_all(connection, document_stages, rows)


async def hide(connection: AsyncConnection, versions: Mapping[str, str], *, owner: str) -> None:
    """Record versions, each with its document's id, as not to be seen."""
    await show(connection, list(versions))
    moment = timestamp(now())
    rows = [
        {"version": version, "document_id": document_id, "owner": owner, "created_at": moment}
        for version, document_id in versions.items()
    ]
    await insert_all(connection, hidden_versions, rows)


async def show(connection: AsyncConnection, versions: Sequence[str]) -> None:
    """Take versions off the record of what is not to be seen."""
    for part in batches(versions):
        await connection.execute(sa.delete(hidden_versions).where(hidden_versions.c.version.in_(part)))


async def forget_content(connection: AsyncConnection, document_ids: Sequence[str]) -> None:
    """Delete text and chunk ids of documents."""
    for part in batches(document_ids):
        for table in (document_chunks, document_texts):
            await connection.execute(sa.delete(table).where(table.c.document_id.in_(part)))


async def forget_documents(connection: AsyncConnection, document_ids: Sequence[str]) -> None:
    """Delete all rows of documents."""
    await forget_content(connection, document_ids)
    for part in batches(document_ids):
        for table in (document_stages, documents):
            await connection.execute(sa.delete(table).where(table.c.document_id.in_(part)))


async def put_contents(connection: AsyncConnection, indexed: Sequence[IndexedDocument]) -> None:
    """Write texts and chunk ids of documents that have none."""
    texts = [
        {
            "document_id": document.identity.document_id,
            "text": document.parsed.text,
            "blocks": blocks_to_json(document.parsed.blocks),
        }
        for document in indexed
        if document.parsed is not None
    ]
    chunks = [
        {"chunk_id": chunk_id, "document_id": document.identity.document_id, "position": position}
        for document in indexed
        for position, chunk_id in enumerate(document.chunk_ids)
    ]
    await insert_all(connection, document_texts, texts)
    await insert_all(connection, document_chunks, chunks)


async def insert_all(connection: AsyncConnection, table: sa.Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows; nothing for none."""
    for start in range(0, len(rows), BATCH):
        await connection.execute(sa.insert(table), [dict(row) for row in rows[start : start + BATCH]])


def batches(values: Iterable[str]) -> list[list[str]]:
    """The values in parts that fit one statement."""
    whole = list(values)
    return [whole[start : start + BATCH] for start in range(0, len(whole), BATCH)]


def content_values(content: Content) -> dict[str, Any]:
    """Columns of what was read."""
    return {
        "content_sha256": content.sha256,
        "size_bytes": content.size_bytes,
        "embedding_fingerprint": content.fingerprint,
        "recipe": content.recipe,
    }


def ready_values(document: IndexedDocument) -> dict[str, Any]:
    """Columns of a document that is in."""
    parsed = document.parsed
    return {
        "status": "ready" if parsed is not None else "container",
        "reason": None,
        "detail": "",
        "title": parsed.title if parsed else document.identity.source.rpartition("/")[2],
        "chunks": len(document.chunk_ids),
        "children": document.children,
        "pages": parsed.page_count if parsed else None,
        "media_type": parsed.media_type if parsed else "",
        "metadata": json.dumps(dict(parsed.metadata) if parsed else {}, ensure_ascii=False),
        "version": document.content.version(document.identity.document_id),
        **content_values(document.content),
    }


def stage_values(document_id: str, time: StageTime, content: Content, attempt: int) -> dict[str, Any]:
    """Columns of a stage that is done."""
    return {
        "document_id": document_id,
        "stage": time.stage,
        "state": "done",
        "content_sha256": content.sha256,
        "reason": None,
        "detail": "",
        "attempt": attempt,
        "started_at": timestamp(time.started_at),
        "finished_at": timestamp(time.finished_at),
    }


def failed_stage_values(document_id: str, failure: StageFailure, content: Content, attempt: int) -> dict[str, Any]:
    """Columns of the stage that a document did not get through."""
    moment = now()
    values = stage_values(document_id, StageTime(failure.stage, moment, moment), content, attempt)
    return {**values, "state": "failed", "reason": failure.reason, "detail": failure.detail}


def to_record(row: sa.RowMapping) -> DocumentRecord:
    """A row of ``documents`` as people see it."""
    values = {name: row[name] for name in DocumentRecord.model_fields if name != "metadata"}
    return DocumentRecord.model_validate({**values, "metadata": json.loads(row["metadata"])})


def to_known(row: sa.RowMapping) -> KnownDocument:
    """A row of ``documents`` as an ingest compares it."""
    content = Content(row["content_sha256"], row["size_bytes"], row["embedding_fingerprint"], row["recipe"])
    identity = DocumentIdentity(row["document_id"], row["collection"], row["source"], row["parent_id"])
    return KnownDocument(identity, row["status"], content, row["chunks"], row["pages"], row["children"], row["version"])


def to_parsed(row: sa.RowMapping) -> ParsedDocument:
    """A row of ``documents`` with its text as the loader made it."""
    return ParsedDocument(
        title=row["title"],
        text=row["text"],
        blocks=blocks_from_json(row["blocks"]),
        media_type=row["media_type"],
        page_count=row["pages"],
        metadata=json.loads(row["metadata"]),
    )


def sentence(error: SQLAlchemyError) -> str:
    """What is wrong with the database, for a person."""
    cause = str(getattr(error, "orig", None) or error).splitlines()[0]
    if "full" in cause:
        return "The disk is full; free some space and run the command again, which goes on from there."
    return f"The database of documents cannot be used ({cause}); check the disk and the database settings."
