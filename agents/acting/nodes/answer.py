"""Last node: the answer, written or taken over from the model, proved against passages and tool results, reviewed.

It has no effect outside of the run, so a run that is killed here simply answers again.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from langgraph.runtime import Runtime

from agents.acting.context import ActingContext
from agents.acting.records import ActingState, load_hits, load_reply, load_request
from agents.acting.review import review
from agents.answer import ContextReport, Usage
from agents.attached import beside_attached
from agents.context import draft
from agents.drafts import AnswerDraft
from agents.draught import Draught
from agents.nodes.build_context import build_context
from agents.nodes.check_claims import check_claims
from agents.nodes.finish import answer_of
from agents.nodes.generate import generate
from agents.observed import observed_hits
from agents.pictures import prompt_pictures
from agents.proof.evidence import prepare
from agents.state import AnswerState, Context


async def answer(state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """Write, prove and say the answer."""
    context = runtime.context
    parts, request = context.parts, load_request(state["request"])
    calls = [await parts.ledger.get(call_id) for call_id in state["observed"]]
    current = AnswerState(
        request=request,
        query=state["query"],
        hits=load_hits(state["hits"]),
        observed=observed_hits(calls),
        attached=load_hits(state.get("attached", [])),
        top_cosine=state["top_cosine"],
        pictures=await prompt_pictures(request.pictures, request.earlier_pictures, parts.attachments.pictures),
        instruction=state["instruction"],
        spent=Usage.model_validate(state["usage"]),
        retrieve_ms=state["timings"].get("retrieve", 0.0),
    )
    inner = Runtime(
        context=Context(parts.retriever, parts.chat_model, parts.answer, context.started),
        stream_writer=runtime.stream_writer,
    )
    reply = state["reply"]
    if reply is not None:
        told = state.get("report")
        current = replace(current, report=ContextReport.model_validate(told)) if told else current
        current = await _taken_over(current, load_reply(reply), inner)
    else:
        current = await _written(current, inner)
    spec = context.agent(request.agent)
    if spec.reviewer and current.proved is not None:
        remark = await review(current, spec.reviewer, runtime)
        if remark:
            again = replace(current, instruction=f"{current.instruction}\n{remark}".strip(), abstention=None)
            current = await _written(again, inner)
    result = answer_of(current, inner.context)
    runtime.stream_writer(AnswerDraft(result))
    return {"answer": result.model_dump(mode="json")}


async def _written(state: AnswerState, inner: Runtime[Context]) -> AnswerState:
    state = replace(state, **await build_context(state, inner))
    if state.abstention is not None:
        return state
    state = replace(state, **await generate(state, inner))
    return replace(state, **await check_claims(state, inner))


async def _taken_over(state: AnswerState, reply: Draught, inner: Runtime[Context]) -> AnswerState:
    """The model's own closing words, held against the passages it was shown and the results it got."""
    found = draft(state.request.question, (), state.hits).hits
    shown = beside_attached(state.attached, found, limit=inner.context.settings.evidence_passages)
    passages = (*shown, *state.observed)
    evidence = await asyncio.to_thread(prepare, [hit.chunk for hit in passages])
    state = replace(state, draught=reply, passages=passages, evidence=evidence)
    return replace(state, **await check_claims(state, inner))
