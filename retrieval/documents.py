"""Chunks of one document speak for each other, and do not fill the list alone. Pure: knows candidates, no store."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from retrieval.candidates import Candidate

_WITNESSES = 3
"""Chunks of a document that are asked; a document of one chunk has a third of the support that three such have."""


def with_support(candidates: Sequence[Candidate], *, weight: float) -> list[Candidate]:
    """Candidates with the support of their documents, best first.

    A document gives each of its chunks ``weight`` times the mean of its three best fused scores, missing ones as 0.
    Where every document is one chunk the order does not change.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    for candidate in candidates:
        scores[candidate.chunk.document_id].append(candidate.fused.score)
    support = {
        document: weight * sum(sorted(found, reverse=True)[:_WITNESSES]) / _WITNESSES
        for document, found in scores.items()
    }
    supported = [replace(candidate, support=support[candidate.chunk.document_id]) for candidate in candidates]
    return sorted(supported, key=lambda candidate: (-candidate.relevance, candidate.fused.rank))


def spread(candidates: Sequence[Candidate], *, per_document: int) -> list[Candidate]:
    """The same candidates, those behind the best ``per_document`` of each document at the end; 0 changes nothing."""
    if not per_document:
        return list(candidates)
    seen: Counter[str] = Counter()
    first: list[Candidate] = []
    later: list[Candidate] = []
    for candidate in candidates:
        seen[candidate.chunk.document_id] += 1
        (first if seen[candidate.chunk.document_id] <= per_document else later).append(candidate)
    return first + later
