"""The search behind an answer: the question made self-contained, its parts, and a second one where that was weak.

Bounded: at most ``answer.max_queries`` searches a turn, at most one call of the chat model. Every query is told before
it is searched. Of the store it knows what counts chunks; what may be seen is the request's filter, only narrowed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from agents.abstention import best_cosine, cosine_lead, evidence_signals, is_too_weak
from agents.answer import Usage
from agents.answerability import answer_signs
from agents.chat_model import ChatMessage
from agents.context import MESSAGE_OVERHEAD_TOKENS, as_turns
from agents.drafts import QueryDraft, WarningDraft
from agents.guidance import EXAMPLES_PART, fit_examples
from agents.history import last_question, leans_on_history, standalone_query
from agents.prompting import load_prompt
from agents.proof.evidence import prepare
from agents.queries import parts_of, words_of
from agents.request import AnswerRequest
from agents.rewriting import rewrite
from agents.searching import merge_hits
from agents.state import Context
from agents.thresholds import load_thresholds
from agents.token_count import estimate_tokens
from retrieval.read_filters import read_filters
from retrieval.types import Hit, SearchFilter

MIN_HITS = 10
"""Hits kept at least; what does not enter the prompt still speaks for or against an answer."""
HITS_PER_PASSAGE = 2
LOOKED_AT = 40
"""Hits asked for: the passage nearest in meaning may stand low in the fused order, and its cosine decides as well."""

Say = Callable[[QueryDraft | WarningDraft], None]


@dataclass(frozen=True, slots=True)
class FoundEvidence:
    """What was searched and found; ``hits`` are best first.

    Attributes:
        query: What the hits are for.
        scope: The request's filter, narrowed by what the question said.
        hits: Of all queries together, best first.
        top_cosine: Best cosine that ``query`` reached; None when nothing was near.
        lead: How far it stands above the tenth best.
        doubt: Probability that there is no answer, by learned weights; None without them.
        spent: Tokens of the chat model.
        rewrite_ms: Time until the first search.
        retrieve_ms: Time from then on.
    """

    query: str
    scope: SearchFilter
    hits: tuple[Hit, ...] = ()
    top_cosine: float | None = None
    lead: float = 0.0
    doubt: float | None = None
    spent: Usage = field(default_factory=Usage)
    rewrite_ms: float = 0.0
    retrieve_ms: float = 0.0


async def find_evidence(request: AnswerRequest, context: Context, say: Say, *, beside: str = "") -> FoundEvidence:
    """Search for a question.

    Args:
        request: The question.
        context: What is searched with.
        say: Told every query before it is searched.
        beside: Words of its pictures, which are searched for together with it.

    Raises:
        RetrievalError: The search failed.
    """
    return await _Search(request, context, say, beside).run()


class _Search:
    def __init__(self, request: AnswerRequest, context: Context, say: Say, beside: str) -> None:
        self._request = request
        self._beside = beside
        self._context = context
        self._settings = context.settings
        self._say = say
        self._left = context.settings.max_queries
        self._kept = max(MIN_HITS, HITS_PER_PASSAGE * context.settings.evidence_passages)
        self._asked_model = False
        self._warned: set[str] = set()
        self._spent = Usage()

    async def run(self) -> FoundEvidence:
        started = perf_counter()
        asked, scope = await self._read_filters()
        query = await self._standalone(asked)
        rewritten = perf_counter()
        found = await self._search_with_parts(query, scope, parts_of(asked) if query == asked else ())
        if found.hits and self._left and await self._is_weak(found):
            found = await self._second(found, scope) or found
        return replace(
            found,
            spent=self._spent,
            rewrite_ms=(rewritten - started) * 1000,
            retrieve_ms=(perf_counter() - rewritten) * 1000,
        )

    async def _read_filters(self) -> tuple[str, SearchFilter]:
        question, within, store = self._request.question, self._request.search_filter, self._context.store
        if store is None or not self._settings.filters_from_words:
            return question, within
        drop = self._request.drop_filters
        read = await asyncio.to_thread(read_filters, question, within=within, count=store.count, drop=drop)
        acting = tuple(one.name for one in read.filters if one.applied)
        if acting:
            self._say(QueryDraft(read.query, kind="filtered", filters=acting))
        return read.query, read.search_filter

    async def _standalone(self, question: str) -> str:
        """The question with what it leaves out; told when it is another one than was asked."""
        way = self._settings.rewrite
        history = self._request.history
        if way == "off" or not history:
            return question
        query, by = standalone_query(question, history), "rules"
        if way == "model" and leans_on_history(question):
            written = await self._ask_model(question)
            query, by = (written, "model") if written else (query, by)
        if query != question:
            self._say(QueryDraft(query, kind="follow_up", by="model" if by == "model" else "rules"))
        return query

    async def _search_with_parts(self, query: str, scope: SearchFilter, parts: Sequence[str]) -> FoundEvidence:
        main = await self._search(query, scope)
        others: list[tuple[Hit, ...]] = []
        if self._beside and self._left:
            words = f"{query} {self._beside}"
            self._say(QueryDraft(words, kind="picture"))
            others.append(await self._search(words, scope))
        for part in parts[: self._left]:
            self._say(QueryDraft(part, kind="part"))
            others.append(await self._search(part, scope))
        # The words of a picture say what the question is about, so they count for how near the passages are.
        near = max((main, *others[:1]), key=lambda hits: best_cosine(hits) or 0.0) if self._beside else main
        return await self._found(query, scope, near, merge_hits(main, others))

    async def _second(self, first: FoundEvidence, scope: SearchFilter) -> FoundEvidence | None:
        """Another query where the first one found too little; None where it finds too little as well."""
        query, widest = self._request.question, self._request.search_filter
        by = "rules"
        if scope == widest:
            if first.doubt is not None:
                return None  # learned weights are fitted to one search
            written = await self._ask_model(query) if self._settings.rewrite in ("auto", "model") else None
            query, by = (written, "model") if written else (words_of(query), "rules")
            if not query or query.casefold() == first.query.casefold():
                return None
        else:
            query = standalone_query(query, self._request.history)
        self._say(QueryDraft(query, kind="again", by="model" if by == "model" else "rules"))
        hits = await self._search(query, widest)
        second = await self._found(query, widest, hits, merge_hits(hits, [first.hits] if scope == widest else []))
        return None if await self._is_weak(second) else second

    async def _search(self, query: str, scope: SearchFilter) -> tuple[Hit, ...]:
        self._left -= 1
        limit = max(LOOKED_AT, self._kept)
        result = await asyncio.to_thread(self._context.retriever.search, query, search_filter=scope, limit=limit)
        for warning in result.warnings:
            if warning.code not in self._warned:
                self._warned.add(warning.code)
                self._say(WarningDraft(warning.code, warning.detail))
        return result.hits

    async def _found(
        self, query: str, scope: SearchFilter, searched: Sequence[Hit], merged: Sequence[Hit]
    ) -> FoundEvidence:
        """What one search says of the evidence, with the hits of all searches together."""
        learned, embedder = load_thresholds(self._settings.abstention_file).learned, self._context.embedder
        doubt = None
        if learned and embedder and searched:
            read = partial(answer_signs, earlier=last_question(self._request.history))
            doubt = learned.doubt(await asyncio.to_thread(read, self._request.question, query, searched, embedder))
        kept = tuple(merged[: self._kept])
        return FoundEvidence(query, scope, kept, best_cosine(searched), cosine_lead(searched), doubt)

    async def _is_weak(self, found: FoundEvidence) -> bool:
        evidence = await asyncio.to_thread(prepare, [hit.chunk for hit in found.hits])
        signals = evidence_signals(
            self._request.question, found.top_cosine, evidence, lead=found.lead, doubt=found.doubt
        )
        return is_too_weak(signals, load_thresholds(self._settings.abstention_file))

    async def _ask_model(self, question: str) -> str | None:
        """A query by the model, at most once a turn and only where there is a history to take words from."""
        if self._asked_model or not self._request.history:
            return None
        self._asked_model = True
        query, usage = await rewrite(
            question, self._prefix(), model=self._context.chat_model, seconds=self._settings.rewrite_seconds
        )
        self._spent = self._spent.plus(usage)
        return query

    def _prefix(self) -> list[ChatMessage]:
        """System message and history as the answer's prompt begins, so that the server reads both once."""
        turns = as_turns(self._request.history)
        while turns and sum(estimate_tokens(turn.content) for turn in turns) > self._settings.history_tokens:
            turns = turns[1:]
        while turns and turns[0].role != "user":
            turns = turns[1:]
        guidance = self._request.guidance
        examples = guidance.turns()
        limit = self._context.chat_model.context_tokens // (2 * EXAMPLES_PART)
        counts = [estimate_tokens(turn.content) for turn in examples]
        shown = fit_examples(examples, counts, limit=limit, overhead=MESSAGE_OVERHEAD_TOKENS).turns
        return [ChatMessage("system", guidance.behind(load_prompt("system"))), *shown, *turns]
