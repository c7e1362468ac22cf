"""A reviewing agent: judges an answer against its evidence, and asks for one revision at most."""

from __future__ import annotations

from langgraph.runtime import Runtime

from agents.acting.config import AgentSpec
from agents.acting.context import ActingContext
from agents.acting.turn import read_reply
from agents.chat_model import ChatMessage, Sampling, ToolDefinition, ToolOffer
from agents.drafts import ReviewDraft
from agents.prompting import load_prompt, neutralise, render_passage
from agents.state import AnswerState
from tools.arguments import parse_arguments
from tools.errors import ToolError

_APPROVE = ToolDefinition(
    "approve", "The answer is right and complete.", {"type": "object", "properties": {}, "additionalProperties": False}
)
_REVISE = ToolDefinition(
    "revise",
    "The answer must change before it is sent.",
    {
        "type": "object",
        "properties": {"instruction": {"type": "string", "description": "One sentence: what must change."}},
        "required": ["instruction"],
        "additionalProperties": False,
    },
)
MAX_TOKENS = 160


async def review(state: AnswerState, reviewer: str, runtime: Runtime[ActingContext]) -> str:
    """What must change; empty when the reviewer approves, or says nothing that can be used."""
    context = runtime.context
    spec: AgentSpec = context.agent(reviewer)
    verdicts = [
        f"- {claim.verdict}: {claim.text} ({claim.explanation})"
        for claim in (state.proved.claims if state.proved else ())
    ]
    shown = [
        render_passage(number, title=hit.chunk.title, section=hit.chunk.section, text=hit.chunk.text)
        for number, hit in enumerate(state.passages, start=1)
    ]
    answer = state.proved.text if state.proved else state.draught.text
    asked = "\n\n".join(
        [
            *shown,
            f"Question: {neutralise(state.request.question)}",
            f"Answer: {neutralise(answer)}",
            "Checked by code:\n" + "\n".join(verdicts),
        ]
    )
    reply = await read_reply(
        context.parts.chat_model,
        [ChatMessage("system", spec.prompt.strip() or load_prompt("reviewer")), ChatMessage("user", asked)],
        Sampling(max_tokens=MAX_TOKENS),
        tools=ToolOffer((_APPROVE, _REVISE), "required"),
        started=context.started,
        on_text=lambda _text: None,
    )
    revised = [request.arguments for request in reply.requests if request.name == _REVISE.name]
    remark = _instruction(revised[0]) if revised else ""
    runtime.stream_writer(ReviewDraft(reviewer, approved=not remark, remark=remark))
    return remark


def _instruction(arguments: str) -> str:
    try:
        return str(parse_arguments(arguments).get("instruction", "")).strip()
    except ToolError:
        return ""
