"""First node: the passages for what was asked, where the agent works with documents."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

from langgraph.runtime import Runtime

from agents.abstention import best_cosine
from agents.acting.context import ActingContext
from agents.acting.records import ActingState, Frame, dump_hits, load_request
from agents.answer import ContextReport
from agents.drafts import HitsDraft, QueryDraft
from agents.history import standalone_query
from agents.nodes.retrieve import HITS_PER_PASSAGE, LOOKED_AT, MIN_HITS

EARLIER_TURNS = "earlier turns of this chat"


async def open_run(state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """First frame, passages, and where untrusted text came from."""
    request = load_request(state["request"])
    context = runtime.context
    spec = context.agent(request.agent)
    frame = Frame(agent=request.agent, task=request.question, turns=[], variables={})
    opened: dict[str, Any] = {
        "frames": [frame],
        "turn": None,
        "step": 0,
        "observed": [],
        "query": request.question,
        "hits": [],
        "top_cosine": None,
        "timings": {},
        "usage": {},
        "taint": EARLIER_TURNS if request.history else "",
        "reply": None,
        "instruction": "",
        "ended": False,
        "answer": None,
    }
    if not spec.documents:
        return opened
    started = perf_counter()
    query = standalone_query(request.question, request.history)
    if query != request.question:
        runtime.stream_writer(QueryDraft(query))
    kept = max(MIN_HITS, HITS_PER_PASSAGE * context.parts.answer.evidence_passages)
    result = await asyncio.to_thread(
        context.parts.retriever.search, query, search_filter=request.search_filter, limit=max(LOOKED_AT, kept)
    )
    hits = result.hits[:kept]
    runtime.stream_writer(HitsDraft(query, hits, ContextReport(budget_tokens=context.parts.chat_model.context_tokens)))
    return {
        **opened,
        "query": query,
        "hits": dump_hits(hits),
        "top_cosine": best_cosine(result.hits),
        "timings": {"retrieve": (perf_counter() - started) * 1000},
        "taint": opened["taint"] or (f"document {hits[0].chunk.source}" if hits else ""),
    }
