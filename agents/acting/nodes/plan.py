"""The second node's other half: the next step of a workflow, without a choice of the model's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from string import Formatter
from typing import Any, assert_never
from uuid import uuid4

from langgraph.runtime import Runtime
from pydantic import JsonValue

from agents.acting.choices import REVIEW_TOOL
from agents.acting.config import system_prompt
from agents.acting.context import ActingContext
from agents.acting.records import (
    ActingState,
    CallRecord,
    Frame,
    TurnRecord,
    dump_hits,
    dump_reply,
    load_hits,
    load_request,
)
from agents.acting.turn import read_reply
from agents.acting.workflow import ClassifyStep, DraftStep, RetrieveStep, ReviewStep, SendStep, WorkflowStep
from agents.answer import ContextReport
from agents.attached import beside_attached, with_attached
from agents.chat_model import ChatMessage, Sampling, ToolDefinition, ToolOffer
from agents.context import draft
from agents.drafts import HitsDraft, StepDraft, TokenDraft
from agents.draught import Draught
from agents.observed import observed_hits
from agents.prompting import neutralise, render_passage

CLASSIFY_TOKENS = 64


async def plan_step(state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    """Carry out the next step that applies; the end when none is left or a person rejected a text."""
    frame, step_number = state["frames"][-1], state["step"] + 1
    spec = runtime.context.agent(frame["agent"])
    frame = await _with_result(frame, runtime)
    variables = {"question": frame["task"], **frame["variables"]}
    waiting = [step for step in spec.workflow if step.name not in variables]
    for step in waiting:
        if any(variables.get(name) != value for name, value in step.when.items()):
            variables[step.name] = ""
            continue
        runtime.stream_writer(StepDraft(step_number, frame["agent"], f"{step.kind} {step.name}"))
        changes = await _carry_out(step, variables, state, runtime, step_number)
        frame = {**frame, "variables": variables}
        return {**changes, "frames": [*state["frames"][:-1], frame], "step": step_number}
    ended: Frame = {**frame, "variables": variables}
    return {"frames": [*state["frames"][:-1], ended], "turn": None, "ended": True, **_closing(ended, spec.workflow)}


async def _with_result(frame: Frame, runtime: Runtime[ActingContext]) -> Frame:
    """The result of the call that the step before asked for, under the step's name; a rejected review ends it all."""
    if not frame["turns"] or frame["turns"][-1]["text"] in frame["variables"]:
        return frame
    last = frame["turns"][-1]
    record = last["calls"][0]
    variables = {**frame["variables"], last["text"]: last["results"][0]}
    rejected = not record["error"] and (await runtime.context.parts.ledger.get(record["call_id"])).state != "done"
    if (rejected or record["error"]) and record["name"] == REVIEW_TOOL:
        steps = runtime.context.agent(frame["agent"]).workflow
        variables |= {step.name: "" for step in steps if step.name not in variables}
    return {**frame, "variables": variables}


async def _carry_out(
    step: WorkflowStep,
    variables: dict[str, str],
    state: ActingState,
    runtime: Runtime[ActingContext],
    number: int,
) -> dict[str, Any]:
    match step:
        case ClassifyStep():
            variables[step.name] = await _classify(step, variables["question"], runtime)
            return {"turn": None}
        case RetrieveStep():
            variables[step.name] = _fill(step.query, variables)
            return {"turn": None, **await _retrieve(variables[step.name], state, runtime)}
        case DraftStep():
            variables[step.name] = await _draft(_fill(step.instruction, variables), state, runtime, number)
            return {"turn": None}
        case ReviewStep():
            arguments: Mapping[str, JsonValue] = {"text": _fill(step.text, variables)}
            return {"turn": _turn(step.name, REVIEW_TOOL, arguments, state, number)}
        case SendStep():
            return {"turn": _turn(step.name, step.tool, _filled(step.arguments, variables), state, number)}
        case _:
            assert_never(step)


async def _classify(step: ClassifyStep, question: str, runtime: Runtime[ActingContext]) -> str:
    """One of the labels; the first one when the model says nothing that can be used."""
    labels: list[JsonValue] = list(step.labels)
    choose = ToolDefinition(
        "choose",
        "Choose the label.",
        {
            "type": "object",
            "properties": {"label": {"type": "string", "enum": labels}},
            "required": ["label"],
            "additionalProperties": False,
        },
    )
    asked = f"{neutralise(question)}\n\n{step.instruction} Labels: {', '.join(step.labels)}."
    reply = await read_reply(
        runtime.context.parts.chat_model,
        [ChatMessage("user", asked)],
        Sampling(max_tokens=CLASSIFY_TOKENS),
        tools=ToolOffer((choose,), "required"),
        started=runtime.context.started,
        on_text=lambda _text: None,
    )
    written = reply.requests[0].arguments if reply.requests else reply.draught.text
    return next((label for label in step.labels if label in written), step.labels[0])


async def _retrieve(query: str, state: ActingState, runtime: Runtime[ActingContext]) -> dict[str, Any]:
    parts, request = runtime.context.parts, load_request(state["request"])
    result = await asyncio.to_thread(parts.retriever.search, query, search_filter=request.search_filter)
    known = load_hits(state["hits"])
    ids = {hit.chunk.chunk_id for hit in result.hits}
    hits = (*result.hits, *(hit for hit in known if hit.chunk.chunk_id not in ids))
    report = ContextReport(budget_tokens=parts.chat_model.context_tokens)
    shown = with_attached(load_hits(state.get("attached", [])), hits)
    runtime.stream_writer(HitsDraft(query, shown, report))
    taint = state["taint"] or (f"document {hits[0].chunk.source}" if hits else "")
    return {"hits": dump_hits(hits), "taint": taint}


async def _draft(instruction: str, state: ActingState, runtime: Runtime[ActingContext], number: int) -> str:
    context, frame = runtime.context, state["frames"][-1]
    spec, guidance = context.agent(frame["agent"]), load_request(state["request"]).guidance
    calls = [await context.parts.ledger.get(call_id) for call_id in state["observed"]]
    found = beside_attached(
        load_hits(state.get("attached", [])),
        draft(frame["task"], (), load_hits(state["hits"])).hits,
        limit=context.parts.answer.evidence_passages,
    )
    passages = [
        render_passage(place, title=hit.chunk.title, section=hit.chunk.section, text=hit.chunk.text)
        for place, hit in enumerate((*found, *observed_hits(calls)), start=1)
    ]
    asked = "\n\n".join([*passages, f"Request: {neutralise(frame['task'])}", instruction])
    reply = await read_reply(
        context.parts.chat_model,
        [ChatMessage("system", guidance.behind(system_prompt(spec))), ChatMessage("user", asked)],
        Sampling(temperature=context.parts.answer.temperature, max_tokens=context.parts.settings.max_tokens_per_turn),
        tools=None,
        started=context.started,
        on_text=lambda text: runtime.stream_writer(TokenDraft(text, number)),
    )
    return reply.draught.text.strip()


def _turn(step: str, tool: str, arguments: Mapping[str, JsonValue], state: ActingState, number: int) -> TurnRecord:
    run_id = load_request(state["request"]).run_id
    call = CallRecord(
        call_id=f"{run_id}-{number}-0-{uuid4().hex[:8]}",
        request_id=f"call_{number}_0",
        name=tool,
        arguments=json.dumps(dict(arguments), ensure_ascii=False),
        error="",
    )
    return TurnRecord(step=number, text=step, calls=[call], results=[])


def _closing(frame: Frame, steps: tuple[WorkflowStep, ...]) -> dict[str, Any]:
    """The last text that was reviewed or drafted, and what sending it brought, as the answer."""
    variables = frame["variables"]
    texts = [
        variables[step.name] for step in steps if isinstance(step, DraftStep | ReviewStep) and variables[step.name]
    ]
    sent = [variables[step.name] for step in steps if isinstance(step, SendStep) and variables[step.name]]
    words = "\n\n".join([*texts[-1:], *sent])
    return {"reply": dump_reply(Draught(text=words))} if words else {}


def _fill(template: str, variables: Mapping[str, str]) -> str:
    """The template with ``{name}`` filled; an unknown name stays as it is, results are never templates themselves."""
    parts: list[str] = []
    for literal, name, _, _ in Formatter().parse(template):
        parts.append(literal)
        if name is not None:
            parts.append(variables.get(name, "{" + name + "}"))
    return "".join(parts)


def _filled(value: JsonValue | Mapping[str, JsonValue], variables: Mapping[str, str]) -> Any:
    """A JSON value with the templates in its texts filled."""
    match value:
        case str():
            return _fill(value, variables)
        case list():
            return [_filled(item, variables) for item in value]
        case Mapping():
            return {key: _filled(item, variables) for key, item in value.items()}
        case _:
            return value
