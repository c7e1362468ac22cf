"""First node: make the question self-contained, search, and look into what is attached to the thread."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

from langgraph.runtime import Runtime

from agents.attached import ANSWER_SHARE, attached_hits, room_for_attached
from agents.drafts import PicturesDraft
from agents.evidence_search import find_evidence
from agents.pictures import prompt_pictures
from agents.sampling import sampling_of
from agents.state import AnswerState, Context


async def retrieve(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """Query and hits; every query beside the question is told before it is searched."""
    request, context = state.request, runtime.context
    pictures = await prompt_pictures(request.pictures, request.earlier_pictures, context.attachments.pictures)
    if pictures:
        runtime.stream_writer(PicturesDraft(pictures.given))
    found = await find_evidence(request, context, runtime.stream_writer, beside=pictures.query)
    searched = perf_counter()
    room = room_for_attached(
        evidence_tokens=context.settings.evidence_tokens,
        evidence_passages=context.settings.evidence_passages,
        window_tokens=context.chat_model.context_tokens - sampling_of(request, context.settings).max_tokens,
        share=ANSWER_SHARE,
        beside=bool(found.hits),
    )
    texts = await context.attachments.texts(request.attachments)
    return {
        "request": replace(request, search_filter=found.scope),
        "query": found.query,
        "hits": found.hits,
        "pictures": pictures,
        "attached": await attached_hits(texts, found.query, model=context.chat_model, room=room),
        "top_cosine": found.top_cosine,
        "lead": found.lead,
        "doubt": found.doubt,
        "spent": state.spent.plus(found.spent),
        "rewrite_ms": found.rewrite_ms,
        "retrieve_ms": found.retrieve_ms + (perf_counter() - searched) * 1000,
    }
