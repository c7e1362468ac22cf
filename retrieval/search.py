"""One question to ranked hits: both legs, fusion, a second look, a fair list. Blocks; async callers use a thread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from retrieval.candidates import Candidate, fuse_legs
from retrieval.diversity import diversified, without_duplicates
from retrieval.documents import spread, with_support
from retrieval.embedders.protocol import Embedder
from retrieval.explanation import HitExplanation, SearchExplanation
from retrieval.lexical import LexicalEncoder
from retrieval.rerankers.protocol import Reranker
from retrieval.reranking import reranked
from retrieval.settings import SearchSettings
from retrieval.store.protocol import VectorStore
from retrieval.terms import matched_spellings, spellings, store_idfs, term_shares
from retrieval.types import FloatVector, Hit, Legs, SearchFilter, SearchResult, SearchTimings

_NO_FILTER = SearchFilter()


class _Pool(NamedTuple):
    """What both legs found: the best of it as candidates, the rest of the list below them."""

    legs: Legs
    fused: int
    best: Sequence[Candidate]
    rest: Sequence[Candidate]


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one store with both legs. Safe to call from several threads.

    Attributes:
        embedder: Turns questions into vectors; the one that the store was built with.
        store: What is searched.
        lexical: Turns questions into terms.
        settings: How the legs are combined, and what happens after.
        reranker: Looks at the best candidates again; None leaves their order.
    """

    embedder: Embedder
    store: VectorStore
    lexical: LexicalEncoder
    settings: SearchSettings
    reranker: Reranker | None = None

    def search(
        self,
        query: str,
        *,
        search_filter: SearchFilter = _NO_FILTER,
        limit: int | None = None,
        explain: bool = False,
    ) -> SearchResult:
        """Hits for a question, best first; none for a question without a letter or digit.

        Args:
            query: The question as typed.
            search_filter: What may be seen; acts inside both legs.
            limit: Number of hits; None takes the settings' own.
            explain: Say of each hit, and of the search, why it came out so; costs a search for each term.

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
        with self.store.visibility.reading():
            legs = self._legs(query, vector, search_filter=search_filter, limit=max(self.settings.candidates, wanted))
            pool = self._pool(legs, wanted=wanted)
        searched = time.perf_counter()
        looked_at = reranked(
            self.reranker, query, pool.best, seconds=self.settings.rerank.timeout_seconds, explain=explain
        )
        looked = time.perf_counter()
        ranked = [*self._fair(looked_at.candidates, wanted=wanted), *pool.rest][:wanted]
        asked = spellings(query)
        hits = tuple(
            Hit(rank, candidate.chunk, candidate.scores, matched_spellings(asked, candidate.chunk))
            for rank, candidate in enumerate(ranked, start=1)
        )
        ended = time.perf_counter()
        timings = SearchTimings(
            embed=1000 * (embedded - started),
            search=1000 * (searched - embedded + ended - looked),
            rerank=1000 * (looked - searched),
            total=1000 * (ended - started),
        )
        result = SearchResult(query, hits, timings, looked_at.warnings)
        return self._explained(result, pool, ranked, search_filter=search_filter) if explain else result

    def candidates(self, query: str, *, search_filter: SearchFilter = _NO_FILTER) -> list[Candidate]:
        """What a reranker would be given for a question: the best candidates with the support of their documents."""
        vector = self.embedder.embed_query(query)
        with self.store.visibility.reading():
            legs = self._legs(query, vector, search_filter=search_filter, limit=self.settings.candidates)
            return list(self._pool(legs, wanted=0).best)

    def _legs(self, query: str, vector: FloatVector, *, search_filter: SearchFilter, limit: int) -> Legs:
        sparse = self.lexical.encode_query(query)
        return self.store.search_legs(vector, sparse, search_filter=search_filter, limit=limit)

    def _pool(self, legs: Legs, *, wanted: int) -> _Pool:
        settings = self.settings
        needed = fuse_legs(
            legs.dense,
            legs.bm25,
            method=settings.fusion,
            dense_weight=settings.dense_weight,
            limit=max(settings.pool, wanted),
        )
        chunks = {chunk.chunk_id: chunk for chunk in self.store.fetch([found.chunk_id for found in needed])}
        # Deleted between the search and the fetch: not there any more.
        candidates = [Candidate(chunks[found.chunk_id], found) for found in needed if found.chunk_id in chunks]
        best = with_support(candidates[: settings.pool], weight=settings.document_support)
        fused = len({found.chunk_id for leg in legs for found in leg.found})
        return _Pool(legs, fused, best, candidates[settings.pool :])

    def _fair(self, candidates: Sequence[Candidate], *, wanted: int) -> list[Candidate]:
        """The list without repeats, and no document alone at its top."""
        settings = self.settings
        single = without_duplicates(candidates, threshold=settings.duplicate_threshold, wanted=wanted)
        various = diversified(single, diversity=settings.diversity, wanted=wanted)
        return spread(various, per_document=settings.per_document)

    def _explained(
        self, result: SearchResult, pool: _Pool, ranked: Sequence[Candidate], *, search_filter: SearchFilter
    ) -> SearchResult:
        idfs = store_idfs(result.query, store=self.store, lexical=self.lexical, search_filter=search_filter)
        hits = tuple(
            replace(
                hit,
                explanation=HitExplanation(
                    legs=(candidate.fused.dense, candidate.fused.bm25),
                    terms=term_shares(result.query, candidate.chunk, lexical=self.lexical, idfs=idfs),
                    fused_score=candidate.fused.score,
                    fused_rank=candidate.fused.rank,
                    support=candidate.support,
                    rerank=candidate.rerank,
                    duplicates=candidate.duplicates,
                    diversity=candidate.diversity,
                ),
            )
            for hit, candidate in zip(result.hits, ranked, strict=True)
        )
        duplicates = sum(len(candidate.duplicates) for candidate in ranked)
        explanation = SearchExplanation(
            fusion=self.settings.fusion,
            dense_weight=self.settings.dense_weight,
            stored=self.store.count(SearchFilter(collections=search_filter.collections)),
            searched=self.store.count(search_filter),
            dense_candidates=len(pool.legs.dense.found),
            bm25_candidates=len(pool.legs.bm25.found),
            fused=pool.fused,
            reranked=len(pool.best) if self.reranker and not result.warnings else 0,
            duplicates=duplicates,
            below_limit=pool.fused - len(ranked) - duplicates,
        )
        return replace(result, hits=hits, explanation=explanation)
