"""Question sets over an ingested home: what ``app.evaluations`` finds by name and lets measure question by question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from time import perf_counter
from uuid import uuid4

from agents.answer import Answer, FoundPassage
from agents.chat_model import ChatMessage
from agents.events import FailureKind
from agents.request import AnswerRequest
from app.errors import EvalHalted
from app.eval_schema import EvalCase, EvalQuestion, EvalRequest, EvalSummary
from app.evaluations import EvalNeeds, Evaluation
from evals.answer_case import Asked, judge_answer
from evals.answer_summary import summarise_answers
from evals.search_case import SEARCH_DEPTH, judge_search, summarise_searches

_HALTING: frozenset[FailureKind] = frozenset({"model_unavailable", "store_unavailable"})
"""Failures that the next question would meet as well."""


def open_evaluation(request: EvalRequest, needs: EvalNeeds) -> Evaluation:
    """The evaluation of these questions; see ``app.evaluations.OpenEvaluation``."""
    if request.kind == "answers":
        return AnswerEvaluation(request.questions, needs)
    return SearchEvaluation(request.questions, needs)


class AnswerEvaluation:
    """Asks each question, with the turns before it, through the answer graph of the chat."""

    def __init__(self, questions: Sequence[EvalQuestion], needs: EvalNeeds) -> None:
        self._questions = questions
        self._needs = needs

    async def measure(self, position: int) -> EvalCase:
        """Ask one question; raises ``EvalHalted`` when model or store are not there."""
        question = self._questions[position]
        return judge_answer(question, await self._ask(question))

    def summarise(self, cases: Sequence[EvalCase]) -> EvalSummary:
        """Figures over these cases."""
        return summarise_answers(cases)

    async def _ask(self, question: EvalQuestion) -> Asked:
        request = AnswerRequest(
            run_id=uuid4().hex,
            thread_id="evaluation",
            question=question.question,
            history=chat_history(question),
            search_filter=self._needs.search_filter,
        )
        started = perf_counter()
        answer: Answer | None = None
        passages: tuple[FoundPassage, ...] = ()
        error = ""
        async with aclosing(self._needs.answerer.run(request)) as events:
            async for event in events:
                if event.type == "hits_found":
                    passages = event.passages
                elif event.type == "answer_done":
                    answer = event.answer
                elif event.type == "run_failed":
                    if event.kind in _HALTING:
                        raise EvalHalted(event.message)
                    error = event.message
        return Asked(answer, passages, 1000 * (perf_counter() - started), error)


class SearchEvaluation:
    """Searches for each question that has an answer, a follow-up with the query that the rules make of it."""

    def __init__(self, questions: Sequence[EvalQuestion], needs: EvalNeeds) -> None:
        self._questions = questions
        self._needs = needs

    async def measure(self, position: int) -> EvalCase:
        """Search for one question."""
        from agents.history import standalone_query

        question = self._questions[position]
        query = standalone_query(question.question, chat_history(question))
        result = await asyncio.to_thread(
            self._needs.retriever.search, query, search_filter=self._needs.search_filter, limit=SEARCH_DEPTH
        )
        return judge_search(question, result)

    def summarise(self, cases: Sequence[EvalCase]) -> EvalSummary:
        """Figures over these cases."""
        return summarise_searches(cases)


def chat_history(question: EvalQuestion) -> tuple[ChatMessage, ...]:
    """The turns before a question as the graph takes them."""
    return tuple(ChatMessage(turn.role, turn.content) for turn in question.history)
