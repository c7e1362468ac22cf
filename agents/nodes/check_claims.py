"""Fourth node: every claim against the passages of the prompt."""

from __future__ import annotations

import asyncio

from langgraph.runtime import Runtime

from agents.abstention import after_proof
from agents.citations import prove
from agents.drafts import ClaimsDraft
from agents.draught import presentable
from agents.proof_replay import record_proof
from agents.state import AnswerState, Context


async def check_claims(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """The proved answer; an abstention as well when nothing in it is carried by a passage."""
    request, draught = state.request, state.draught
    record = record_proof(
        presentable(draught),
        state.evidence,
        question=request.question,
        markers=draught.markers,
        remove_unsupported=runtime.context.settings.unsupported == "remove",
    )
    proved = await asyncio.to_thread(
        prove,
        record.draft,
        state.evidence,
        question=record.question,
        markers=draught.markers,
        remove_unsupported=record.removed_unsupported,
    )
    runtime.stream_writer(ClaimsDraft(proved.claims, proved.citations, proved.dropped_markers, record))
    abstention = after_proof(draught.text, proved, state.query, state.hits, request)
    return {"proved": proved, "abstention": abstention}
