"""Second node: the active agent's model chooses: calls, work for a member, or the end."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple
from uuid import uuid4

from langgraph.runtime import Runtime

from agents.acting.choices import ANSWER, HAND_TO, REPORT, ending_tools, hand_over_tools, offered_tools
from agents.acting.config import AgentSpec, system_prompt
from agents.acting.context import ActingContext
from agents.acting.nodes.plan import plan_step
from agents.acting.prompting import CHARACTERS_PER_TOKEN, TurnLimits, TurnParts, turn_prompt
from agents.acting.records import ActingState, CallRecord, Frame, TurnRecord, dump_reply, load_hits, load_request
from agents.acting.repetition import is_repetition
from agents.acting.turn import Reply, read_reply
from agents.answer import ContextReport
from agents.attached import beside_attached
from agents.chat_model import ToolOffer, ToolRequest
from agents.context import draft
from agents.drafts import StepDraft, TokenDraft
from agents.pictures import NO_PICTURES, PromptPictures, prompt_pictures
from agents.request import AnswerRequest
from agents.sampling import sampling_of
from tools.arguments import parse_arguments
from tools.errors import ToolError

LEAKED = (
    "What you wrote looks like a tool call, but it was text and nothing ran. Call the tool itself, or answer in plain "
    "sentences."
)
ALONE = "Hand work over alone, without other calls in the same turn."


class _Asked(NamedTuple):
    reply: Reply
    report: ContextReport
    facts: str


async def decide(state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """The next turn, a hand-over, or the end of the active agent's work."""
    context, frames = runtime.context, state["frames"]
    frame = frames[-1]
    spec = context.agent(frame["agent"])
    if spec.workflow:
        return await plan_step(state, runtime)
    step = state["step"] + 1
    runtime.stream_writer(StepDraft(step, frame["agent"], frame["task"] if len(frames) > 1 else ""))
    if _spent(frame, spec) or perf_counter() - context.started > context.parts.settings.max_seconds:
        return {**_ended(state, _digest(frame)), "step": step}
    reply, report, facts = await _ask(state, runtime, spec, step)
    told = {"usage": _added(state["usage"], reply), "report": report.model_dump(mode="json"), "facts": facts}
    return {**_next(state, reply, step, spec, context), "step": step, **told}


def _next(state: ActingState, reply: Reply, step: int, spec: AgentSpec, context: ActingContext) -> dict[str, Any]:
    frame = state["frames"][-1]
    if reply.leaked and not _remarked(frame):
        return _with_remark(state, step, reply)
    names = [request.name for request in reply.requests]
    if not names:
        # A member's words are for its supervisor; text that looks like a call is no answer either.
        own_answer = len(state["frames"]) == 1 and not reply.leaked
        taken_over = {"reply": dump_reply(reply.draught)} if own_answer else {}
        return {**_ended(state, "" if reply.leaked else reply.draught.text), **taken_over}
    if ANSWER in names or REPORT in names:
        others = [request for request in reply.requests if request.name not in (ANSWER, REPORT)]
        if not others:
            return _ended(state, _argument(reply.requests[0], "findings"))
        return {"turn": _turn(state, step, reply.draught.text, others)}
    if context.mode(spec) == "constrained" and all(is_repetition(frame, request) for request in reply.requests):
        # A model that must choose and has nothing new to ask for is done, though it does not say so.
        return _ended(state, _digest(frame))
    handed = [request for request in reply.requests if request.name.startswith(HAND_TO)]
    if not handed or not spec.members:
        return {"turn": _turn(state, step, reply.draught.text, reply.requests)}
    if len(reply.requests) > 1:
        return {"turn": _turn(state, step, reply.draught.text, reply.requests, error_for=HAND_TO)}
    return _hand_over(state, step, reply, handed[0], context)


async def _ask(state: ActingState, runtime: Runtime[ActingContext], spec: AgentSpec, step: int) -> _Asked:
    context, frame = runtime.context, state["frames"][-1]
    parts, request = context.parts, load_request(state["request"])
    constrained = context.mode(spec) == "constrained"
    is_member = len(state["frames"]) > 1
    tools = [
        *offered_tools(
            spec,
            await parts.tools.registry(),
            cut_results=_cut(frame, parts.settings.result_tokens),
            guidance=request.guidance,
        ),
        *hand_over_tools(spec, parts.catalog),
        *(ending_tools(is_member=is_member) if constrained else ()),
    ]
    # One text for the whole run: a fact that is remembered meanwhile would change the prompt from its beginning.
    facts = state["facts"] if "facts" in state else await parts.facts(request.user)
    found = () if constrained else draft(request.question, (), load_hits(state["hits"])).hits
    attached = load_hits(state.get("attached", []))
    told = TurnParts(
        system=system_prompt(spec) if is_member else request.guidance.behind(system_prompt(spec)),
        facts=facts,
        history=() if is_member else request.history,
        passages=beside_attached(attached, found, limit=parts.answer.evidence_passages),
        tools=tools,
        examples=() if is_member else request.guidance.turns(),
        pictures=NO_PICTURES if is_member else await _pictures(request, context),
    )
    settings = parts.settings
    limits = TurnLimits(settings.max_tokens_per_turn, settings.result_tokens, parts.answer.history_tokens)
    prompt = await turn_prompt(frame, told, model=parts.chat_model, limits=limits)
    sampling = sampling_of(request, parts.answer)
    limited = replace(sampling, max_tokens=parts.settings.max_tokens_per_turn)
    offer = ToolOffer(tuple(tools), "required" if constrained else "auto") if tools else None
    reply = await read_reply(
        parts.chat_model,
        prompt.messages,
        limited,
        tools=offer,
        started=context.started,
        on_text=lambda text: runtime.stream_writer(TokenDraft(text, step)),
    )
    return _Asked(reply, prompt.report, facts)


async def _pictures(request: AnswerRequest, context: ActingContext) -> PromptPictures:
    return await prompt_pictures(request.pictures, request.earlier_pictures, context.parts.attachments.pictures)


def _ended(state: ActingState, text: str) -> dict[str, Any]:
    """The person's agent is done, or a member's words become the result of its supervisor's hand-over."""
    frames = state["frames"]
    if len(frames) == 1:
        return {"ended": True, "turn": None}
    parent = frames[-2]
    waiting = parent["turns"][-1]
    told = {**waiting, "results": [text.strip() or _digest(frames[-1])]}
    return {"frames": [*frames[:-2], {**parent, "turns": [*parent["turns"][:-1], told]}], "turn": None}


def _hand_over(
    state: ActingState, step: int, reply: Reply, request: ToolRequest, context: ActingContext
) -> dict[str, Any]:
    member = request.name.removeprefix(HAND_TO)
    task = _argument(request, "task")
    turn = _turn(state, step, reply.draught.text, [request])
    if context.parts.catalog.get(member) is None or not task:
        return {"turn": {**turn, "calls": [{**turn["calls"][0], "error": "Name a member and give it a task."}]}}
    frames = list(state["frames"])
    parent = frames[-1]
    frames[-1] = {**parent, "turns": [*parent["turns"], turn]}
    frames.append(Frame(agent=member, task=task, turns=[], variables={}))
    return {"frames": frames, "turn": None}


def _turn(
    state: ActingState,
    step: int,
    text: str,
    requests: list[ToolRequest] | tuple[ToolRequest, ...],
    *,
    error_for: str = "",
) -> TurnRecord:
    """The turn with ids of our own: a model's ids repeat, and this turn is written once, by its checkpoint."""
    run_id = load_request(state["request"]).run_id
    calls: list[CallRecord] = []
    for index, request in enumerate(requests):
        error = ALONE if error_for and request.name.startswith(error_for) else ""
        call_id = f"{run_id}-{step}-{index}-{uuid4().hex[:8]}"
        calls.append(
            CallRecord(
                call_id=call_id,
                request_id=f"call_{step}_{index}",
                name=request.name,
                arguments=request.arguments,
                error=error,
            )
        )
    return TurnRecord(step=step, text=text, calls=calls, results=[])


def _with_remark(state: ActingState, step: int, reply: Reply) -> dict[str, Any]:
    frames = list(state["frames"])
    turn = TurnRecord(step=step, text=reply.draught.text, calls=[], results=[LEAKED])
    frames[-1] = {**frames[-1], "turns": [*frames[-1]["turns"], turn]}
    return {"frames": frames, "turn": None}


def _remarked(frame: Frame) -> bool:
    return any(LEAKED in turn["results"] for turn in frame["turns"])


def _spent(frame: Frame, spec: AgentSpec) -> bool:
    return len(frame["turns"]) >= spec.max_steps


def _cut(frame: Frame, result_tokens: int) -> bool:
    """Whether a result so far is longer than what the prompt shows of it."""
    longest = max((len(result) for turn in frame["turns"] for result in turn["results"]), default=0)
    return longest > result_tokens * CHARACTERS_PER_TOKEN


def _digest(frame: Frame) -> str:
    """Results of a member that ended without words of its own."""
    return "\n".join(result for turn in frame["turns"] for result in turn["results"])


def _argument(request: ToolRequest, name: str) -> str:
    try:
        return str(parse_arguments(request.arguments).get(name, "")).strip()
    except ToolError:
        return ""


def _added(usage: dict[str, int], reply: Reply) -> dict[str, int]:
    said = reply.draught.usage
    return {
        "prompt_tokens": usage.get("prompt_tokens", 0) + said.prompt_tokens,
        "completion_tokens": usage.get("completion_tokens", 0) + said.completion_tokens,
        "cached_tokens": usage.get("cached_tokens", 0) + said.cached_tokens,
    }
