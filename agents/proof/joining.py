"""Figures and names that a claim takes from one sentence and gives to what another one speaks of. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.proof.evidence import SOFT_KEYS, Evidence, Unit, content
from agents.proof.lexicon import LINKS, PRONOUNS, VALUE_NOUNS
from agents.proof.tokens import HARD_KINDS, Token, stem
from agents.proof.windows import Window, figure_places, found_in

LEAST_WORDS = 2
"""Words beside a value in its clause that say what it is of; with fewer, those of the whole claim do.

Of 70 figures that were borrowed from another sentence 66 are flagged so, 60 by the words of the clause alone.
"""
_VALUE_KEYS = frozenset(stem(word) for word in VALUE_NOUNS)
_LINK = re.compile(rf"\W*(?:{'|'.join(LINKS)})\b", re.IGNORECASE)
_PRONOUN = re.compile(rf"\b(?:{'|'.join(PRONOUNS)})\b", re.IGNORECASE)


def borrowed(claim: Sequence[Token], window: Window) -> Iterator[str]:
    """What speaks against a figure or name of a claim that stands in one sentence of a span, all else in another one.

    "Backups are kept for 14 days" is not what "Logs are kept for 14 days. Backups are kept in the archive." says. A
    sentence that leans on the one before gives and takes ("It is 14 days", "The default is 14 days"), and so does one
    that a list or a table joins to the other.
    """
    if window.single:
        return
    said = [token for token in content(claim) if token.key not in SOFT_KEYS]
    for value in claim:
        if value.kind not in HARD_KINDS:
            continue
        others = [word for word in said if word != value and word.kind != "figure"]
        beside = [word for word in others if word.clause == value.clause]
        words = beside if len(beside) >= LEAST_WORDS else others
        owners = [unit for unit in window.units if words and all(found_in(word, unit.keys) for word in words)]
        givers = _holding(value, window)
        joins = any(_joined(giver, owner, value, claim, window.evidence) for giver in givers for owner in owners)
        if givers and owners and not joins:
            yield f"the passage has {value.text!r} in another sentence, which speaks of something else"


def _holding(value: Token, window: Window) -> list[Unit]:
    """Units that hold a figure or name; none where what introduces them holds it."""
    if value.kind == "figure":
        numbers = {window.unit_of[place] for place in figure_places(value, window)}
        return [unit for unit in window.units if unit.number in numbers]
    if found_in(value, window.context):
        return []
    return [unit for unit in window.units if found_in(value, unit.keys)]


def _joined(giver: Unit, owner: Unit, value: Token, claim: Sequence[Token], evidence: Evidence) -> bool:
    """Whether a sentence with a value says it of what another one speaks of; no pronoun stands for a figure."""
    leading, led = ({unit.number, *(lead.number for lead in evidence.leads(unit))} for unit in (owner, giver))
    known = _VALUE_KEYS.union(token.key for token in claim)
    foreign = any(token.kind != "figure" and token.key not in known for token in content(giver.tokens))
    if leading & led or not foreign:
        return True
    if giver.number == owner.number + 1:
        return _LINK.match(_text(giver, evidence)) is not None
    named_before = value.kind != "figure" and giver.number < owner.number
    return named_before and _PRONOUN.search(_text(owner, evidence)) is not None


def _text(unit: Unit, evidence: Evidence) -> str:
    return evidence.chunks[unit.passage].text[unit.start : unit.end]
