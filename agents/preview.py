"""How the chat would search and fill its prompt for a question, up to the moment where the model is asked.

The very nodes of the answer graph run, over the same parts; only the search is asked to explain itself. So what a debug
page shows is what the chat does. Nothing is stored, no model writes an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from langgraph.runtime import Runtime

from agents.context import Draft
from agents.drafts import QueryDraft
from agents.nodes.build_context import build_context
from agents.nodes.retrieve import retrieve
from agents.request import AnswerRequest
from agents.state import AnswerState, Context
from retrieval.search import Retriever
from retrieval.types import SearchFilter, SearchResult

EVERYTHING = SearchFilter()


@dataclass(frozen=True, slots=True)
class Preview:
    """What is known before the model is asked.

    Attributes:
        state: The run's state: query, hits, prompt, what was left out, or why no answer would be given.
        queries: What is searched for beside the question, in order.
        searches: The results of all searches with their explanations, in order; the last one's query may be another.
        tokens: Tokens of each passage of the prompt, in prompt order.
    """

    state: AnswerState
    queries: tuple[QueryDraft, ...]
    searches: tuple[SearchResult, ...]
    tokens: tuple[int, ...]

    @property
    def main_search(self) -> SearchResult:
        """The search for ``state.query``."""
        return next(result for result in reversed(self.searches) if result.query == self.state.query)


@dataclass(slots=True)
class _Explaining:
    """The search that the chat uses, asked to explain itself; keeps its results."""

    retriever: Retriever
    results: list[SearchResult] = field(default_factory=list[SearchResult])

    def search(self, query: str, *, search_filter: SearchFilter = EVERYTHING, limit: int | None = None) -> SearchResult:
        """Hits in final order, each with its explanation."""
        result = self.retriever.search(query, search_filter=search_filter, limit=limit, explain=True)
        self.results.append(result)
        return result


async def preview(request: AnswerRequest, context: Context, retriever: Retriever) -> Preview:
    """Search and fill the prompt as a run of the chat would.

    Args:
        request: Question, history and scope.
        context: What the answer graph works with.
        retriever: Its search.

    Raises:
        RetrievalError: The search failed.
        AgentError: The chat model's tokenizer cannot be reached.
    """
    searching = _Explaining(retriever)
    said: list[object] = []
    runtime = Runtime(context=replace(context, retriever=searching), stream_writer=said.append)
    state = AnswerState(request)
    for node in (retrieve, build_context):
        changes: dict[str, Any] = await node(state, runtime)
        state = replace(state, **changes)
    passages = Draft(request.question, (), state.passages, ()).texts()[-len(state.passages) :] if state.passages else []
    counts = await context.chat_model.count_tokens(passages) if passages else []
    queries = tuple(draft for draft in said if isinstance(draft, QueryDraft))
    return Preview(state, queries, tuple(searching.results), tuple(counts))
