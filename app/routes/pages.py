"""Pages of PDF documents: their picture, and where a chunk stands on it."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from app.errors import DocumentUnknown
from app.openapi import problems
from app.page_schema import BoxView, PagePlace
from app.routes.platform import PlatformDep
from app.wiring import Platform
from ingestion.pages import MAX_WIDTH, page_boxes, render_page
from retrieval.types import SearchFilter

router = APIRouter(prefix="/api/documents", tags=["documents"])

PageNumber = Annotated[int, Path(ge=1, description="One-based.")]
_PICTURE: dict[int | str, dict[str, Any]] = {200: {"content": {"image/png": {}}, "description": "The page."}}


@router.get(
    "/{document_id}/pages/{page}.png",
    operation_id="get_page_picture",
    response_class=Response,
    responses=_PICTURE | problems(404, 422),
)
async def get_page_picture(
    document_id: str,
    page: PageNumber,
    platform: PlatformDep,
    width: Annotated[int, Query(ge=50, le=MAX_WIDTH, description="Pixels.")] = 900,
) -> Response:
    """A page as PNG. 404 where the document is no PDF, or its file is gone or has changed."""
    data = await _original(platform, document_id)
    picture = await asyncio.to_thread(render_page, data, page, width=width)
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


@router.get("/{document_id}/pages/{page}/place", operation_id="get_page_place", responses=problems(404, 422))
async def get_page_place(
    document_id: str,
    page: PageNumber,
    platform: PlatformDep,
    chunk_id: Annotated[str, Query(min_length=1, description="Chunk of the document.")],
) -> PagePlace:
    """Where a chunk stands on the page."""
    data = await _original(platform, document_id)
    chunks = await asyncio.to_thread(platform.store.chunks, SearchFilter(document_ids=(document_id,)))
    chunk = next((chunk for chunk in chunks if chunk.chunk_id == chunk_id), None)
    if chunk is None:
        raise DocumentUnknown(f"The document has no chunk {chunk_id!r}; it may have changed meanwhile.")
    boxes = await asyncio.to_thread(page_boxes, data, page, chunk.text)
    views = [BoxView(left=box.left, top=box.top, right=box.right, bottom=box.bottom) for box in boxes]
    return PagePlace(document_id=document_id, page=page, chunk_id=chunk_id, boxes=views)


async def _original(platform: Platform, document_id: str) -> bytes:
    record = await platform.ledger.document(document_id)
    if record is None:
        raise DocumentUnknown(f"There is no document {document_id!r}; GET /api/documents lists them.")
    return await asyncio.to_thread(platform.originals.read, record)
