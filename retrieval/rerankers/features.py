"""What the learned ranker looks at: cheap figures of a candidate, from both legs and from the words of its text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from retrieval.analyser import analyse, terms_of
from retrieval.candidates import Candidate
from retrieval.types import Chunk, index_text

FEATURES = (
    "order",
    "cosine",
    "coverage",
    "heading_coverage",
    "phrase",
    "proximity",
    "names",
    "names_bm25",
    "long_query_dense",
)
"""Names of the features, in the order of ``feature_matrix``.

``order`` is what the candidates come ordered by: the fused score and the support of the document. ``cosine`` is raw.
Coverage is the share of the question's terms that the chunk has, or that its title and headings have, each term
weighted by its inverse frequency among the candidates. ``phrase`` is the share of the question's neighbouring terms
that are also neighbours in the text, ``proximity`` how near the found terms stand, ``names`` the share of the
question's exact names that stand there letter for letter. The last two make the weights of the legs depend on the
question: words count more where it has exact names, meaning counts more the longer it is.
"""

_LONG_QUERY_TERMS = 12.0
# Words with a digit or a joint inside, with a capital inside, or in capitals alone: what people type letter for letter.
_NAME = re.compile(r"(?<!\w)(?:--?)?(?=\w*(?:[0-9]|\w[-_./:]\w|[a-z][A-Z]|[A-Z]{2}))\w+(?:[-_./:]+\w+)*", re.ASCII)


def exact_names(query: str) -> tuple[str, ...]:
    """Words of a question that are names of things rather than words, as it spells them: flags, codes, identifiers."""
    return tuple(dict.fromkeys(match[0] for match in _NAME.finditer(query)))


def feature_matrix(query: str, candidates: Sequence[Candidate]) -> NDArray[np.float64]:
    """Features of each candidate, shape ``(len(candidates), len(FEATURES))``, rows in the order of the candidates."""
    if not candidates:
        return np.zeros((0, len(FEATURES)))
    terms = list(dict.fromkeys(analyse(query)))
    names = exact_names(query)
    texts = [terms_of(index_text(candidate.chunk)) for candidate in candidates]
    weights = _weights(terms, [set(text) for text in texts])
    length = min(len(terms) / _LONG_QUERY_TERMS, 1.0)
    rows: list[list[float]] = []
    for candidate, text in zip(candidates, texts, strict=True):
        fused, found = candidate.fused, set(text)
        rows.append(
            [
                fused.score + candidate.support,
                fused.dense.score or 0.0,
                _coverage(weights, found),
                _coverage(weights, set(terms_of(_headings(candidate.chunk)))),
                _phrase(terms, text),
                _proximity(set(terms) & found, text),
                _names_found(names, candidate.chunk),
                fused.bm25.normalised if names else 0.0,
                fused.dense.normalised * length,
            ]
        )
    return np.asarray(rows, dtype=np.float64)


def _headings(chunk: Chunk) -> str:
    return " ".join([chunk.title, *chunk.heading_path])


def _weights(terms: Sequence[str], texts: Sequence[set[str]]) -> dict[str, float]:
    """Inverse frequency of each term among the candidates, in Lucene's form."""
    total = len(texts)
    counts = {term: sum(term in text for text in texts) for term in terms}
    return {term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()}


def _coverage(weights: Mapping[str, float], found: set[str]) -> float:
    whole = sum(weights.values())
    return sum(weight for term, weight in weights.items() if term in found) / whole if whole else 0.0


def _phrase(terms: Sequence[str], text: Sequence[str]) -> float:
    wanted = set(pairwise(terms))
    return len(wanted & set(pairwise(text))) / len(wanted) if wanted else 0.0


def _proximity(found: set[str], text: Sequence[str]) -> float:
    """Found terms per term of the shortest stretch that has them all; 0 for fewer than two."""
    if len(found) < 2:
        return 0.0
    places = [(place, term) for place, term in enumerate(text) if term in found]
    inside: Counter[str] = Counter()
    shortest, start = len(text), 0
    for place, term in places:
        inside[term] += 1
        while inside[places[start][1]] > 1:
            inside[places[start][1]] -= 1
            start += 1
        if len(inside) == len(found):
            shortest = min(shortest, place - places[start][0] + 1)
    return min(len(found) / shortest, 1.0)


def _names_found(names: Sequence[str], chunk: Chunk) -> float:
    text = index_text(chunk)
    return sum(name in text for name in names) / len(names) if names else 0.0
