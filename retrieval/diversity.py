"""Passages that say the same: near duplicates left out, and maximal marginal relevance. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from retrieval.candidates import Candidate
from retrieval.explanation import DiversityShare
from retrieval.resemblance import resemblance, say_the_same


def without_duplicates(candidates: Sequence[Candidate], *, threshold: float, wanted: int) -> list[Candidate]:
    """Candidates in their order, without those that say the same as a better one; that one names them.

    Args:
        candidates: Best first.
        threshold: Resemblance from which two passages say the same; above 1 nothing is compared.
        wanted: Candidates kept before the rest is passed on as it is: further down nobody looks.
    """
    if threshold > 1:
        return list(candidates)
    kept: list[Candidate] = []
    for place, candidate in enumerate(candidates):
        if len(kept) == wanted:
            return kept + list(candidates[place:])
        text = candidate.chunk.text
        better = next(
            (index for index, one in enumerate(kept) if say_the_same(text, one.chunk.text, threshold=threshold)), None
        )
        if better is None:
            kept.append(candidate)
        else:
            found = kept[better]
            kept[better] = replace(found, duplicates=(*found.duplicates, candidate.chunk.chunk_id))
    return kept


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
    texts = [candidate.chunk.text for candidate in candidates]
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
            nearest[index] = max(nearest[index], resemblance(texts[index], texts[best]))
    return chosen + [candidates[index] for index in left]
