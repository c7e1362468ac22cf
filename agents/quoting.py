"""An answer in the documents' own words, for when none of the model's can be proved: the sentence that was asked for.

It is chosen by the words of the question alone, so it is given only where one sentence holds nearly all of them; then
it is proved and cited like any answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.proof.evidence import Evidence, Unit, content
from agents.proof.tokens import Token, tokenise
from agents.proof.windows import found_in

LEAST_COVERAGE = 0.7
"""Least share of the question's telling words that the sentence and its headings hold."""
LEAST_OWN = 0.5
"""Least share that the sentence holds without its headings."""
LONGEST = 400
"""Characters of a sentence with what introduces it; more is no answer."""
_ASKS_FIGURE = re.compile(
    r"\bhow\s+(?:many|much|long|large|big|often|high|old|far|fast)\b|\b(?:maximum|minimum|default|size|limit|port|ports|range|code)\b",
    re.IGNORECASE,
)
_ASKS_WHY_OR_HOW = re.compile(r"^\W*(?:why|how\s+(?:do|can|to|does|should))\b", re.IGNORECASE)
"""Questions for a reason or for steps; one sentence that repeats their words answers neither."""


def quoted_answer(question: str, evidence: Evidence) -> str | None:
    """The sentence that holds what was asked, with what introduces it; None where no sentence does."""
    if _ASKS_WHY_OR_HOW.search(question):
        return None
    asked = list({token.key: token for token in content(tokenise(question))}.values())
    total = sum(evidence.weight(token) for token in asked)
    if len(asked) < 2 or not total:
        return None
    best = max(evidence.units, key=lambda unit: _held(asked, unit, evidence), default=None)
    if best is None:
        return None
    own = sum(evidence.weight(token) for token in asked if found_in(token, best.keys)) / total
    if own < LEAST_OWN or _held(asked, best, evidence) / total < LEAST_COVERAGE:
        return None
    if _ASKS_FIGURE.search(question) and not _says_new_figure(best, asked):
        return None
    return _text(best, evidence)


def _held(asked: Sequence[Token], unit: Unit, evidence: Evidence) -> float:
    """Weight of the question's words that a unit, what introduces it, or its headings hold; own words count most."""
    nothing: frozenset[str] = frozenset()
    above = evidence.heading_keys[unit.passage] | (evidence.units[unit.lead].keys if unit.lead >= 0 else nothing)
    return sum(
        evidence.weight(token) * (1.0 if found_in(token, unit.keys) else 0.8 if found_in(token, above) else 0.0)
        for token in asked
    )


def _says_new_figure(unit: Unit, asked: Sequence[Token]) -> bool:
    known = {token.key for token in asked}
    return any(token.kind in ("figure", "identifier") and token.key not in known for token in unit.tokens)


def _text(unit: Unit, evidence: Evidence) -> str | None:
    first = evidence.units[unit.lead] if unit.lead >= 0 else unit
    text = evidence.chunks[unit.passage].text
    alone, introduced = text[unit.start : unit.end].strip(), text[first.start : first.end].strip()
    whole = alone if first is unit or unit.kind == "row" else f"{introduced}\n\n{alone}"
    return next((shown for shown in (whole, alone) if len(shown) <= LONGEST), None)
