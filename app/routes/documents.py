"""Documents: upload, list, show, delete; collections and the state of the ledger."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Form, Query, UploadFile

from app.errors import DocumentUnknown, RequestInvalid
from app.home_lock import writing_to
from app.jobs import IngestOrder
from app.openapi import problems
from app.routes.ledger import add_ledger_routes
from app.routes.platform import PlatformDep
from app.schema import (
    ChunkList,
    ChunkView,
    CollectionInfo,
    CollectionList,
    DocumentDeleted,
    DocumentList,
    DocumentText,
    Job,
    StatusReport,
)
from app.wiring import Platform
from ingestion.sources import Source
from ingestion.types import DocumentRecord, DocumentStatus
from retrieval.types import Chunk, SearchFilter

_MAX_FILES = 1000

CollectionName = Annotated[str, Form(min_length=1, max_length=100, description="Collection the documents belong to.")]


def build_router(*, max_upload_bytes: int) -> APIRouter:
    """Routes of documents; an upload larger than that is refused with 413 while it comes in."""
    router = APIRouter(prefix="/api", tags=["documents"])
    router.add_api_route(
        "/documents",
        upload_documents,
        methods=["POST"],
        status_code=202,
        operation_id="upload_documents",
        responses=problems(413, 422, 507),
        max_body_size=max_upload_bytes,
        form_limits={"max_files": _MAX_FILES},
    )
    gets = (
        ("/documents", list_documents, problems(422)),
        ("/documents/{document_id}", get_document, problems(404)),
        ("/documents/{document_id}/text", get_document_text, problems(404)),
        ("/documents/{document_id}/chunks", get_document_chunks, problems(404, 503)),
        ("/collections", list_collections, problems()),
        ("/status", get_status, problems(503)),
    )
    for path, endpoint, responses in gets:
        router.add_api_route(path, endpoint, operation_id=endpoint.__name__, responses=responses)
    router.add_api_route(
        "/documents/{document_id}",
        delete_document,
        methods=["DELETE"],
        operation_id="delete_document",
        responses=problems(404, 503),
    )
    add_ledger_routes(router)
    return router


async def upload_documents(
    files: list[UploadFile], platform: PlatformDep, collection: CollectionName = "default"
) -> Job:
    """Ingest files in the background. A name that was uploaded before is replaced when its content differs."""
    scratch = platform.home.uploads / uuid4().hex
    with writing_to(platform.home):
        sources = await asyncio.to_thread(_save, files, scratch)
        await asyncio.to_thread(platform.originals.keep, [source.path for source in sources])
    return platform.jobs.submit(IngestOrder(sources, collection=collection, scratch=scratch))


async def list_documents(
    platform: PlatformDep,
    collection: Annotated[str | None, Query(description="Documents of this collection alone.")] = None,
    status: Annotated[DocumentStatus | None, Query(description="In this state alone.")] = None,
) -> DocumentList:
    """Documents of the ledger, failed ones too."""
    return DocumentList(documents=await platform.ledger.documents(collection=collection, status=status))


async def get_document(document_id: str, platform: PlatformDep) -> DocumentRecord:
    """One document of the ledger."""
    return await _record(platform, document_id)


async def get_document_text(document_id: str, platform: PlatformDep) -> DocumentText:
    """The stored text, which all offsets count in."""
    await _record(platform, document_id)
    return DocumentText(document_id=document_id, text=await platform.ledger.text(document_id) or "")


async def get_document_chunks(document_id: str, platform: PlatformDep) -> ChunkList:
    """The document's chunks in order, as the store holds them."""
    await _record(platform, document_id)
    chunks = await asyncio.to_thread(platform.store.chunks, SearchFilter(document_ids=(document_id,)))
    return ChunkList(document_id=document_id, chunks=[_view(chunk) for chunk in chunks])


async def delete_document(document_id: str, platform: PlatformDep) -> DocumentDeleted:
    """Delete a document with its chunks; the receipt counts what the store still holds of it."""
    record = await _record(platform, document_id)
    left = await platform.ingester.delete(document_id)
    platform.originals.forget([record], kept=await platform.ledger.documents())
    return DocumentDeleted(document_id=document_id, source=record.source, chunks_left=left)


async def list_collections(platform: PlatformDep) -> CollectionList:
    """Collections that were created or hold a document, by name."""
    collections = await platform.ledger.collections()
    return CollectionList(
        collections=[CollectionInfo.model_validate(item, from_attributes=True) for item in collections]
    )


async def get_status(platform: PlatformDep) -> StatusReport:
    """Sizes, failed documents, and whether ledger and store hold the same chunks."""
    status = await platform.ingester.status()
    return StatusReport.model_validate(status, from_attributes=True)


async def _record(platform: Platform, document_id: str) -> DocumentRecord:
    record = await platform.ledger.document(document_id)
    if record is None:
        raise DocumentUnknown(f"There is no document {document_id!r}; GET /api/documents lists them.")
    return record


def _save(files: Sequence[UploadFile], scratch: Path) -> list[Source]:
    """Copy the files, which the server has spooled to disk, into a folder of their own."""
    sources: list[Source] = []
    for number, file in enumerate(files):
        name = PurePosixPath((file.filename or "").replace("\\", "/")).name
        if name in ("", ".", ".."):
            raise RequestInvalid("A file has no name; send a file name with each part.")
        path = scratch / str(number) / name
        path.parent.mkdir(parents=True)
        with path.open("wb") as target:
            shutil.copyfileobj(file.file, target, 1024 * 1024)
        sources.append(Source.upload(path, name=name))
    return sources


def _view(chunk: Chunk) -> ChunkView:
    return ChunkView(
        chunk_id=chunk.chunk_id,
        position=chunk.position,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        page=chunk.page,
        section=chunk.section,
        token_count=chunk.token_count,
        text=chunk.text,
    )
