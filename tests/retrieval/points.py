"""Chunks and points for tests, named by what they say."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import NAMESPACE_OID, uuid5

from retrieval.embedders.hashing import HashingEmbedder
from retrieval.lexical import LexicalEncoder
from retrieval.types import Chunk, IndexedChunk, MetadataValue, SparseVector, index_text

EMBEDDER = HashingEmbedder(dim=64)
LEXICAL = LexicalEncoder()
NO_TERMS = SparseVector((), ())


def uuid_of(name: str) -> str:
    """The same UUID for the same name."""
    return str(uuid5(NAMESPACE_OID, name))


def make_chunk(
    text: str,
    *,
    document: str = "handbook",
    collection: str = "default",
    position: int = 0,
    metadata: Mapping[str, MetadataValue] | None = None,
) -> Chunk:
    """A chunk whose id follows from document, position and text."""
    return Chunk(
        chunk_id=uuid_of(f"{document}/{position}/{text}"),
        document_id=uuid_of(document),
        collection=collection,
        source=f"/docs/{document}.md",
        title=document.capitalize(),
        position=position,
        text=text,
        char_start=0,
        char_end=len(text),
        metadata=metadata or {},
    )


def make_point(chunk: Chunk) -> IndexedChunk:
    """The chunk with both of its vectors."""
    text = index_text(chunk)
    return IndexedChunk(chunk, EMBEDDER.embed_query(text), LEXICAL.encode_document(text))


def make_points(*texts: str, document: str = "handbook", collection: str = "default") -> list[IndexedChunk]:
    """Points of one document in order."""
    return [
        make_point(make_chunk(text, document=document, collection=collection, position=position))
        for position, text in enumerate(texts)
    ]
