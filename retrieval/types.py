"""Values of the retrieval layer: chunks, vectors, filters, hits. Knows no store, no model, no HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from retrieval.explanation import HitExplanation, SearchExplanation, SearchWarningCode

FloatVector: TypeAlias = NDArray[np.float32]
"""Shape ``(dim,)``, L2-normalised."""
FloatMatrix: TypeAlias = NDArray[np.float32]
"""Shape ``(n, dim)``, every row L2-normalised."""
MetadataValue: TypeAlias = str | int | float | bool | list[str]
FilterValue: TypeAlias = str | int | float | bool

DEFAULT_COLLECTION = "default"


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of a stored document; ``text`` equals ``document_text[char_start:char_end]`` exactly.

    Attributes:
        chunk_id: UUID string, a function of document, content and position.
        document_id: UUID string of the document the passage is from.
        collection: Name of the collection that the document belongs to.
        source: Where the document came from: an absolute path, a URL, or ``upload:NAME``.
        title: Title of the document.
        position: Zero-based place among the chunks of its document.
        text: The passage as stored, without any prefix.
        char_start: Offset of the first character in the document's text, in code points.
        char_end: Offset behind the last character.
        page: One-based page of the first character; None where the format has no pages.
        heading_path: Headings above the passage, outermost first.
        token_count: Length in tokens of the embedding model, prefix not counted.
        metadata: The document's metadata.
        context: Lines that explain the passage and stand further up in the document: the header of a table whose
            later rows it holds, the items above a nested list item. Indexed and shown to the model, never cited.
        version: Name of the document's version that the chunk is of: one document, content and recipe have one.
    """

    chunk_id: str
    document_id: str
    collection: str
    source: str
    title: str
    position: int
    text: str
    char_start: int
    char_end: int
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    token_count: int = 0
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict[str, MetadataValue])
    context: str = ""
    version: str = ""

    @property
    def section(self) -> str:
        """The heading path as one line, outermost first; empty above the first heading."""
        return " > ".join(self.heading_path)


def index_text(chunk: Chunk) -> str:
    """What both legs index: title and heading path, its context, then the passage. Never shown, never cited."""
    headings = [heading for heading in chunk.heading_path if heading != chunk.title]
    prefix = " > ".join([chunk.title, *headings]).strip(" >")
    return "\n".join(part for part in (prefix, chunk.context, chunk.text) if part)


@dataclass(frozen=True, slots=True)
class SparseVector:
    """Term ids and weights of one text; ``indices`` are unique."""

    indices: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with both of its vectors, ready to be written."""

    chunk: Chunk
    dense: FloatVector
    sparse: SparseVector


@dataclass(frozen=True, slots=True)
class SearchFilter:
    """What a search may see. Empty fields do not restrict; all fields must hold together.

    Attributes:
        collections: Any of these collections.
        sources: Any of these sources, compared whole.
        document_ids: Any of these documents.
        versions: Any of these versions of documents.
        metadata: Every key must equal its value; a list in the document matches if it holds the value.
        any_of: Of each group of metadata pairs, one must match.
    """

    collections: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    metadata: Mapping[str, FilterValue] = field(default_factory=dict[str, FilterValue])
    any_of: tuple[tuple[tuple[str, FilterValue], ...], ...] = ()


class ScoredId(NamedTuple):
    """One result of one leg. ``score`` is a cosine for the dense leg, a BM25 score for the lexical leg."""

    chunk_id: str
    score: float


class LegResult(NamedTuple):
    """What a leg returned, best first, and the scores of other chunks by the same measure."""

    found: Sequence[ScoredId]
    others: Sequence[ScoredId] = ()


class Legs(NamedTuple):
    """Both legs of one search."""

    dense: LegResult
    bm25: LegResult


@dataclass(frozen=True, slots=True)
class HitScores:
    """Why a hit stands where it stands.

    Ranks are one-based within their leg, None for a chunk that only the other leg returned. ``dense`` is a cosine in
    [-1, 1]; ``bm25`` is unbounded, not comparable across queries, and None for a chunk without a term of the question.
    ``fused`` is what both legs gave, in [0, 1]; ``rerank`` is on the reranker's own scale, None where nothing was
    reranked.
    """

    dense: float | None = None
    dense_rank: int | None = None
    bm25: float | None = None
    bm25_rank: int | None = None
    fused: float = 0.0
    rerank: float | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A found chunk; ``rank`` is one-based in the final order. ``explanation`` is there when it was asked for."""

    rank: int
    chunk: Chunk
    scores: HitScores
    matched_terms: tuple[str, ...] = ()
    explanation: HitExplanation | None = None


@dataclass(frozen=True, slots=True)
class SearchTimings:
    """Milliseconds spent in each step of one search."""

    embed: float
    search: float
    rerank: float
    total: float


@dataclass(frozen=True, slots=True)
class SearchWarning:
    """A step that was left out of a search that still gave hits; ``detail`` is one sentence for people."""

    code: SearchWarningCode
    detail: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits in final order, best first; empty when nothing matched or the query has no content.

    Attributes:
        query: The question as typed.
        hits: What was found.
        timings: Time of each step.
        warnings: Steps that failed and were left out.
        explanation: There when it was asked for and something was searched.
    """

    query: str
    hits: tuple[Hit, ...]
    timings: SearchTimings
    warnings: tuple[SearchWarning, ...] = ()
    explanation: SearchExplanation | None = None
