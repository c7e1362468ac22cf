"""The question's terms in a chunk: which it has, what each weighs, what each gave to the BM25 score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from retrieval.analyser import analyse, terms_of, tokens
from retrieval.explanation import TermShare
from retrieval.lexical import LexicalEncoder, term_id
from retrieval.store.protocol import VectorStore
from retrieval.types import Chunk, SearchFilter, SparseVector, index_text


def matched_spellings(asked: Mapping[str, str], chunk: Chunk) -> tuple[str, ...]:
    """The question's words that the chunk has in any form, as the question spells them, in its order.

    Args:
        asked: ``spellings`` of the question.
        chunk: Where they are looked for.
    """
    terms = set(terms_of(index_text(chunk)))
    return tuple(dict.fromkeys(spelling for term, spelling in asked.items() if term in terms))


def spellings(query: str) -> dict[str, str]:
    """How the question spells each of its terms, in its order."""
    return {token.term: token.spelling for token in tokens(query)}


def store_idfs(
    query: str, *, store: VectorStore, lexical: LexicalEncoder, search_filter: SearchFilter
) -> dict[str, float]:
    """Inverse document frequency of each term of the question, as the store has it; terms that it lacks are left out.

    A store does not tell its frequencies. It tells the best chunk for one term alone, whose score is the term's weight
    in the chunk, which is known, times the frequency asked for. One search a term, so it is for explanations.

    Raises:
        StoreUnavailable: The store cannot be read.
    """
    idfs: dict[str, float] = {}
    for term in spellings(query):
        alone = SparseVector((term_id(term),), (1.0,))
        for best in store.search_lexical(alone, search_filter=search_filter, limit=1):
            for chunk in store.fetch([best.chunk_id]):
                if weight := _weights(chunk, lexical).get(term_id(term)):
                    idfs[term] = best.score / weight
    return idfs


def term_shares(
    query: str, chunk: Chunk, *, lexical: LexicalEncoder, idfs: Mapping[str, float]
) -> tuple[TermShare, ...]:
    """What each term of the question gave to a chunk's BM25 score, in the question's order."""
    counts = Counter(analyse(index_text(chunk)))
    weights = _weights(chunk, lexical)
    return tuple(
        TermShare(
            spelling=spelling,
            term=term,
            count=counts[term],
            idf=idfs.get(term),
            contribution=idfs.get(term, 0.0) * weights.get(term_id(term), 0.0),
        )
        for term, spelling in spellings(query).items()
    )


def _weights(chunk: Chunk, lexical: LexicalEncoder) -> dict[int, float]:
    vector = lexical.encode_document(index_text(chunk))
    return dict(zip(vector.indices, vector.values, strict=True))
