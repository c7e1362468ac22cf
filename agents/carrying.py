"""A follow-up put behind the prompt of the turn before, so that the model server reads nothing of it twice.

That prompt, its reply and its passages stay as they were sent, and only passages that are not among them come with the
new question. Done where most of what the question needs stands there already and is still true; in all other cases the
prompt is made anew (``agents.context``), with earlier turns in words alone. Knows the store by what reads chunks of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agents.answer import BudgetUse, ContextReport
from agents.chat_model import ChatMessage, ChatModel
from agents.context import (
    MESSAGE_OVERHEAD_TOKENS,
    Draft,
    PackedContext,
    choose,
    in_reading_order,
    is_duplicate,
    render,
)
from agents.earlier import EarlierPrompt, prompt_record
from agents.guidance import EXAMPLES_PART, fit_examples
from agents.neighbours import ReadChunks
from agents.prompting import fill_prompt, neutralise
from agents.settings import AnswerSettings
from retrieval.filters import narrowed
from retrieval.types import Chunk, Hit, HitScores, SearchFilter

NEW_PART = 4
"""Passages that join take, with the question, at most this part of what is carried: four fifths were read before."""
CACHE_BLOCK = 32
"""Tokens of what was read before that are read again: a server's cache holds whole blocks, vLLM's on a CPU of 32."""
HELD_PART = 2
"""At least this part of the passages that a prompt of its own would have must be carried."""


async def carry_on(
    candidates: Draft, earlier: EarlierPrompt, *, model: ChatModel, settings: AnswerSettings, max_tokens: int
) -> PackedContext | None:
    """The prompt behind the earlier one; None where the question needs other passages, or the window is full.

    Args:
        candidates: What a prompt of its own would be made of.
        earlier: The turns before; its passages are known to be current and visible to the person.
        model: Counts tokens.
        settings: Limits of evidence.
        max_tokens: Kept free for the answer.
    """
    plan = _Plan(candidates, earlier, settings)
    if not plan.worthwhile:
        return None
    counts = await model.count_tokens(plan.texts())
    return plan.pack(counts, context_tokens=model.context_tokens, max_tokens=max_tokens)


async def still_holds(
    earlier: EarlierPrompt, known: Sequence[Hit], *, scope: SearchFilter, chunks: ReadChunks | None
) -> bool:
    """Whether every passage of the earlier prompt is in the store as it was, and the person may see it.

    Args:
        earlier: The turns before.
        known: Passages that were read for this question, with the person's filter.
        scope: What the person may see.
        chunks: Reads chunks of the store; None where there is none to ask.
    """
    texts = {hit.chunk.chunk_id: hit.chunk.text for hit in known}
    others = [chunk for chunk in earlier.passages if texts.get(chunk.chunk_id) != chunk.text]
    if not others:
        return True
    if chunks is None:
        return False
    documents = tuple(dict.fromkeys(chunk.document_id for chunk in others))
    stored = await asyncio.to_thread(chunks, narrowed(scope, SearchFilter(document_ids=documents)))
    texts = {chunk.chunk_id: chunk.text for chunk in stored}
    return all(texts.get(chunk.chunk_id) == chunk.text for chunk in others)


class _Plan:
    def __init__(self, candidates: Draft, earlier: EarlierPrompt, settings: AnswerSettings) -> None:
        self._candidates = candidates
        self._earlier = earlier
        self._new = [hit for hit in candidates.hits if not _among(hit.chunk, earlier.passages)]
        self._best_is_new = bool(self._new) and self._new[0] is candidates.hits[0]
        wanted = min(settings.evidence_passages, len(candidates.hits))
        self._room = sum(hit in self._new for hit in candidates.hits[:wanted])
        self._evidence_tokens = settings.evidence_tokens
        self.worthwhile = HELD_PART * (wanted - self._room) >= max(1, wanted)

    def texts(self) -> list[str]:
        """What has to be counted: system, frame with question, examples, the turns before, then new passages."""
        told = (*self._candidates.guidance.turns(), *self._earlier.messages)
        passages = (render(0, hit.chunk) for hit in (*self._new, *self._candidates.duplicates))
        return [self._candidates.system, self._ask(()), *(message.content for message in told), *passages]

    def pack(self, counts: Sequence[int], *, context_tokens: int, max_tokens: int) -> PackedContext | None:
        """The prompt, by the counts of ``texts()``; None where there is no room for it with the best passage."""
        candidates, earlier = self._candidates, self._earlier
        examples, turns = candidates.guidance.turns(), len(earlier.messages)
        system, frame = (count + MESSAGE_OVERHEAD_TOKENS for count in counts[:2])
        window = context_tokens - max_tokens - system - frame
        fitted = fit_examples(examples, counts[2:], limit=window // EXAMPLES_PART, overhead=MESSAGE_OVERHEAD_TOKENS)
        first = 2 + len(examples)
        carried = sum(counts[first : first + turns]) + MESSAGE_OVERHEAD_TOKENS * turns
        read_before = system + fitted.tokens + carried
        left = window - fitted.tokens - carried
        limit = min(left, read_before // NEW_PART - frame - CACHE_BLOCK, self._evidence_tokens)
        sizes = counts[first + turns :]
        chosen = choose(self._new, candidates.duplicates, sizes, most=self._room, limit=limit)
        if left < 0 or (self._best_is_new and candidates.hits[0] not in chosen.hits):
            return None
        report = ContextReport(
            budget_tokens=context_tokens,
            used=BudgetUse(
                system=system + fitted.tokens,
                history=carried,
                evidence=chosen.tokens + frame,
                tools=0,
                reserve=max_tokens,
            ),
            dropped=chosen.dropped,
            dropped_turns=self._forgotten(),
            dropped_examples=fitted.dropped,
        )
        passages = in_reading_order(chosen.hits)
        asked = ChatMessage("user", self._ask(passages))
        messages = (ChatMessage("system", candidates.system), *fitted.turns, *earlier.messages, asked)
        shown = (*(Hit(rank, chunk, HitScores()) for rank, chunk in enumerate(earlier.passages, start=1)), *passages)
        return PackedContext(messages, shown, report, prompt_record((asked,), after=earlier.run_id))

    def _forgotten(self) -> tuple[str, ...]:
        """Questions of the chat that the earlier prompt had no room for."""
        asked = [message.content for message in self._candidates.history if message.role == "user"]
        told = "\n".join(message.content for message in self._earlier.messages)
        return tuple(question for question in asked if question not in told)

    def _ask(self, passages: Sequence[Hit]) -> str:
        candidates, first = self._candidates, len(self._earlier.passages) + 1
        rendered = "\n\n".join(render(number, hit.chunk) for number, hit in enumerate(passages, start=first))
        asked = fill_prompt("follow_up", passages=rendered, question=neutralise(candidates.question)).strip()
        return f"{asked}\n\n{candidates.instruction}" if candidates.instruction else asked


def _among(chunk: Chunk, passages: Sequence[Chunk]) -> bool:
    return any(chunk.chunk_id == other.chunk_id or is_duplicate(chunk, other) for other in passages)
