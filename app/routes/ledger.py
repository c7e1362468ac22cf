"""The ledger's own routes: how far a document came, collections, and mending what differs."""

from __future__ import annotations

from fastapi import APIRouter

from app.errors import DocumentUnknown
from app.ledger_schema import CollectionCreate, CollectionDeleted, StageList
from app.openapi import problems
from app.routes.platform import PlatformDep
from app.schema import CollectionInfo
from app.wiring import Platform
from ingestion.errors import CollectionUnknown
from ingestion.ledger import CollectionSize
from ingestion.types import IngestReport


def add_ledger_routes(router: APIRouter) -> None:
    """Add the routes to those of documents."""
    routes = (
        ("GET", "/documents/{document_id}/stages", get_document_stages, problems(404)),
        ("POST", "/collections", create_collection, problems(422)),
        ("GET", "/collections/{name}", get_collection, problems(404)),
        ("DELETE", "/collections/{name}", delete_collection, problems(404, 503)),
        ("POST", "/repair", repair, problems(503)),
    )
    for method, path, endpoint, responses in routes:
        router.add_api_route(path, endpoint, methods=[method], operation_id=endpoint.__name__, responses=responses)


async def get_document_stages(document_id: str, platform: PlatformDep) -> StageList:
    """How far the document's latest attempt came, and where it ended if it failed."""
    if await platform.ledger.document(document_id) is None:
        raise DocumentUnknown(f"There is no document {document_id!r}; GET /api/documents lists them.")
    return StageList(document_id=document_id, stages=await platform.ledger.stages(document_id))


async def create_collection(request: CollectionCreate, platform: PlatformDep) -> CollectionInfo:
    """Create a collection, or describe one that is there already."""
    await platform.ledger.create_collection(request.name, description=request.description)
    return CollectionInfo.model_validate(await _size(platform, request.name), from_attributes=True)


async def get_collection(name: str, platform: PlatformDep) -> CollectionInfo:
    """One collection with its size."""
    return CollectionInfo.model_validate(await _size(platform, name), from_attributes=True)


async def delete_collection(name: str, platform: PlatformDep) -> CollectionDeleted:
    """Delete a collection with all its documents; the receipt counts what the store still holds of them."""
    await _size(platform, name)
    documents = await platform.ledger.documents(collection=name)
    left = await platform.ingester.delete_collection(name)
    platform.originals.forget(documents, kept=await platform.ledger.documents())
    return CollectionDeleted(name=name, documents=len(documents), chunks_left=left)


async def repair(platform: PlatformDep) -> IngestReport:
    """Mend what differs between ledger and store; the report names the documents that were not whole."""
    return await platform.ingester.repair()


async def _size(platform: Platform, name: str) -> CollectionSize:
    for size in await platform.ledger.collections():
        if size.name == name:
            return size
    raise CollectionUnknown(f"There is no collection {name!r}; GET /api/collections lists them.")
