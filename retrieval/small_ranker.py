"""Ranks a handful of texts that are never stored, those attached to one chat, by BM25 over the terms of our analyser.

Knows no store and no vectors: for so few texts an index would cost more than it saves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from retrieval.analyser import analyse


class RankedText(NamedTuple):
    """Place of a text in the input, and its BM25 score; 0 for one that shares no term with the query."""

    position: int
    score: float


def rank_small(query: str, texts: Sequence[str]) -> list[RankedText]:
    """The texts best first; those that score alike, and those that share no term, in the order of the input.

    ``BM25Plus`` of the library gives every term of the query its lower bound, whether a text holds the term or not, so
    that a long text is not overtaken by one without the term (Lv and Zhai, 2011). What a text without any term would
    get is taken off, so that 0 means "shares no term". Its idf, ``ln((n + 1) / df)``, stays positive where there are
    two or three texts and each holds the term; that of ``BM25Okapi`` does not.
    """
    from rank_bm25 import BM25Plus

    terms = [analyse(text) for text in texts]
    asked = list(dict.fromkeys(analyse(query)))
    if not asked or not any(terms):
        return [RankedText(position, 0.0) for position in range(len(texts))]
    # A text without terms cannot be indexed beside the others' lengths; one of nothing stands for what matches nothing.
    scores = cast("list[float]", BM25Plus([*terms, []], k1=1.2, b=0.75).get_scores(asked).tolist())
    nothing = scores.pop()
    ranked = [RankedText(position, max(0.0, score - nothing)) for position, score in enumerate(scores)]
    return sorted(ranked, key=lambda entry: (-entry.score, entry.position))
