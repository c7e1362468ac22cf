"""``search_documents``: passages of the stored documents that fit a question."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from retrieval.errors import RetrievalError
from retrieval.filters import narrowed
from retrieval.types import SearchFilter
from tools.builtin.passages import Passage, passage_of, place, structured
from tools.builtin.shelf import DocumentShelf, Searcher
from tools.errors import ToolError
from tools.function_tool import function_tool
from tools.types import CallContext, Tool, ToolOutput

MAX_QUERY_CHARS = 1000
MAX_HITS = 10
"""Ten chunks of 256 tokens fill a third of the smallest context window that is served."""


def search_documents_tool(searcher: Searcher, shelf: DocumentShelf) -> Tool:
    """The tool over one search and one ledger."""

    async def search_documents(
        query: Annotated[str, Field(max_length=MAX_QUERY_CHARS)],
        context: CallContext,
        collection: str = "",
        limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 4,
    ) -> ToolOutput:
        """Search the stored documents (handbooks, runbooks, reports) and return passages that can be cited.

        Args:
            query: What to look for: a question, or words that stand in the text.
            context: What may be seen.
            collection: Name of one collection to search; empty searches all.
            limit: How many passages to return.
        """
        if not any(map(str.isalnum, query)):
            raise ToolError("The query has no word in it; say what to look for.")
        await _require_collection(shelf, collection, context.scope)
        scope = narrowed(context.scope, SearchFilter(collections=(collection,) if collection else ()))
        try:
            result = await asyncio.to_thread(searcher.search, query, search_filter=scope, limit=limit)
        except RetrievalError as error:
            raise ToolError(f"The search failed: {error}") from error
        passages = [passage_of(hit.chunk) for hit in result.hits]
        told = [_as_text(query, passages), *(f"Warning: {warning.detail}" for warning in result.warnings)]
        return ToolOutput("\n\n".join(told), structured(passages))

    return function_tool(search_documents, risk="read", idempotent=True)


async def _require_collection(shelf: DocumentShelf, name: str, scope: SearchFilter) -> None:
    """Refuse a collection that there is not, in the same words as one that may not be seen."""
    if not name:
        return
    known = [collection.name for collection in await shelf.collections()]
    if scope != SearchFilter():
        known = [one for one in known if one in scope.collections]
    if name not in known:
        names = ", ".join(known) or "none yet"
        raise ToolError(f"There is no collection {name!r}; leave it empty, or take one of: {names}.")


def _as_text(query: str, passages: Sequence[Passage]) -> str:
    if not passages:
        return f"No passage fits {query!r}; try other words."
    parts = [
        f"[{number}] {place(passage)} (document_id {passage.document_id}, from character {passage.char_start})\n"
        f"{passage.text}"
        for number, passage in enumerate(passages, start=1)
    ]
    return "\n\n".join(parts)
