"""The homes that a vector store may have, and searches by words, for the contract tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from qdrant_client import QdrantClient

from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.store.qdrant import open_qdrant_store
from retrieval.types import Chunk, ScoredId, SearchFilter
from tests.retrieval.points import EMBEDDER, LEXICAL, NO_TERMS

ALL = SearchFilter()
FINGERPRINT = EMBEDDER.fingerprint
DIM = EMBEDDER.dim
# Read once, before the tests' own fixture takes the variables away.
SERVER_URL = os.environ.get("GROUNDWORK_TEST_QDRANT_URL")
"""Address of a Qdrant server that tests may write to; they take their collections away again."""


class ScoredChunk(NamedTuple):
    """One result of one leg with its chunk."""

    chunk: Chunk
    score: float


Opener = Callable[..., VectorStore]
"""Opens the same store again; takes ``dim`` and ``fingerprint``."""


def edge_home(path: Path) -> Opener:
    return lambda *, dim=DIM, fingerprint=FINGERPRINT: open_edge_store(path, dim=dim, fingerprint=fingerprint)


def qdrant_home(client: QdrantClient, collection: str) -> Opener:
    return lambda *, dim=DIM, fingerprint=FINGERPRINT: open_qdrant_store(
        client, collection=collection, dim=dim, fingerprint=fingerprint
    )


@dataclass(frozen=True)
class Home:
    """A way to open one and the same store."""

    open: Opener
    one_owner: bool = False
    """The store must be closed before it can be opened again."""


def dense(store: VectorStore, text: str, search_filter: SearchFilter = ALL, limit: int = 10) -> list[ScoredChunk]:
    legs = store.search_legs(EMBEDDER.embed_query(text), NO_TERMS, search_filter=search_filter, limit=limit)
    return _fetched(store, legs.dense.found)


def lexical(store: VectorStore, text: str, search_filter: SearchFilter = ALL, limit: int = 10) -> list[ScoredChunk]:
    return _fetched(store, store.search_lexical(LEXICAL.encode_query(text), search_filter=search_filter, limit=limit))


def _fetched(store: VectorStore, found: Sequence[ScoredId]) -> list[ScoredChunk]:
    chunks = store.fetch([scored.chunk_id for scored in found])
    return [ScoredChunk(chunk, scored.score) for chunk, scored in zip(chunks, found, strict=True)]


def texts_of(found: list[ScoredChunk]) -> list[str]:
    return [scored.chunk.text for scored in found]
