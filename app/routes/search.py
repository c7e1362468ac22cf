"""Search without an answer, and what there is to search."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

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
        hits=[to_search_hit(hit) for hit in result.hits],
        timings_ms={
            "embed": timings.embed,
            "search": timings.search,
            "rerank": timings.rerank,
            "total": timings.total,
        },
    )


def to_search_hit(hit: Hit) -> SearchHit:
    """The hit as the API shows it."""
    chunk, scores = hit.chunk, hit.scores
    return SearchHit(
        rank=hit.rank,
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        source=chunk.source,
        title=chunk.title,
        page=chunk.page,
        section=chunk.section,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
        text=chunk.text,
        scores=SearchScores(
            dense=scores.dense,
            dense_rank=scores.dense_rank,
            bm25=scores.bm25,
            bm25_rank=scores.bm25_rank,
            fused=scores.fused,
            rerank=scores.rerank,
        ),
        matched_terms=list(hit.matched_terms),
    )
