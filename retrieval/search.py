"""One question to ranked hits: embed, both legs, fusion. Knows no chat model; callers in async code use a thread."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from retrieval.candidates import Candidate, fuse_legs
from retrieval.embedders.protocol import Embedder
from retrieval.explanation import HitExplanation, SearchExplanation, TermShare
from retrieval.lexical import LexicalEncoder
from retrieval.settings import SearchSettings
from retrieval.store.protocol import VectorStore
from retrieval.terms import matched_spellings, store_idfs, term_shares
from retrieval.types import Hit, SearchFilter, SearchResult, SearchTimings

_NO_FILTER = SearchFilter()


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one store with both legs. Safe to call from several threads."""

    embedder: Embedder
    store: VectorStore
    lexical: LexicalEncoder
    settings: SearchSettings

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
        limit_of_leg = max(self.settings.candidates, wanted)
        sparse = self.lexical.encode_query(query)
        with self.store.visibility.reading():
            dense = self.store.search_dense(vector, search_filter=search_filter, limit=limit_of_leg)
            bm25 = self.store.search_lexical(sparse, search_filter=search_filter, limit=limit_of_leg)
        candidates = fuse_legs(dense, bm25, method=self.settings.fusion, dense_weight=self.settings.dense_weight)
        hits = tuple(
            Hit(rank, candidate.chunk, candidate.scores(), matched_spellings(query, candidate.chunk))
            for rank, candidate in enumerate(candidates[:wanted], start=1)
        )
        ended = time.perf_counter()
        timings = SearchTimings(
            embed=1000 * (embedded - started),
            search=1000 * (ended - embedded),
            rerank=0.0,
            total=1000 * (ended - started),
        )
        result = SearchResult(query, hits, timings)
        if not explain:
            return result
        explanation = SearchExplanation(
            fusion=self.settings.fusion,
            dense_weight=self.settings.dense_weight,
            weight_reason="fixed",
            stored=self.store.count(SearchFilter(collections=search_filter.collections)),
            searched=self.store.count(search_filter),
            dense_candidates=len(dense),
            bm25_candidates=len(bm25),
            fused=len(candidates),
            reranked=0,
            duplicates=0,
            below_limit=max(len(candidates) - wanted, 0),
        )
        return replace(
            result, hits=self._explained(query, hits, candidates, search_filter=search_filter), explanation=explanation
        )

    def _explained(
        self, query: str, hits: Sequence[Hit], candidates: Sequence[Candidate], *, search_filter: SearchFilter
    ) -> tuple[Hit, ...]:
        idfs = store_idfs(query, store=self.store, lexical=self.lexical, search_filter=search_filter)
        by_id = {candidate.chunk.chunk_id: candidate for candidate in candidates}
        return tuple(
            replace(
                hit,
                explanation=_explain(
                    by_id[hit.chunk.chunk_id], term_shares(query, hit.chunk, lexical=self.lexical, idfs=idfs)
                ),
            )
            for hit in hits
        )


def _explain(candidate: Candidate, terms: tuple[TermShare, ...]) -> HitExplanation:
    return HitExplanation(
        legs=(candidate.dense, candidate.bm25),
        terms=terms,
        fused_score=candidate.fused_score,
        fused_rank=candidate.fused_rank,
    )
