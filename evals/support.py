"""A second opinion on claims: does this quote carry this sentence? Shares no code with the proof it judges.

Words and figures alone: every figure of the claim stands in the quotes, a denial is a denial there too, and half of the
words that the question did not bring are there. It knows no synonyms and no order, so it is a check of the proof and
not a proof.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from retrieval.analyser import analyse

ENOUGH_WORDS = 0.5
"""Share of a claim's own words that its quotes must hold; a paraphrase keeps its nouns and changes the rest."""
_FIGURE = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")
_DENIALS = re.compile(
    r"\b(?:not|no(?!\s+(?:more|less|fewer|longer|later|earlier)\s+than\b)|never|none|nor|neither|cannot|without)\b|n['’]t\b",
    re.IGNORECASE,
)
"""A bound (``no more than 5,000``) says what ``up to 5,000`` does and denies nothing."""
_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_NUMBER_WORDS = {word: str(number) for number, word in enumerate(_WORDS)}


def is_supported(claim: str, quotes: Sequence[str], *, question: str = "") -> bool:
    """Whether the quotes together carry the claim; without quotes nothing does.

    Args:
        claim: One sentence of an answer.
        quotes: Stored text that it points to.
        question: What was asked; its words and figures need no support.
    """
    text = "\n".join(quotes)
    if not text.strip():
        return False
    given = _figures(question)
    if _figures(claim) - given - _figures(text):
        return False
    if _DENIALS.search(claim) and not _DENIALS.search(text) and not _DENIALS.search(question):
        return False
    own = set(analyse(claim)) - set(analyse(question))
    words = own or set(analyse(claim))
    return not words or len(words & set(analyse(text))) >= ENOUGH_WORDS * len(words)


def _figures(text: str) -> set[str]:
    """Figures as digits, thousands without marks; the small number words as well."""
    digits = {match.replace(",", "") for match in _FIGURE.findall(text)}
    return digits | {_NUMBER_WORDS[word] for word in re.findall(r"[a-z]+", text.lower()) if word in _NUMBER_WORDS}
