"""How much of a question's words stands in passages: the cheapest sign of whether they speak of what it asks."""

from __future__ import annotations

from collections.abc import Sequence

from agents.proof.evidence import Evidence, content
from agents.proof.tokens import Token, tokenise
from agents.proof.windows import found_in

FEW_WORDS = 3
"""In a question this short (``exit code 255``) a figure is what is asked about; in a longer one it is an example."""


def telling_words(question: str) -> list[Token]:
    """Different content words of a question, in its order."""
    asked = {token.key: token for token in content(tokenise(question))}
    return [token for token in asked.values() if token.kind != "figure" or len(asked) <= FEW_WORDS]


def word_coverage(words: Sequence[Token], evidence: Evidence) -> float:
    """Share in [0, 1] of the words, rare ones weighing more, that stand in the passages or their headings."""
    keys = all_keys(evidence)
    weights = {token.key: evidence.weight(token) for token in words}
    total = sum(weights.values())
    return sum(weights[token.key] for token in words if found_in(token, keys)) / total if total else 0.0


def all_keys(evidence: Evidence) -> frozenset[str]:
    """Keys of all words of the passages and of their headings."""
    return frozenset(key for keys in (*evidence.passage_keys, *evidence.heading_keys) for key in keys)
