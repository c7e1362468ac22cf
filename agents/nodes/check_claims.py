"""Fourth node: every claim against the passages of the prompt, then a second judge where the settings name one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from langgraph.runtime import Runtime

from agents.abstention import Standard, after_proof, is_refusal
from agents.answer import Opinion
from agents.chat_model import ChatModel
from agents.citations import ProvedAnswer, prove
from agents.drafts import ClaimsDraft
from agents.draught import presentable
from agents.errors import JudgeFailed
from agents.judges.chat import ChatJudge
from agents.judges.nli import nli_judge
from agents.judges.protocol import ClaimJudge, Statement
from agents.markers import Marker
from agents.proof.evidence import Evidence, prepare
from agents.proof_replay import record_proof
from agents.quoting import quoted_answer
from agents.settings import AnswerSettings
from agents.state import AnswerState, Context

logger = logging.getLogger(__name__)


async def check_claims(state: AnswerState, runtime: Runtime[Context]) -> dict[str, object]:
    """The proved answer; an abstention as well when the settings or the lack of any support call for one."""
    request, draught, settings = state.request, state.draught, runtime.context.settings
    # What stands in a picture alone is marked and not taken out: the person asked about it.
    remove = settings.unsupported == "remove" and not state.pictures
    # Here and not before the model writes: the first word does not wait for it.
    evidence = await asyncio.to_thread(prepare, [hit.chunk for hit in state.passages])
    proof = _Proof(presentable(draught), draught.markers, evidence, request.question, remove)
    proved = await asyncio.to_thread(proof.prove)
    written = draught.text
    quotable = settings.quote_unproved and state.output is None and not state.pictures
    if quotable and not proved.supported and not is_refusal(written):
        quoted = await asyncio.to_thread(quoted_answer, request.question, evidence)
        if quoted:
            written, proof = quoted, replace(proof, text=quoted, markers=())
            proved = await asyncio.to_thread(proof.prove)
    opinions = await _opinions(proved, settings, runtime.context.chat_model)
    if any(opinions):
        proof = replace(proof, opinions=opinions)
        proved = await asyncio.to_thread(proof.prove)
    record = record_proof(
        proof.text,
        evidence,
        question=request.question,
        markers=proof.markers,
        remove_unsupported=remove,
        opinions=opinions,
    )
    prompt = state.prompt.model_copy(update={"written": draught.text}) if state.prompt else None
    runtime.stream_writer(ClaimsDraft(proved.claims, proved.citations, proved.dropped_markers, record, prompt))
    from_pictures = await asyncio.to_thread(state.pictures.claims_in, proved.claims)
    standard = Standard(settings.unsupported == "abstain", bool(state.pictures.images), from_pictures)
    abstention = after_proof(written, proved, state.query, state.hits, request, standard)
    return {"evidence": evidence, "proved": proved, "picture_claims": from_pictures, "abstention": abstention}


@dataclass(frozen=True, slots=True)
class _Proof:
    text: str
    markers: tuple[Marker, ...]
    evidence: Evidence
    question: str
    remove: bool
    opinions: Sequence[Opinion | None] = ()

    def prove(self) -> ProvedAnswer:
        return prove(
            self.text,
            self.evidence,
            question=self.question,
            markers=self.markers,
            remove_unsupported=self.remove,
            opinions=self.opinions,
        )


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
