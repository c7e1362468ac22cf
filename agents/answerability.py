"""How likely it is that the documents hold no answer: signs of one search, weighed as questions of a corpus taught.

A logistic regression over what is known before the chat model is asked. It decides where ``answer.abstention_file``
brings weights (``python -m evals.abstention --method learned``); without them the rules of ``agents.abstention`` do.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from agents.coverage import telling_words, word_coverage
from agents.proof.evidence import prepare
from retrieval.embedders.protocol import Embedder
from retrieval.types import Hit

SIGNS = (
    "query_sentence",
    "question_sentence",
    "three_sentences",
    "earlier_sentence",
    "earlier_question",
    "best_three",
    "lead_of_ten",
    "lead_of_five",
    "bm25_lead",
    "first_rank",
    "first_coverage",
    "three_coverage",
)
"""Names of the signs.

An answer stands in a sentence, and a passage that is merely on the topic has none that is near: ``query_sentence``
and ``question_sentence`` are the best cosines of what was searched, and of the question as typed, to a sentence of the
first five hits, ``three_sentences`` the mean of the question's three best. A conversation keeps to its topic:
``earlier_sentence`` is the best cosine of the question before to those sentences (that of the question itself where
there is none), ``earlier_question`` the cosine of both questions (0 where there is none). ``best_three`` is the mean of
the three best cosines of passages; the leads are the best cosine less the tenth and the fifth, and the best BM25 score
less the tenth as a share of the best. ``first_rank`` adds the reciprocal ranks that both legs gave to the first hit.
The coverages are the shares of the question's telling words that stand in the first hit and in the first three.
"""
LOOKED_INTO = 5
"""Hits whose sentences are compared; docs/grounding.md has the time that takes."""
LEAST_WORDS = 4
"""Words of a sentence that can say something."""
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")


class LearnedDoubt(BaseModel):
    """Weights of the signs and the doubt from which no answer is given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights: dict[str, float]
    """Log-odds of "no answer" for one unit of each sign."""
    intercept: float
    threshold: float
    """Doubt in [0, 1] from which an answer is withheld."""

    @model_validator(mode="after")
    def _names_every_sign(self) -> Self:
        if set(self.weights) != set(SIGNS):
            raise ValueError("the weights are of other signs than this version computes; fit them again")
        return self

    def doubt(self, signs: Mapping[str, float]) -> float:
        """Probability in [0, 1] that the documents hold no answer."""
        odds = self.intercept + sum(weight * signs[name] for name, weight in self.weights.items())
        return 1 / (1 + math.exp(-max(-50.0, min(odds, 50.0))))


def answer_signs(
    question: str, query: str, hits: Sequence[Hit], embedder: Embedder, *, earlier: str = ""
) -> dict[str, float]:
    """The signs of one search. Blocks: it embeds the sentences of the first hits.

    Args:
        question: As typed.
        query: What was searched; the question with what it leaves out.
        hits: Of that search alone, best first, at least ten where there are so many.
        embedder: The one of the store.
        earlier: The question before this one in the conversation; empty without one.
    """
    cosines = _best([hit.scores.dense for hit in hits])
    bm25 = _best([hit.scores.bm25 for hit in hits])
    sentences = [sentence for hit in hits[:LOOKED_INTO] for sentence in _sentences(hit.chunk.text)]
    vectors = embedder.embed_documents(sentences or [""])
    asked = embedder.embed_query(question)
    by_question = sorted((vectors @ asked).tolist(), reverse=True)
    searched = asked if query == question else embedder.embed_query(query)
    before = embedder.embed_query(earlier) if earlier else asked
    first = hits[0].scores if hits else None
    return {
        "query_sentence": float((vectors @ searched).max()),
        "question_sentence": by_question[0],
        "three_sentences": sum(by_question[:3]) / len(by_question[:3]),
        "earlier_sentence": float((vectors @ before).max()),
        "earlier_question": float(before @ asked) if earlier else 0.0,
        "best_three": sum(cosines[:3]) / 3,
        "lead_of_ten": cosines[0] - cosines[9],
        "lead_of_five": cosines[0] - cosines[4],
        "bm25_lead": (bm25[0] - bm25[9]) / bm25[0] if bm25[0] else 0.0,
        "first_rank": sum(1 / rank for rank in (first.dense_rank, first.bm25_rank) if rank) if first else 0.0,
        "first_coverage": _coverage(question, hits[:1]),
        "three_coverage": _coverage(question, hits[:3]),
    }


def _coverage(question: str, hits: Sequence[Hit]) -> float:
    return word_coverage(telling_words(question), prepare([hit.chunk for hit in hits]))


def _best(scores: Sequence[float | None]) -> list[float]:
    """Scores from the best, at least ten; what a leg did not return counts 0."""
    found = sorted((score for score in scores if score is not None), reverse=True)
    return found + [0.0] * (10 - len(found))


def _sentences(text: str) -> list[str]:
    return [one for one in _SENTENCES.split(text) if len(one.split()) >= LEAST_WORDS] or [text]
