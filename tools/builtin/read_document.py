"""``read_document``: a stretch of one stored document's text."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import Field

from retrieval.errors import RetrievalError
from retrieval.filters import narrowed
from retrieval.types import Chunk, SearchFilter
from tools.builtin.passages import Passage, passage_of, structured
from tools.builtin.shelf import ChunkShelf, DocumentShelf
from tools.errors import ToolError
from tools.function_tool import function_tool
from tools.types import CallContext, Tool, ToolOutput

MAX_CHARS = 7000
"""Longest stretch in one result."""


def read_document_tool(shelf: DocumentShelf, chunks: ChunkShelf) -> Tool:
    """The tool over one ledger and the store that holds its chunks."""

    async def read_document(
        document_id: str,
        context: CallContext,
        start: Annotated[int, Field(ge=0)] = 0,
        length: Annotated[int, Field(ge=1, le=MAX_CHARS)] = 3000,
    ) -> ToolOutput:
        """Read the text of one stored document, from a character on.

        Args:
            document_id: Id of the document, as search_documents gives it.
            context: What may be seen.
            start: First character to read; 0 is the beginning.
            length: How many characters to read.
        """
        scope = narrowed(context.scope, SearchFilter(document_ids=(document_id,)))
        try:
            found = await asyncio.to_thread(chunks.chunks, scope)
        except RetrievalError as error:
            raise ToolError(f"The document cannot be read now: {error}") from error
        # A document has its place and its metadata as a whole, so one of its chunks speaks for all of it.
        hidden = context.scope != SearchFilter() and not found
        document = None if hidden else await shelf.document(document_id)
        text = await shelf.text(document_id) if document else None
        if document is None or text is None:
            raise ToolError(f"There is no text of a document {document_id!r}; search_documents gives the ids.")
        if start >= len(text):
            raise ToolError(f"The document has {len(text)} characters; start below that.")
        end = min(start + length, len(text))
        whole = Passage(document_id, "", document.source, document.title, "", None, start, end, text[start:end])
        passages = _within(found, text, start=start, end=end) or [whole]
        rest = f"; go on with start={end}" if end < len(text) else ", to its end"
        head = f"{document.title or document.source}, characters {start} to {end} of {len(text)}{rest}"
        return ToolOutput(f"{head}\n\n{text[start:end]}", structured(passages))

    return function_tool(read_document, risk="read", idempotent=True)


def _within(chunks: Sequence[Chunk], text: str, *, start: int, end: int) -> list[Passage]:
    """The parts of chunks that lie in the stretch, each character in one of them at most."""
    passages: list[Passage] = []
    for chunk in sorted(chunks, key=lambda chunk: chunk.position):
        first, last = max(chunk.char_start, start), min(chunk.char_end, end)
        if first < last:
            passages.append(replace(passage_of(chunk), char_start=first, char_end=last, text=text[first:last]))
            start = last
    return passages
