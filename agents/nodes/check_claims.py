"""Fourth node: every claim against the passages of the prompt, then a second judge where the settings name one."""

from __future__ import annotations

import asyncio
import logging
from functools import partial

from langgraph.runtime import Runtime

from agents.abstention import after_proof
from agents.answer import Opinion
from agents.chat_model import ChatModel
from agents.citations import ProvedAnswer, prove
from agents.drafts import ClaimsDraft
from agents.draught import presentable
from agents.errors import JudgeFailed
from agents.judges.chat import ChatJudge
from agents.judges.nli import nli_judge
from agents.judges.protocol import ClaimJudge, Statement
from agents.proof_replay import record_proof
from agents.settings import AnswerSettings
from agents.state import AnswerState, Context

logger = logging.getLogger(__name__)


async def check_claims(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """The proved answer; an abstention as well when the settings or the lack of any support call for one."""
    request, draught, settings = state.request, state.draught, runtime.context.settings
    proof = partial(
        prove,
        presentable(draught),
        state.evidence,
        question=request.question,
        markers=draught.markers,
        remove_unsupported=settings.unsupported == "remove",
    )
    proved = await asyncio.to_thread(proof)
    opinions = await _opinions(proved, settings, runtime.context.chat_model)
    if any(opinions):
        proved = await asyncio.to_thread(partial(proof, opinions=opinions))
    record = record_proof(
        presentable(draught),
        state.evidence,
        question=request.question,
        markers=draught.markers,
        remove_unsupported=settings.unsupported == "remove",
        opinions=opinions,
    )
    runtime.stream_writer(ClaimsDraft(proved.claims, proved.citations, proved.dropped_markers, record))
    strict = settings.unsupported == "abstain"
    abstention = after_proof(draught.text, proved, state.query, state.hits, request, strict=strict)
    return {"proved": proved, "abstention": abstention}


async def _opinions(proved: ProvedAnswer, settings: AnswerSettings, model: ChatModel) -> list[Opinion | None]:
    """One a claim; None for claims without a quote, and none at all without a judge or when it fails."""
    if settings.judge == "none":
        return []
    judge: ClaimJudge = (
        nli_judge(settings.judge_model) if settings.judge == "nli" else ChatJudge(model, seconds=settings.judge_seconds)
    )
    quotes = {citation.number: citation.quote for citation in proved.citations}
    held = [number for number, claim in enumerate(proved.claims) if claim.citations]
    statements = [
        Statement(claim.text, "\n".join(quotes[cited] for cited in claim.citations))
        for claim in (proved.claims[number] for number in held)
    ]
    opinions: list[Opinion | None] = [None] * len(proved.claims)
    try:
        for number, opinion in zip(held, await judge.judge(statements), strict=True):
            opinions[number] = opinion
    except JudgeFailed as error:
        logger.warning("Claims have no second opinion", extra={"reason": str(error)})
        return []
    return opinions
