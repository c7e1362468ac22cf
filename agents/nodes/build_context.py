"""Second node: fill the context window, and withhold the answer when the evidence is too weak."""

from __future__ import annotations

import asyncio
from functools import partial

from langgraph.runtime import Runtime

from agents.abstention import before_generation, evidence_signals
from agents.answer import ContextReport
from agents.attached import with_attached
from agents.carrying import carry_on, still_holds
from agents.context import Draft, PackedContext, draft, pack
from agents.drafts import HitsDraft
from agents.markers import strip_markers
from agents.neighbours import beside, neighbours
from agents.prompting import fill_prompt, load_prompt, neutralise
from agents.proof.evidence import prepare
from agents.sampling import sampling_of
from agents.state import AnswerState, Context
from agents.structured import instruction
from agents.thresholds import load_thresholds

BESIDE_RESULTS = 2
"""Passages beside tool results: the results are what was looked for, and a CPU reads 60 tokens a second."""


async def build_context(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """Prompt, its passages and the report of what was left out; or an abstention."""
    request, context = state.request, runtime.context
    found = await asyncio.to_thread(prepare, [hit.chunk for hit in state.hits])
    fitted = load_thresholds(context.settings.abstention_file)
    signals = evidence_signals(request.question, state.top_cosine, found, lead=state.lead, doubt=state.doubt)
    abstention = before_generation(request, state.query, state.hits, signals, fitted)
    if abstention is not None and not (state.observed or state.attached or state.pictures):
        report = ContextReport(budget_tokens=context.chat_model.context_tokens)
        runtime.stream_writer(HitsDraft(state.query, state.hits, report))
        return {"abstention": abstention, "evidence": found, "report": report}
    near = (state.top_cosine or 0.0) >= fitted.thresholds.min_cosine if state.pictures else abstention is None
    found_hits = state.hits if near else ()
    if state.observed:
        found_hits = found_hits[:BESIDE_RESULTS]
    elif context.store and context.settings.neighbours:
        best = context.settings.neighbours
        read = partial(neighbours, found_hits, scope=request.search_filter, chunks=context.store.chunks, best=best)
        found_hits = beside(found_hits, await asyncio.to_thread(read), after=best)
    passages = (*state.attached, *state.observed, *found_hits)
    asked, pictures = state.pictures.behind(request.question), state.pictures
    told = _told(state, may_refuse=context.settings.may_refuse or abstention is not None)
    candidates = draft(asked, request.history, passages, instruction=told, guidance=request.guidance)
    packed = await _carried_on(state, context, candidates) or await _of_its_own(state, context, candidates)
    report = pictures.counted(packed.report)
    runtime.stream_writer(HitsDraft(state.query, with_attached(state.attached, state.hits), report))
    return {
        "passages": packed.passages,
        "messages": pictures.beside(packed.messages),
        "prompt": packed.prompt,
        "report": report,
    }


async def _carried_on(state: AnswerState, context: Context, candidates: Draft) -> PackedContext | None:
    """The prompt behind that of the turn before, where there is one and it is still true."""
    request, earlier = state.request, state.request.earlier
    if earlier is None or state.observed or state.pictures.images:
        return None
    chunks = context.store.chunks if context.store else None
    known = (*state.hits, *state.attached)
    if not await still_holds(earlier, known, scope=request.search_filter, chunks=chunks):
        return None
    limit = sampling_of(request, context.settings).max_tokens
    return await carry_on(candidates, earlier, model=context.chat_model, settings=context.settings, max_tokens=limit)


async def _of_its_own(state: AnswerState, context: Context, candidates: Draft) -> PackedContext:
    """The prompt with all passages behind the question, and earlier turns in words alone."""
    return pack(
        candidates,
        await context.chat_model.count_tokens(candidates.texts()),
        settings=context.settings,
        context_tokens=context.chat_model.context_tokens - state.pictures.tokens,
        max_tokens=sampling_of(state.request, context.settings).max_tokens,
    )


def _told(state: AnswerState, *, may_refuse: bool) -> str:
    """What stands behind the question; numbers of an earlier part of the answer point to passages of its own prompt."""
    request = state.request
    if request.output_schema is not None:
        return instruction(request.output_schema)
    if request.so_far:
        return fill_prompt("continue", so_far=neutralise(strip_markers(request.so_far)[0]))
    return "\n\n".join(part for part in (state.instruction, load_prompt("refusal") if may_refuse else "") if part)
