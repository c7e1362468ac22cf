"""Search without an answer."""

from __future__ import annotations

from fastapi import APIRouter

from app import searching
from app.openapi import problems
from app.routes.platform import PlatformDep
from app.search_schema import SearchRequest, SearchResponse

router = APIRouter(prefix="/api", tags=["search"])


@router.post("/search", operation_id="search", responses=problems(404, 422, 503))
async def search(request: SearchRequest, platform: PlatformDep) -> SearchResponse:
    """Hits of both legs, fused, best first; with ``explain`` why, with ``context`` what the chat would make of them.

    404 when documents exist but none in a named collection, or there is no such thread.
    """
    return await searching.search(platform, request)
