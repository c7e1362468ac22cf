"""Last node: the answer or the abstention as one value."""

from __future__ import annotations

from time import perf_counter

from langgraph.runtime import Runtime

from agents.abstention import abstention_text, missing_words
from agents.answer import Answer, AnswerTimings
from agents.drafts import AnswerDraft
from agents.draught import can_go_on
from agents.state import AnswerState, Context


async def finish(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """Say the whole result."""
    runtime.stream_writer(AnswerDraft(answer_of(state, runtime.context)))
    return {}


def answer_of(state: AnswerState, context: Context) -> Answer:
    """The whole result; an abstention cites nothing."""
    request, proved = state.request, state.proved
    if state.abstention is not None:
        status = "abstained"
        missing = missing_words(request.question, state.evidence)
        text = abstention_text(state.abstention, request.question, missing)
    else:
        status, text = "answered", proved.text if proved else ""
    return Answer(
        status=status,
        answer=text,
        claims=proved.claims if proved and status == "answered" else (),
        citations=proved.citations if proved and status == "answered" else (),
        abstention=state.abstention,
        context=state.report,
        usage=state.spent.plus(state.draught.usage),
        timings_ms=AnswerTimings(
            rewrite=state.rewrite_ms,
            retrieve=state.retrieve_ms,
            queue=state.draught.queue_ms,
            ttft=state.draught.ttft_ms,
            total=(perf_counter() - context.started) * 1000,
        ),
        tokens_per_second=state.draught.tokens_per_second,
        dropped_markers=proved.dropped_markers if proved else 0,
        output=dict(state.output) if state.output is not None and status == "answered" else None,
        picture_claims=state.picture_claims if proved and status == "answered" else (),
        repairs=state.draught.repairs,
        truncated=status == "answered" and state.output is None and can_go_on(state.draught),
        model=state.draught.model or context.chat_model.name,
        run_id=request.run_id,
        thread_id=request.thread_id,
    )
