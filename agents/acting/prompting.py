"""The prompt of one turn: system, remembered facts, passages, task, earlier turns with their results, in a budget."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agents.acting.records import Frame, TurnRecord
from agents.answer import BudgetUse, ContextReport
from agents.chat_model import ChatMessage, ChatModel, ToolDefinition, ToolRequest
from agents.context import MESSAGE_OVERHEAD_TOKENS
from agents.guidance import EXAMPLES_PART, fit_examples
from agents.history import SUMMARY_CHARACTERS, earlier_questions
from agents.markers import strip_markers
from agents.pictures import NO_PICTURES, PromptPictures
from agents.prompting import neutralise, render_passage
from retrieval.types import Hit
from tools.output import cap_output

CHARACTERS_PER_TOKEN = 3
"""Cautious for English and JSON; results are measured with the tokenizer before they are cut."""
SMALLEST_RESULT_CHARACTERS = 200
TOOL_OVERHEAD_TOKENS = 12
"""What a chat template writes around one tool definition."""


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """Messages and how they fill the window."""

    messages: tuple[ChatMessage, ...]
    report: ContextReport


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """Tokens: kept free for the reply, most of one result, most of earlier chat turns."""

    reserve: int
    result: int
    history: int


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What the model is told.

    Attributes:
        system: System prompt.
        facts: What is remembered of the person; empty without any.
        history: Earlier turns of the chat, oldest first.
        passages: Passages shown with the task; in constrained mode those of attached texts alone.
        tools: Tools offered.
        examples: Questions and answers of a preset, as earlier turns.
        pictures: Pictures beside the task, whose words stand in it already.
    """

    system: str
    facts: str
    history: Sequence[ChatMessage]
    passages: Sequence[Hit]
    tools: Sequence[ToolDefinition]
    examples: Sequence[ChatMessage] = ()
    pictures: PromptPictures = NO_PICTURES


async def turn_prompt(frame: Frame, parts: TurnParts, *, model: ChatModel, limits: TurnLimits) -> TurnPrompt:
    """Fill the window: task and the latest results first; older results shrink, then early history goes."""
    tools = parts.tools
    task = _task(frame["task"], parts.passages)
    definitions = [json.dumps([tool.name, tool.description, dict(tool.parameters)]) for tool in tools]
    earlier = [ChatMessage(message.role, neutralise(strip_markers(message.content)[0])) for message in parts.history]
    counts = await model.count_tokens(
        [parts.system, parts.facts, task, *definitions, *(message.content for message in (*parts.examples, *earlier))]
    )
    tool_tokens = sum(counts[3 : 3 + len(tools)]) + TOOL_OVERHEAD_TOKENS * len(tools)
    fixed = sum(counts[:3]) + tool_tokens + 2 * MESSAGE_OVERHEAD_TOKENS
    window = model.context_tokens - parts.pictures.tokens
    left = window - limits.reserve - fixed - SUMMARY_CHARACTERS // CHARACTERS_PER_TOKEN
    after = 3 + len(tools)
    examples = fit_examples(
        parts.examples, counts[after:], limit=max(0, left) // EXAMPLES_PART, overhead=MESSAGE_OVERHEAD_TOKENS
    )
    left -= examples.tokens
    limit = limits.result
    while True:
        turns = _turns(frame["turns"], limit * CHARACTERS_PER_TOKEN)
        used = sum(await model.count_tokens([_counted(message) for message in turns])) if turns else 0
        used += MESSAGE_OVERHEAD_TOKENS * len(turns)
        if used <= left or limit * CHARACTERS_PER_TOKEN <= SMALLEST_RESULT_CHARACTERS:
            break
        limit //= 2
    dropped = 0
    while used > left and len(frame["turns"]) > dropped + 1:
        dropped += 1
        turns = _turns(frame["turns"][dropped:], limit * CHARACTERS_PER_TOKEN)
        used = sum(await model.count_tokens([_counted(message) for message in turns]))
        used += MESSAGE_OVERHEAD_TOKENS * len(turns)
    kept, spent = _recent(earlier, counts[after + len(parts.examples) :], min(limits.history, max(0, left - used)))
    left_out = earlier[: len(earlier) - len(kept)]
    summary = earlier_questions(left_out, max_characters=SUMMARY_CHARACTERS)
    asked = f"{summary}\n\n{task}" if summary else task
    system = "\n\n".join(part for part in (parts.system, parts.facts) if part)
    messages = (
        ChatMessage("system", system),
        *examples.turns,
        *kept,
        ChatMessage("user", asked, images=parts.pictures.images),
        *turns,
    )
    report = ContextReport(
        budget_tokens=model.context_tokens,
        used=BudgetUse(
            system=counts[0] + MESSAGE_OVERHEAD_TOKENS + examples.tokens,
            memory=counts[1] if parts.facts else 0,
            history=spent,
            evidence=counts[2] + MESSAGE_OVERHEAD_TOKENS,
            pictures=parts.pictures.tokens,
            tools=tool_tokens + used,
            reserve=limits.reserve,
        ),
        dropped_turns=tuple(message.content for message in left_out if message.role == "user"),
        dropped_steps=dropped,
        dropped_examples=examples.dropped,
    )
    return TurnPrompt(messages, report)


def _task(task: str, passages: Sequence[Hit]) -> str:
    if not passages:
        return neutralise(task)
    shown = [
        render_passage(number, title=hit.chunk.title, section=hit.chunk.section, text=hit.chunk.text)
        for number, hit in enumerate(passages, start=1)
    ]
    return "\n\n".join([*shown, f"Request: {neutralise(task)}"])


def _turns(turns: Sequence[TurnRecord], max_chars: int) -> list[ChatMessage]:
    messages: list[ChatMessage] = []
    for turn in turns:
        if not turn["calls"]:
            # A turn without calls is answered by a remark of ours.
            messages.append(ChatMessage("assistant", neutralise(turn["text"])))
            messages += [ChatMessage("user", result) for result in turn["results"]]
            continue
        calls = turn["calls"]
        requests = tuple(ToolRequest(call["request_id"], call["name"], _closed(call["arguments"])) for call in calls)
        messages.append(ChatMessage("assistant", neutralise(turn["text"]), requests))
        for call, result in zip(calls, turn["results"], strict=True):
            shown = cap_output(neutralise(result), max_chars=max_chars, handle=call["call_id"] or call["request_id"])
            messages.append(ChatMessage("tool", shown.text, tool_request_id=call["request_id"]))
    return messages


def _closed(arguments: str) -> str:
    """Arguments that a chat template can parse; broken ones are shown as none, the result says what was wrong."""
    try:
        return arguments if isinstance(json.loads(arguments or "{}"), dict) else "{}"
    except json.JSONDecodeError:
        return "{}"


def _counted(message: ChatMessage) -> str:
    return " ".join([message.content, *(f"{asked.name} {asked.arguments}" for asked in message.tool_requests)])


def _recent(history: Sequence[ChatMessage], counts: Sequence[int], limit: int) -> tuple[list[ChatMessage], int]:
    kept: list[ChatMessage] = []
    used = 0
    for message, tokens in zip(reversed(history), reversed(counts), strict=True):
        if used + tokens + MESSAGE_OVERHEAD_TOKENS > limit:
            break
        kept.insert(0, message)
        used += tokens + MESSAGE_OVERHEAD_TOKENS
    if kept and kept[0].role == "assistant":
        kept.pop(0)
    return kept, used
