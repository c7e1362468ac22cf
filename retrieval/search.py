"""One question to ranked hits: embed, both legs, fusion. Knows no chat model; callers in async code use a thread."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from retrieval.analyser import analyse, tokens
from retrieval.embedders.protocol import Embedder
from retrieval.fusion import Leg, fuse
from retrieval.lexical import LexicalEncoder
from retrieval.settings import SearchSettings
from retrieval.store.protocol import VectorStore
from retrieval.types import Chunk, Hit, HitScores, ScoredChunk, SearchFilter, SearchResult, SearchTimings, index_text

_NO_FILTER = SearchFilter()


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one store with both legs. Safe to call from several threads."""

    embedder: Embedder
    store: VectorStore
    lexical: LexicalEncoder
    settings: SearchSettings

    def search(self, query: str, *, search_filter: SearchFilter = _NO_FILTER, limit: int | None = None) -> SearchResult:
        """Hits for a question, best first; none for a question without a letter or digit.

        Args:
            query: The question as typed.
            search_filter: What may be seen; acts inside both legs.
            limit: Number of hits; None takes the settings' own.

        Raises:
            StoreUnavailable: The store cannot be read.
            EmbeddingFailed: The question cannot be embedded.
        """
        started = time.perf_counter()
        if not any(map(str.isalnum, query)):
            return SearchResult(query, (), SearchTimings(0.0, 0.0, 0.0, 0.0))
        wanted = self.settings.limit if limit is None else limit
        vector = self.embedder.embed_query(query)
        embedded = time.perf_counter()
        candidates = max(self.settings.candidates, wanted)
        sparse = self.lexical.encode_query(query)
        with self.store.visibility.reading():
            dense = self.store.search_dense(vector, search_filter=search_filter, limit=candidates)
            lexical = self.store.search_lexical(sparse, search_filter=search_filter, limit=candidates)
        hits = self._ranked(query, dense=dense, lexical=lexical, limit=wanted)
        ended = time.perf_counter()
        timings = SearchTimings(
            embed=1000 * (embedded - started),
            search=1000 * (ended - embedded),
            rerank=0.0,
            total=1000 * (ended - started),
        )
        return SearchResult(query, hits, timings)

    def _ranked(
        self, query: str, *, dense: Sequence[ScoredChunk], lexical: Sequence[ScoredChunk], limit: int
    ) -> tuple[Hit, ...]:
        chunks = {scored.chunk.chunk_id: scored.chunk for scored in [*dense, *lexical]}
        dense_scores, lexical_scores = _scores(dense), _scores(lexical)
        legs = [
            Leg(dense_scores, self.settings.dense_weight),
            Leg(lexical_scores, 1 - self.settings.dense_weight),
        ]
        fused = fuse(legs, method=self.settings.fusion)
        dense_ranks, lexical_ranks = _ranks(dense), _ranks(lexical)
        spellings = {token.term: token.spelling for token in tokens(query)}
        return tuple(
            Hit(
                rank=rank,
                chunk=chunks[chunk_id],
                scores=HitScores(
                    dense=dense_scores.get(chunk_id),
                    dense_rank=dense_ranks.get(chunk_id),
                    bm25=lexical_scores.get(chunk_id),
                    bm25_rank=lexical_ranks.get(chunk_id),
                    fused=min(max(score, 0.0), 1.0),
                ),
                matched_terms=_matched_terms(spellings, chunks[chunk_id]),
            )
            for rank, (chunk_id, score) in enumerate(list(fused.items())[:limit], start=1)
        )


def _scores(leg: Sequence[ScoredChunk]) -> dict[str, float]:
    return {scored.chunk.chunk_id: scored.score for scored in leg}


def _ranks(leg: Sequence[ScoredChunk]) -> dict[str, int]:
    return {scored.chunk.chunk_id: rank for rank, scored in enumerate(leg, start=1)}


def _matched_terms(spellings: Mapping[str, str], chunk: Chunk) -> tuple[str, ...]:
    """The question's words that the chunk has in any form, as the question spells them, in its order."""
    terms = set(analyse(index_text(chunk)))
    return tuple(dict.fromkeys(spelling for term, spelling in spellings.items() if term in terms))
