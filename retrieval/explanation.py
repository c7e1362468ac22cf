"""Why a hit stands where it stands, step by step: what a command, the API and the UI show. Values alone, no drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

LegName: TypeAlias = Literal["dense", "bm25"]
SearchWarningCode: TypeAlias = Literal["rerank_failed", "rerank_timeout"]


@dataclass(frozen=True, slots=True)
class LegShare:
    """What one leg gave to a hit; the contributions of both legs add up to its fused score.

    Attributes:
        leg: Which leg.
        rank: One-based place within the leg; None where the chunk is not among the best that the leg returned.
        score: The leg's own score: a cosine, or a BM25 score, also of chunks that only the other leg returned; None
            for a chunk that has none of the question's terms.
        normalised: The score on the scale of the fusion: about 0 to 1 for what the leg returned, lower for the rest.
        weight: Weight of the leg in this search.
        contribution: ``weight * normalised``.
    """

    leg: LegName
    rank: int | None
    score: float | None
    normalised: float
    weight: float
    contribution: float


@dataclass(frozen=True, slots=True)
class TermShare:
    """What one term of the question gave to the BM25 score of a hit.

    Attributes:
        spelling: The term as the question spells it, lower case.
        term: The indexed form: the stem of a word, a name whole or in its parts.
        count: How often the chunk has it, title and headings included; 0 for a term that it lacks.
        idf: Inverse document frequency in the store; None where no chunk that the filter lets through has the term.
        contribution: Its part of the chunk's BM25 score; 0 for a term that the chunk lacks.
    """

    spelling: str
    term: str
    count: int
    idf: float | None
    contribution: float


@dataclass(frozen=True, slots=True)
class FeatureShare:
    """One feature of a learned ranker: its value, and what it added to the score."""

    name: str
    value: float
    contribution: float


@dataclass(frozen=True, slots=True)
class RerankShare:
    """What the reranker said of a hit.

    Attributes:
        reranker: Kind and model, such as ``learned 1``.
        score: On the reranker's own scale, higher is better.
        rank_before: One-based place among the candidates that it was given.
        rank_after: One-based place in the reranker's order.
        features: What the score is made of, largest contribution first; empty for rerankers that do not say.
    """

    reranker: str
    score: float
    rank_before: int
    rank_after: int
    features: tuple[FeatureShare, ...] = ()


@dataclass(frozen=True, slots=True)
class DiversityShare:
    """What maximal marginal relevance did to a hit.

    Attributes:
        similarity: To the most similar hit that stands before it, 0 to 1.
        penalty: What that took from its relevance.
        rank_before: One-based place before.
    """

    similarity: float
    penalty: float
    rank_before: int


@dataclass(frozen=True, slots=True)
class HitExplanation:
    """Everything that put one hit at its rank.

    Attributes:
        legs: The dense leg, then the lexical leg.
        terms: Every term of the question in its order, also those that the chunk lacks.
        fused_score: Sum of the legs' contributions.
        fused_rank: One-based place in the fused order.
        support: What the best chunks of the same document added to the fused score, this one among them.
        rerank: None where nothing was reranked, or the chunk stood too low to be.
        duplicates: Ids of chunks that were left out because they say the same as this one.
        diversity: None where maximal marginal relevance is off.
    """

    legs: tuple[LegShare, ...]
    terms: tuple[TermShare, ...]
    fused_score: float
    fused_rank: int
    support: float = 0.0
    rerank: RerankShare | None = None
    duplicates: tuple[str, ...] = ()
    diversity: DiversityShare | None = None


@dataclass(frozen=True, slots=True)
class SearchExplanation:
    """What happened to a search as a whole: from the chunks of the store to the hits.

    Attributes:
        fusion: How scores of both legs became one.
        dense_weight: Weight of the dense leg in this search, 0 to 1.
        stored: Chunks in the collections of the filter; with no collections named, in the whole store. Collections
            bound what a person may see, so nothing outside them is counted.
        searched: Chunks that the whole filter lets through; the rest of ``stored`` was cut by it.
        dense_candidates: Chunks that the dense leg returned.
        bm25_candidates: Chunks that the lexical leg returned.
        fused: Different chunks of both legs together.
        reranked: Chunks that the reranker scored.
        duplicates: Chunks left out as near duplicates of better ones.
        below_limit: Chunks that were ranked but not asked for.
    """

    fusion: Literal["minmax", "dbsf", "rrf"]
    dense_weight: float
    stored: int
    searched: int
    dense_candidates: int
    bm25_candidates: int
    fused: int
    reranked: int
    duplicates: int
    below_limit: int
