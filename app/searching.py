"""A search without an answer: as asked, or as the chat would search, with everything that explains what came out."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from agents.answer import DroppedEvidence
from agents.event_stream import found_passage
from agents.request import AnswerRequest
from app.asking import search_scope
from app.search_schema import (
    PromptPlace,
    PromptPreview,
    ReadFilterInfo,
    SearchHit,
    SearchNotice,
    SearchQuery,
    SearchRequest,
    SearchResponse,
    SearchScores,
)
from app.wiring import Platform
from retrieval.read_filters import ReadQuestion, read_filters
from retrieval.types import Hit, SearchFilter, SearchResult


async def search(platform: Platform, request: SearchRequest) -> SearchResponse:
    """Hits for a query.

    Raises:
        CollectionUnknown: Documents exist, but none in a collection that is named.
        ThreadUnknown: There is no such thread.
        StoreUnavailable: The store cannot be read.
        AgentError: With ``context``: the chat model's tokenizer cannot be reached.
    """
    scope = await search_scope(platform.ledger, request.collections, request.filter)
    read = await asyncio.to_thread(_read, platform, request, scope)
    if request.context:
        return await _as_the_chat_does(platform, request, scope, read)
    result = await asyncio.to_thread(
        platform.retriever.search,
        read.query,
        search_filter=read.search_filter,
        limit=request.limit,
        explain=request.explain,
    )
    return _response(request, result, result.hits, read)


def _read(platform: Platform, request: SearchRequest, scope: SearchFilter) -> ReadQuestion:
    if not (request.read_filters and platform.settings.answer.filters_from_words):
        return ReadQuestion(request.query, scope)
    return read_filters(request.query, within=scope, count=platform.store.count, drop=request.drop_filters)


async def _as_the_chat_does(
    platform: Platform, request: SearchRequest, scope: SearchFilter, read: ReadQuestion
) -> SearchResponse:
    # The graph library loads with the first question, so that a search alone does not wait for it.
    from agents.preview import preview

    thread_id = request.thread_id
    if thread_id:
        await platform.threads.get(thread_id)
    asked = AnswerRequest(
        run_id=uuid4().hex,
        thread_id=thread_id,
        question=request.query,
        history=await platform.runs.history(thread_id) if thread_id else (),
        search_filter=scope,
        attachments=await platform.attachments.current(thread_id) if thread_id else (),
        drop_filters=tuple(one.name for one in read.filters) if not request.read_filters else request.drop_filters,
    )
    answerer = await platform.answerer.load()
    seen = await preview(asked, answerer.context(asked), platform.retriever)
    state = seen.state
    numbers = {hit.chunk.chunk_id: number for number, hit in enumerate(state.passages, start=1)}
    sizes = dict(zip(numbers, seen.tokens, strict=True))
    dropped = {one.chunk_id: one for one in state.report.dropped}

    def place(hit: Hit) -> PromptPlace:
        chunk_id = hit.chunk.chunk_id
        if chunk_id in numbers:
            return PromptPlace(number=numbers[chunk_id], tokens=sizes[chunk_id])
        return _left_out(dropped.get(chunk_id), weak=state.abstention is not None)

    response = _response(request, seen.main_search, state.hits[: request.limit], read)
    acting = state.request.search_filter != scope
    return response.model_copy(
        update={
            "searched": state.query,
            "hits": [
                hit.model_copy(update={"prompt": place(found)})
                for hit, found in zip(response.hits, state.hits, strict=False)
            ],
            "filters": tuple(one.model_copy(update={"applied": one.applied and acting}) for one in response.filters),
            "context": PromptPreview(
                queries=tuple(SearchQuery(query=one.query, kind=one.kind, by=one.by) for one in seen.queries),
                report=state.report,
                abstention=state.abstention,
            ),
        }
    )


def _left_out(dropped: DroppedEvidence | None, *, weak: bool) -> PromptPlace:
    if dropped is not None:
        return PromptPlace(tokens=dropped.tokens, reason=dropped.reason)
    return PromptPlace(reason="weak_evidence" if weak else "not_looked_at")


def _response(
    request: SearchRequest, result: SearchResult, hits: tuple[Hit, ...], read: ReadQuestion
) -> SearchResponse:
    timings = result.timings
    return SearchResponse(
        query=request.query,
        searched=result.query,
        hits=[_search_hit(hit, explain=request.explain) for hit in hits],
        filters=tuple(
            ReadFilterInfo(name=one.name, kind=one.kind, words=one.words, applied=one.applied) for one in read.filters
        ),
        warnings=tuple(SearchNotice(code=one.code, detail=one.detail) for one in result.warnings),
        explanation=result.explanation if request.explain else None,
        timings_ms={
            "embed": timings.embed,
            "search": timings.search,
            "rerank": timings.rerank,
            "total": timings.total,
        },
    )


def _search_hit(hit: Hit, *, explain: bool) -> SearchHit:
    found = found_passage(hit).model_dump()
    scores = SearchScores(**{name: found.pop(name) for name in SearchScores.model_fields})
    return SearchHit(
        **{name: value for name, value in found.items() if name in SearchHit.model_fields},
        scores=scores,
        matched_terms=list(hit.matched_terms),
        explanation=hit.explanation if explain else None,
    )
