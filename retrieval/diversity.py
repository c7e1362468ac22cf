"""Passages that say the same: near duplicates left out, and maximal marginal relevance. Pure: compares words alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.candidates import Candidate
from retrieval.explanation import DiversityShare

_SHINGLE = 3
"""Words in a row that are compared (Broder, "On the resemblance and containment of documents", 1997)."""


def resemblance(first: str, second: str) -> float:
    """Share of the runs of three words of two texts that both have, 0 to 1; case and spacing do not count."""
    return _jaccard(_shingles(first), _shingles(second))


def without_duplicates(candidates: Sequence[Candidate], *, threshold: float, wanted: int) -> list[Candidate]:
    """Candidates in their order, without those that resemble a better one; that one names them.

    Args:
        candidates: Best first.
        threshold: Resemblance from which two passages say the same; above 1 nothing is compared.
        wanted: Candidates kept before the rest is passed on as it is: further down nobody looks.
    """
    if threshold > 1:
        return list(candidates)
    kept: list[tuple[Candidate, frozenset[int]]] = []
    for place, candidate in enumerate(candidates):
        if len(kept) == wanted:
            return [found for found, _ in kept] + list(candidates[place:])
        shingles = _shingles(candidate.chunk.text)
        better = next((index for index, (_, other) in enumerate(kept) if _jaccard(shingles, other) >= threshold), None)
        if better is None:
            kept.append((candidate, shingles))
        else:
            found, other = kept[better]
            kept[better] = (replace(found, duplicates=(*found.duplicates, candidate.chunk.chunk_id)), other)
    return [found for found, _ in kept]


def diversified(candidates: Sequence[Candidate], *, diversity: float, wanted: int) -> list[Candidate]:
    """Candidates by maximal marginal relevance: each next one is relevant and unlike those before it.

    Carbonell and Goldstein, "The use of MMR", SIGIR 1998: ``(1 - diversity) * relevance - diversity * similarity``,
    relevance on [0, 1] over the candidates, similarity the resemblance to the nearest one chosen.

    Args:
        candidates: Best first.
        diversity: 0 leaves the order as it is, 1 looks at novelty alone.
        wanted: Candidates chosen before the rest follows in its order.
    """
    if diversity == 0 or len(candidates) < 2:
        return list(candidates)
    relevances = [candidate.relevance for candidate in candidates]
    low, width = min(relevances), (max(relevances) - min(relevances)) or 1.0
    shingles = [_shingles(candidate.chunk.text) for candidate in candidates]
    left = list(range(len(candidates)))
    nearest = [0.0] * len(candidates)
    chosen: list[Candidate] = []
    while left and len(chosen) < wanted:
        best = max(
            left,
            key=lambda index: (
                (1 - diversity) * (relevances[index] - low) / width - diversity * nearest[index],
                -index,
            ),
        )
        left.remove(best)
        share = DiversityShare(nearest[best], diversity * nearest[best], best + 1)
        chosen.append(replace(candidates[best], diversity=share))
        for index in left:
            nearest[index] = max(nearest[index], _jaccard(shingles[index], shingles[best]))
    return chosen + [candidates[index] for index in left]


def _shingles(text: str) -> frozenset[int]:
    words = text.lower().split()
    runs = zip(*(words[start:] for start in range(_SHINGLE)), strict=False) if len(words) >= _SHINGLE else [words]
    return frozenset(hash(tuple(run)) for run in runs)


def _jaccard(first: frozenset[int], second: frozenset[int]) -> float:
    both = len(first & second)
    either = len(first) + len(second) - both
    return both / either if either else 0.0
