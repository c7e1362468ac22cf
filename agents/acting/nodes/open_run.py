"""First node: passages of attached texts, and those for what was asked where the agent works with documents."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

from langgraph.runtime import Runtime

from agents.abstention import best_cosine
from agents.acting.context import ActingContext
from agents.acting.records import ActingState, Frame, dump_hits, load_request
from agents.answer import ContextReport
from agents.attached import ACTING_SHARE, attached_hits, attachment_names, room_for_attached, with_attached
from agents.drafts import HitsDraft, PicturesDraft, QueryDraft, WarningDraft
from agents.evidence_search import HITS_PER_PASSAGE, LOOKED_AT, MIN_HITS
from agents.history import standalone_query
from agents.pictures import prompt_pictures
from agents.request import AnswerRequest
from retrieval.types import Hit

EARLIER_TURNS = "earlier turns of this chat"


async def open_run(state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """First frame, passages, and where untrusted text came from."""
    request = load_request(state["request"])
    context = runtime.context
    spec = context.agent(request.agent)
    pictures = await prompt_pictures(request.pictures, request.earlier_pictures, context.parts.attachments.pictures)
    if pictures:
        runtime.stream_writer(PicturesDraft(pictures.given))
    frame = Frame(agent=request.agent, task=pictures.behind(request.question), turns=[], variables={})
    attached = await _attached(request, context, beside=spec.documents)
    opened: dict[str, Any] = {
        "frames": [frame],
        "turn": None,
        "step": 0,
        "observed": [],
        "query": request.question,
        "hits": [],
        "attached": dump_hits(attached),
        "top_cosine": None,
        "timings": {},
        "usage": {},
        "taint": _taint(request, attached),
        "reply": None,
        "instruction": "",
        "ended": False,
        "answer": None,
    }
    report = ContextReport(budget_tokens=context.parts.chat_model.context_tokens)
    if not spec.documents:
        if attached:
            runtime.stream_writer(HitsDraft(request.question, attached, report))
        return opened
    started = perf_counter()
    query = standalone_query(request.question, request.history)
    if query != request.question:
        runtime.stream_writer(QueryDraft(query))
    if pictures.query:
        query = f"{query} {pictures.query}"
        runtime.stream_writer(QueryDraft(query, kind="picture"))
    kept = max(MIN_HITS, HITS_PER_PASSAGE * context.parts.answer.evidence_passages)
    result = await asyncio.to_thread(
        context.parts.retriever.search, query, search_filter=request.search_filter, limit=max(LOOKED_AT, kept)
    )
    for warning in result.warnings:
        runtime.stream_writer(WarningDraft(warning.code, warning.detail))
    hits = result.hits[:kept]
    runtime.stream_writer(HitsDraft(query, with_attached(attached, hits), report))
    return {
        **opened,
        "query": query,
        "hits": dump_hits(hits),
        "top_cosine": best_cosine(result.hits),
        "timings": {"retrieve": (perf_counter() - started) * 1000},
        "taint": opened["taint"] or (f"document {hits[0].chunk.source}" if hits else ""),
    }


async def _attached(request: AnswerRequest, context: ActingContext, *, beside: bool) -> tuple[Hit, ...]:
    """Passages of the texts attached to the thread; tools and documents have room beside them."""
    parts = context.parts
    room = room_for_attached(
        evidence_tokens=parts.answer.evidence_tokens,
        evidence_passages=parts.answer.evidence_passages,
        window_tokens=parts.chat_model.context_tokens - parts.settings.max_tokens_per_turn,
        share=ACTING_SHARE,
        beside=beside,
    )
    texts = await parts.attachments.texts(request.attachments)
    query = standalone_query(request.question, request.history)
    return await attached_hits(texts, query, model=parts.chat_model, room=room)


def _taint(request: AnswerRequest, attached: tuple[Hit, ...]) -> str:
    """Where text from outside came from before anything was searched or called; empty without any."""
    if attached:
        return f"attached text {attachment_names(attached)}"
    if given := (*request.pictures, *request.earlier_pictures):
        return f"picture {given[0].name}"
    if request.prompt:
        return f"prompt {request.prompt}"
    if not request.guidance.speaks_for(request.user):
        return f"preset {request.guidance.preset} of {request.guidance.saved_by}"
    return EARLIER_TURNS if request.history else ""
