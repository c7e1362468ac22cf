"""Figures and names that a claim takes from one sentence and gives to what another one speaks of. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from agents.proof.evidence import SOFT_KEYS, Evidence, Unit, content
from agents.proof.lexicon import LINKS, PRONOUNS, VALUE_NOUNS
from agents.proof.tokens import HARD_KINDS, Token, stem
from agents.proof.windows import Window, figure_places, found_in

LEAST_WORDS = 2
"""Words beside a value in its clause that say what it is of; with fewer, those of the whole claim do.

Of 70 figures that were borrowed from another sentence 66 are flagged so, 60 by the words of the clause alone.
"""
SHARED_WORDS = 2
"""Words of a claim that two sentences share wherever they stand, so that both speak of one matter."""
OPENING_WORDS = 4
"""Words at the start of the later sentence of which one is enough."""
_VALUE_KEYS = frozenset(stem(word) for word in VALUE_NOUNS)
_LINK = re.compile(rf"\W*(?:{'|'.join(LINKS)})\b", re.IGNORECASE)
_PRONOUN = re.compile(rf"\W*(?:\w+\W+){{0,4}}?(?:{'|'.join(PRONOUNS)})\b", re.IGNORECASE)
"""Among the first five words: further on it mostly stands for something of its own sentence."""


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


def scattered(claim: Sequence[Token], window: Window) -> Iterator[str]:
    """What speaks against a claim whose words stand in two sentences of a span that have nothing to do with each other.

    "The platform team backs up the database" is not what "The platform team owns the pager. The database is backed up
    at night." says. Sentences belong together that share a word of the claim, that a list, a table or a word like "it"
    joins, or of which one speaks of nothing but what the claim does ("Exit code 137 is shown").
    """
    if window.single:
        return
    said = [token for token in content(claim) if token.key not in SOFT_KEYS]
    held = {unit.number: {word.key for word in said if found_in(word, unit.keys)} for unit in window.units}
    main = max(window.units, key=lambda unit: len(held[unit.number]))
    shown = held[main.number] | {word.key for word in said if found_in(word, window.context)}
    for unit in window.units:
        added = held[unit.number] - shown
        if added and not any(
            _together(unit, other, held, window.evidence) for other in window.units if other is not unit
        ):
            word = next(word for word in said if word.key in added)
            yield f"the passage has {word.text!r} in another sentence, which speaks of something else"


def _together(one: Unit, other: Unit, held: Mapping[int, set[str]], evidence: Evidence) -> bool:
    """Whether two sentences of a span speak of one matter, as far as a claim's words show."""
    first, second = sorted((one, other), key=lambda unit: unit.number)
    shared = held[one.number] & held[other.number]
    if len(shared) >= SHARED_WORDS or any(token.key in shared for token in _opening(second)):
        return True
    leading, led = ({unit.number, *(lead.number for lead in evidence.leads(unit))} for unit in (first, second))
    if leading & led:
        return True
    known = _VALUE_KEYS.union(held[one.number], held[other.number])
    if any(all(t.key in known or t.key in SOFT_KEYS for t in content(unit.tokens)) for unit in (one, other)):
        return True
    text = _text(second, evidence)
    return _LINK.match(text) is not None or _PRONOUN.match(text) is not None


def _opening(unit: Unit) -> list[Token]:
    """The first words of a sentence, which mostly say what it speaks of."""
    return [token for token in content(unit.tokens) if token.key not in SOFT_KEYS][:OPENING_WORDS]


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
    return named_before and _PRONOUN.match(_text(owner, evidence)) is not None


def _text(unit: Unit, evidence: Evidence) -> str:
    return evidence.chunks[unit.passage].text[unit.start : unit.end]
