"""A search of the stand-in API with everything that the page draws."""

from __future__ import annotations

from collections.abc import Sequence

from agents.answer import BudgetUse, ContextReport
from app.search_schema import (
    PromptPlace,
    PromptPreview,
    ReadFilterInfo,
    SearchHit,
    SearchQuery,
    SearchRequest,
    SearchResponse,
    SearchScores,
)
from ingestion.types import DocumentRecord
from retrieval.explanation import (
    FeatureShare,
    HitExplanation,
    LegShare,
    RerankShare,
    SearchExplanation,
    TermShare,
)

FILTER_WORDS = "in the runbooks collection"
FILTER_NAME = "collection=runbooks"


def search_of(request: SearchRequest, documents: Sequence[tuple[DocumentRecord, str]]) -> SearchResponse:
    """One hit a document; only the first one is found by words."""
    filters = ()
    if FILTER_WORDS in request.query:
        applied = FILTER_NAME not in request.drop_filters
        filters = (ReadFilterInfo(name=FILTER_NAME, kind="collection", words=FILTER_WORDS, applied=applied),)
    hits = [_hit(rank, request, *entry) for rank, entry in enumerate(documents[: request.limit], start=1)]
    report = ContextReport(budget_tokens=4096, used=BudgetUse(system=90, evidence=213, reserve=400))
    return SearchResponse(
        query=request.query,
        searched=request.query.replace(FILTER_WORDS, "").strip() if filters and filters[0].applied else request.query,
        hits=hits,
        filters=filters,
        explanation=SearchExplanation(
            fusion="dbsf",
            dense_weight=0.4,
            stored=1234,
            searched=1200,
            dense_candidates=100,
            bm25_candidates=1,
            fused=100,
            reranked=30,
            duplicates=2,
            below_limit=88,
        )
        if request.explain
        else None,
        context=PromptPreview(
            queries=(SearchQuery(query=f"{request.query} pod", kind="follow_up"),) if request.thread_id else (),
            report=report,
        )
        if request.context
        else None,
        timings_ms={"embed": 1.0, "search": 2.0, "rerank": 0.0, "total": 3.0},
    )


def _hit(rank: int, request: SearchRequest, record: DocumentRecord, text: str) -> SearchHit:
    first = rank == 1
    place = PromptPlace(number=1, tokens=213) if first else PromptPlace(tokens=640, reason="budget")
    return SearchHit(
        rank=rank,
        chunk_id=f"{record.document_id}-0",
        document_id=record.document_id,
        source=record.source,
        title=record.title,
        page=None,
        section="",
        char_start=0,
        char_end=len(text),
        text=text,
        scores=SearchScores(
            dense=0.8 / rank,
            dense_rank=rank,
            bm25=9.1 if first else None,
            bm25_rank=1 if first else None,
            fused=1 / rank,
            rerank=2.5 if first else None,
        ),
        matched_terms=request.query.lower().split(),
        explanation=_explanation(rank, request.query) if request.explain else None,
        prompt=place if request.context else None,
    )


def _explanation(rank: int, query: str) -> HitExplanation:
    first = rank == 1
    words = [
        TermShare(spelling=word, term=word, count=2 if first else 0, idf=4.25 if first else None, contribution=4.55)
        for word in query.lower().split()
    ]
    features = (FeatureShare("coverage", 0.9, 1.2), FeatureShare("cosine", 0.8, 0.4))
    return HitExplanation(
        legs=(
            LegShare("dense", rank, 0.8 / rank, 0.71, 0.4, 0.284),
            LegShare("bm25", 1 if first else None, 9.1 if first else None, 0.88 if first else 0.0, 0.6, 0.528),
        ),
        terms=tuple(words),
        fused_score=0.812,
        fused_rank=rank,
        rerank=RerankShare("learned 1", 2.5, 3, 1, features) if first else None,
        duplicates=("x", "y") if first else (),
    )
