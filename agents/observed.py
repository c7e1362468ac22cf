"""Results of tools as passages: they are proved and cited like documents, with offsets into the stored result."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from retrieval.types import Chunk, Hit, HitScores
from tools.builtin.passages import Passage
from tools.calls import ToolCall
from tools.output import HEAD_SHARE
from tools.types import BUILTIN_SERVER

_PASSAGE: TypeAdapter[Passage] = TypeAdapter(Passage)
COLLECTION = "groundwork:tool-results"
"""Stands where documents have their collection; no document can be in it."""
MAX_CHARACTERS = 4000
"""Longest passage made of one result; of a longer one head and tail are taken, as the model saw them."""


def observed_hits(calls: Sequence[ToolCall]) -> tuple[Hit, ...]:
    """Results that ran, and words of a person in their place, latest first; errors are no evidence."""
    chunks = [chunk for call in reversed(calls) if call.state in ("done", "rejected") for chunk in _chunks(call)]
    return tuple(Hit(rank, chunk, HitScores(fused=1.0)) for rank, chunk in enumerate(chunks, start=1))


def call_of(chunk: Chunk) -> str:
    """Id of the call that a passage is the result of; empty for a document's passage."""
    return chunk.document_id if chunk.collection == COLLECTION else ""


def _chunks(call: ToolCall) -> list[Chunk]:
    return _document_chunks(call) or _result_chunks(call)


def _document_chunks(call: ToolCall) -> list[Chunk]:
    """Passages of stored documents that a built-in tool found: cited as the documents that they are from."""
    if call.server != BUILTIN_SERVER or not call.result_structured:
        return []
    passages = call.result_structured.get("passages")
    found = [_PASSAGE.validate_python(passage) for passage in passages] if isinstance(passages, list) else []
    return [
        Chunk(
            chunk_id=passage.chunk_id,
            document_id=passage.document_id,
            collection="",
            source=passage.source,
            title=passage.title,
            position=position,
            text=passage.text,
            char_start=passage.char_start,
            char_end=passage.char_end,
            page=passage.page,
            heading_path=(passage.section,) if passage.section else (),
        )
        for position, passage in enumerate(found)
        if passage.document_id and passage.text.strip()
    ]


def _result_chunks(call: ToolCall) -> list[Chunk]:
    text = call.result_text or ""
    if len(text) <= MAX_CHARACTERS:
        pieces = [(0, len(text))]
    else:
        head = int(MAX_CHARACTERS * HEAD_SHARE)
        pieces = [(0, head), (len(text) - (MAX_CHARACTERS - head), len(text))]
    name = call.tool if call.server == BUILTIN_SERVER else f"{call.server}__{call.tool}"
    arguments = ", ".join(f"{key} {value}" for key, value in call.arguments.items())
    return [
        Chunk(
            chunk_id=f"{call.call_id}-{position}",
            document_id=call.call_id,
            collection=COLLECTION,
            source=f"tool:{name}",
            title=f"{name} {arguments}".strip()[:200],
            position=position,
            text=text[start:end],
            char_start=start,
            char_end=end,
        )
        for position, (start, end) in enumerate(pieces)
        if text[start:end].strip()
    ]
