"""First node: make the question self-contained, search, and look into what is attached to the thread."""

from __future__ import annotations

import asyncio
from time import perf_counter

from langgraph.runtime import Runtime

from agents.abstention import best_cosine
from agents.attached import ANSWER_SHARE, attached_hits, room_for_attached
from agents.drafts import QueryDraft
from agents.history import standalone_query
from agents.sampling import sampling_of
from agents.state import AnswerState, Context

MIN_HITS = 10
"""Hits kept at least; what does not enter the prompt still speaks for or against an answer."""
HITS_PER_PASSAGE = 2
LOOKED_AT = 40
"""Hits asked for: the passage nearest in meaning may stand low in the fused order, and its cosine decides as well."""


async def retrieve(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """Query and hits; says when the query is not the question."""
    request, context = state.request, runtime.context
    started = perf_counter()
    query = standalone_query(request.question, request.history)
    rewritten = perf_counter()
    if query != request.question:
        runtime.stream_writer(QueryDraft(query))
    kept = max(MIN_HITS, HITS_PER_PASSAGE * context.settings.evidence_passages)
    result = await asyncio.to_thread(
        context.retriever.search,
        query,
        search_filter=request.search_filter,
        limit=max(LOOKED_AT, kept),
    )
    room = room_for_attached(
        evidence_tokens=context.settings.evidence_tokens,
        evidence_passages=context.settings.evidence_passages,
        window_tokens=context.chat_model.context_tokens - sampling_of(request, context.settings).max_tokens,
        share=ANSWER_SHARE,
        beside=bool(result.hits),
    )
    texts = await context.attached_texts(request.attachments)
    return {
        "query": query,
        "hits": result.hits[:kept],
        "attached": await attached_hits(texts, query, model=context.chat_model, room=room),
        "top_cosine": best_cosine(result.hits),
        "rewrite_ms": (rewritten - started) * 1000,
        "retrieve_ms": (perf_counter() - rewritten) * 1000,
    }
