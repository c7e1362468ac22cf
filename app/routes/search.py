"""Search without an answer, and what there is to search."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from agents.event_stream import found_passage
from app.asking import search_scope
from app.openapi import problems
from app.routes.platform import PlatformDep
from app.schema import SearchHit, SearchRequest, SearchResponse, SearchScores
from retrieval.types import Hit

router = APIRouter(prefix="/api", tags=["search"])


@router.post("/search", operation_id="search", responses=problems(404, 422, 503))
async def search(request: SearchRequest, platform: PlatformDep) -> SearchResponse:
    """Hits of both legs, fused, best first. 404 when documents exist but none in a named collection."""
    scope = await search_scope(platform.ledger, request.collections, request.filter)
    result = await asyncio.to_thread(platform.retriever.search, request.query, search_filter=scope, limit=request.limit)
    timings = result.timings
    return SearchResponse(
        query=result.query,
        hits=[_search_hit(hit) for hit in result.hits],
        timings_ms={
            "embed": timings.embed,
            "search": timings.search,
            "rerank": timings.rerank,
            "total": timings.total,
        },
    )


def _search_hit(hit: Hit) -> SearchHit:
    found = found_passage(hit).model_dump()
    scores = SearchScores(**{name: found.pop(name) for name in SearchScores.model_fields})
    return SearchHit(**found, scores=scores, matched_terms=list(hit.matched_terms))
