"""What enters the prompt: passages within a token budget, duplicates and overflow listed. Pure but for the counter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from agents.answer import BudgetUse, ContextReport, DroppedEvidence
from agents.chat_model import ChatMessage
from agents.earlier import prompt_record
from agents.guidance import EXAMPLES_PART, NO_GUIDANCE, Guidance, fit_examples
from agents.history import SUMMARY_CHARACTERS, earlier_questions
from agents.markers import strip_markers
from agents.prompt_record import PromptRecord
from agents.prompting import fill_prompt, load_prompt, neutralise, render_passage
from agents.settings import AnswerSettings
from retrieval.resemblance import say_the_same
from retrieval.types import Chunk, Hit

MESSAGE_OVERHEAD_TOKENS = 8
"""Room for the chat template around one message; ChatML takes five."""
DUPLICATE_RESEMBLANCE = 0.75
"""Resemblance from which two passages with the same figures say the same: about 0.85 of the runs of each."""
SUMMARY_TOKENS = 100
"""Room for a line about the turns of a chat that do not fit."""


@dataclass(frozen=True, slots=True)
class Draft:
    """Everything that may enter a prompt, before its tokens are counted."""

    question: str
    history: tuple[ChatMessage, ...]
    hits: tuple[Hit, ...]
    duplicates: tuple[Hit, ...]
    instruction: str = ""
    guidance: Guidance = NO_GUIDANCE

    @property
    def system(self) -> str:
        """The system prompt."""
        return self.guidance.behind(load_prompt("system"))

    def texts(self) -> list[str]:
        """What has to be counted, in one batch: system, frame with question, examples, history, then passages."""
        frame = _ask(self, "")
        turns = [message.content for message in (*self.guidance.turns(), *self.history)]
        return [
            self.system,
            frame,
            *turns,
            *(render(0, hit.chunk) for hit in (*self.hits, *self.duplicates)),
        ]


@dataclass(frozen=True, slots=True)
class PackedContext:
    """A prompt and what it is made of."""

    messages: tuple[ChatMessage, ...]
    passages: tuple[Hit, ...]
    """In prompt order; number ``n`` of the prompt is ``passages[n - 1]``."""
    report: ContextReport
    prompt: PromptRecord
    """What of the messages the next turn cannot know by itself."""


def draft(
    question: str,
    history: Sequence[ChatMessage],
    hits: Sequence[Hit],
    *,
    instruction: str = "",
    guidance: Guidance = NO_GUIDANCE,
) -> Draft:
    """Candidates for a prompt; near duplicates of a better hit are set aside."""
    kept: list[Hit] = []
    duplicates: list[Hit] = []
    for hit in hits:
        repeated = any(is_duplicate(hit.chunk, other.chunk) for other in kept)
        (duplicates if repeated else kept).append(hit)
    return Draft(question, tuple(as_turns(history)), tuple(kept), tuple(duplicates), instruction, guidance)


def as_turns(history: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Earlier turns as a prompt has them: numbers of an earlier answer point to passages that are no longer there."""
    return [ChatMessage(message.role, neutralise(strip_markers(message.content)[0])) for message in history]


def pack(
    candidates: Draft, counts: Sequence[int], *, settings: AnswerSettings, context_tokens: int, max_tokens: int
) -> PackedContext:
    """Fill the prompt best first; what does not fit is listed, a smaller later passage may still fit.

    Args:
        candidates: What may enter.
        counts: Tokens of ``candidates.texts()``, in the same order.
        settings: Limits for history and evidence.
        context_tokens: Context window of the model.
        max_tokens: Kept free for the answer.
    """
    turns = len(candidates.history)
    system, frame = counts[0] + MESSAGE_OVERHEAD_TOKENS, counts[1] + MESSAGE_OVERHEAD_TOKENS
    left = context_tokens - max_tokens - system - frame - (SUMMARY_TOKENS if turns else 0)
    shown = candidates.guidance.turns()
    examples = fit_examples(shown, counts[2:], limit=left // EXAMPLES_PART, overhead=MESSAGE_OVERHEAD_TOKENS)
    left -= examples.tokens
    counts = counts[len(shown) :]
    history, history_tokens = _recent(
        candidates.history, counts[2 : 2 + turns], min(settings.history_tokens, left // 3)
    )
    limit = max(0, min(settings.evidence_tokens, left - history_tokens))
    most = settings.evidence_passages
    chosen = choose(candidates.hits, candidates.duplicates, counts[2 + turns :], most=most, limit=limit)
    passages = in_reading_order(chosen.hits)
    used = BudgetUse(
        system=system + examples.tokens,
        history=history_tokens,
        evidence=chosen.tokens + frame,
        tools=0,
        reserve=max_tokens,
    )
    dropped_turns = candidates.history[: turns - len(history)]
    report = ContextReport(
        budget_tokens=context_tokens,
        used=used,
        dropped=chosen.dropped,
        dropped_turns=tuple(message.content for message in dropped_turns if message.role == "user"),
        dropped_examples=examples.dropped,
    )
    summary = earlier_questions(dropped_turns, max_characters=SUMMARY_CHARACTERS)
    added = (*history, ChatMessage("user", _asked(candidates, passages, summary)))
    messages = (ChatMessage("system", candidates.system), *examples.turns, *added)
    return PackedContext(messages, tuple(passages), report, prompt_record(added))


def in_reading_order(hits: Sequence[Hit]) -> list[Hit]:
    """Best last, next to the question, where small models read most closely; neighbours in a document stay together."""
    ordered: list[Hit] = []
    for hit in hits:
        neighbours = [
            place
            for place, other in enumerate(ordered)
            if other.chunk.document_id == hit.chunk.document_id and abs(other.chunk.position - hit.chunk.position) == 1
        ]
        if neighbours:
            place = neighbours[0]
            ordered.insert(place + (ordered[place].chunk.position < hit.chunk.position), hit)
        else:
            ordered.insert(0, hit)
    return ordered


def is_duplicate(one: Chunk, other: Chunk) -> bool:
    """Whether two passages say the same in nearly the same words; the same stretch of a document always does."""
    return say_the_same(one.text, other.text, threshold=DUPLICATE_RESEMBLANCE)


def render(number: int, chunk: Chunk) -> str:
    """A passage as a prompt shows it."""
    section = chunk.section
    if section.startswith(chunk.title):
        section = section[len(chunk.title) :].strip(" >")
    text = f"{chunk.context}\n{chunk.text}" if chunk.context else chunk.text
    return render_passage(number, title=chunk.title, section=section, text=text)


class Chosen(NamedTuple):
    """Passages that enter a prompt, those that do not, and the tokens of the former."""

    hits: tuple[Hit, ...]
    dropped: tuple[DroppedEvidence, ...]
    tokens: int


def choose(hits: Sequence[Hit], duplicates: Sequence[Hit], sizes: Sequence[int], *, most: int, limit: int) -> Chosen:
    """The best passages that there is room for; a smaller later one may still fit.

    Args:
        hits: Candidates, best first.
        duplicates: Those that repeat one of them, and never enter.
        sizes: Tokens of the candidates, then of the duplicates.
        most: Passages that may enter.
        limit: Tokens that they may take together.
    """
    chosen: list[Hit] = []
    dropped: list[DroppedEvidence] = []
    spent = 0
    for hit, tokens in zip(hits, sizes, strict=False):
        if len(chosen) < most and spent + tokens <= limit:
            chosen.append(hit)
            spent += tokens
        else:
            dropped.append(_left_out(hit, tokens, "budget"))
    repeated = zip(duplicates, sizes[len(hits) :], strict=True)
    dropped += [_left_out(hit, tokens, "duplicate") for hit, tokens in repeated]
    return Chosen(tuple(chosen), tuple(dropped), spent)


def _left_out(hit: Hit, tokens: int, reason: Literal["budget", "duplicate"]) -> DroppedEvidence:
    return DroppedEvidence(chunk_id=hit.chunk.chunk_id, source=hit.chunk.source, tokens=tokens, reason=reason)


def _recent(history: Sequence[ChatMessage], counts: Sequence[int], limit: int) -> tuple[list[ChatMessage], int]:
    """The latest turns that fit, oldest first; an answer never stands without its question."""
    kept: list[ChatMessage] = []
    used = pending = 0
    turn: list[ChatMessage] = []
    for message, tokens in zip(reversed(history), reversed(counts), strict=True):
        turn.insert(0, message)
        pending += tokens + MESSAGE_OVERHEAD_TOKENS
        if used + pending > limit:
            break
        if message.role == "user":
            kept[:0] = turn
            used, pending, turn = used + pending, 0, []
    return kept, used


def _asked(candidates: Draft, passages: Sequence[Hit], summary: str) -> str:
    rendered = "\n\n".join(render(number, hit.chunk) for number, hit in enumerate(passages, start=1))
    return "\n\n".join(part for part in (neutralise(summary), _ask(candidates, rendered)) if part)


def _ask(candidates: Draft, passages: str) -> str:
    asked = fill_prompt("question", passages=passages, question=neutralise(candidates.question))
    return f"{asked}\n\n{candidates.instruction}" if candidates.instruction else asked
