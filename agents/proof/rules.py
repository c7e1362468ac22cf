"""What speaks against a claim when it is laid beside a span: one function a rule, findings in plain words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from agents.proof.alignment import Gap, Pair, agree, gaps
from agents.proof.evidence import SOFT_KEYS, Evidence
from agents.proof.figures import dimensions
from agents.proof.joining import borrowed, scattered
from agents.proof.lexicon import BOUND_GROUPS, OPPOSITES
from agents.proof.tables import misplaced
from agents.proof.tokens import CONTENT_KINDS, HARD_KINDS, Token, stem
from agents.proof.windows import BOUND_NOUNS, Window, figure_places, held_by

NEAR_VERBATIM = 0.5
"""Share of a claim's weight that must stand in the span in the same order before single words are held against it."""
SAME_ORDER = 0.6
"""Share from which on a claim counts as following the order of the span."""
VERBATIM = 0.8
"""Share from which on a figure in its place needs no look at its neighbours."""
GAP_REACH = 3
"""Most tokens on either side of a gap that count as one thing said in place of another."""
UNIT_DISTANCE = 6
"""Tokens that the border between two sentences counts for, when the nearest figure of a word is looked for."""

_OPPOSITES: dict[str, frozenset[str]] = {}
for _left, _right in OPPOSITES:
    for _one, _other in ((stem(_left), stem(_right)), (stem(_right), stem(_left))):
        _OPPOSITES[_one] = _OPPOSITES.get(_one, frozenset()) | {_other}
_ANCHOR_KINDS = frozenset({"word", "name", "identifier", "bound"})
_PREFIXES = ("un", "non", "dis", "de")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that keeps a claim from being verified by a span.

    ``contradiction``: the span says the contrary. ``conflict``: it says something else here. ``gap``: it does not say
    this.
    """

    severity: Literal["contradiction", "conflict", "gap"]
    message: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim laid beside a span."""

    claim: tuple[Token, ...]
    """Without function words and negations."""
    claim_negations: frozenset[int]
    window: Window
    pairs: tuple[Pair, ...]
    aligned_share: float
    """Share of the claim's weight that is in ``pairs``."""
    evidence: Evidence
    given: frozenset[str]
    """Words of the question."""


Rule = Callable[[Comparison], list[Finding]]


def hard_tokens(comparison: Comparison) -> list[Finding]:
    """Every figure, name and identifier must stand in the span; names may stand in what introduces it."""
    findings: list[Finding] = []
    for token in comparison.claim:
        if token.kind in HARD_KINDS and not held_by(token, comparison.window):
            findings.append(_missing(token, comparison))
    return findings


def compounds(comparison: Comparison) -> list[Finding]:
    """A name of several words (``booking-api``) is another one where the span has only some of them (``bookings``)."""
    findings: list[Finding] = []
    for before, token in pairwise(comparison.claim):
        if not token.hyphenated or before.end + 1 != token.start:
            continue
        if held_by(before, comparison.window) != held_by(token, comparison.window):
            findings.append(Finding("gap", f"{f'{before.text}-{token.text}'!r} does not stand in the passage"))
    return findings


def bounds(comparison: Comparison) -> list[Finding]:
    """``at least 5`` is not ``at most 5``; a bound on a bare figure of the span is not found."""
    findings: list[Finding] = []
    window = comparison.window
    for number, token in enumerate(comparison.claim):
        if token.kind != "figure":
            continue
        mine = _bound_of(comparison.claim, number)
        theirs = {_bound_of(window.tokens, i) for i, other in enumerate(window.tokens) if agree(token, other)}
        if mine is None or not theirs or mine in theirs:
            continue
        groups = {BOUND_GROUPS[other] for other in theirs if other}
        if groups and BOUND_GROUPS[mine] not in groups:
            findings.append(Finding("contradiction", f"the passage bounds {token.text!r} the other way round"))
        elif BOUND_GROUPS[mine] in {group for key, group in BOUND_NOUNS.items() if key in window.keys}:
            continue
        elif not groups or None not in theirs:
            findings.append(Finding("conflict", f"the passage does not say {mine.replace('-', ' ')} {token.text!r}"))
    return findings


def polarity(comparison: Comparison) -> list[Finding]:
    """A clause may not be denied on one side alone, unless an opposite word makes up for it."""
    window = comparison.window
    by_clause: dict[int, list[bool]] = {}
    for pair in comparison.pairs:
        token = comparison.claim[pair.claim]
        if token.kind in ("bound", "contrast"):
            continue
        mine = token.clause in comparison.claim_negations
        theirs = window.clauses[pair.span] in window.negations
        by_clause.setdefault(token.clause, []).append(mine != theirs)
    flipped = {token.clause for token, _ in _opposed(comparison)}
    findings: list[Finding] = []
    for clause, differs in by_clause.items():
        differing = sum(differs) * 2 > len(differs)
        if differing and clause not in flipped:
            denied = clause in comparison.claim_negations
            side = "the answer denies what the passage says" if denied else "the passage denies what the answer says"
            near = comparison.aligned_share >= NEAR_VERBATIM
            findings.append(Finding("contradiction" if near else "conflict", side))
    unplaced = comparison.claim_negations - set(by_clause)
    if unplaced and not window.negations:
        findings.append(Finding("gap", "the passage has no such negation"))
    return findings


def opposites(comparison: Comparison) -> list[Finding]:
    """``enabled`` where the span has ``disabled``, and the like."""
    window = comparison.window
    findings: list[Finding] = []
    for token, other in _opposed(comparison):
        mine = token.clause in comparison.claim_negations
        if mine == any(clause in window.negations for clause in window.clauses):
            findings.append(Finding("contradiction", f"the passage says {other!r}, not {token.text!r}"))
    return findings


def replaced(comparison: Comparison) -> list[Finding]:
    """In nearly the same words, a word in place of another one is not the same statement."""
    if comparison.aligned_share < NEAR_VERBATIM or len(comparison.pairs) < 2:
        return []
    findings: list[Finding] = []
    for gap in gaps(comparison.claim, comparison.window.tokens, comparison.pairs, GAP_REACH):
        if len(gap.claim) <= GAP_REACH and len(gap.span) <= GAP_REACH:
            findings.extend(_held_against(gap, comparison))
    return [*findings, *_swapped(comparison)]


def binding(comparison: Comparison) -> list[Finding]:
    """A figure belongs to the words beside it: no other figure of the span may stand nearer to them."""
    findings: list[Finding] = []
    settled = {pair.claim for pair in comparison.pairs} if comparison.aligned_share >= VERBATIM else set[int]()
    for number, token in enumerate(comparison.claim):
        if token.kind != "figure" or number in settled or not held_by(token, comparison.window):
            continue
        beside = [t for t in comparison.claim if t.clause == token.clause and t.kind in _ANCHOR_KINDS]
        against = [word for word in beside if _nearness(token, word, comparison) == "other"]
        if against and not any(_nearness(token, word, comparison) == "own" for word in beside):
            message = f"the passage ties {token.text!r} to something else than {against[0].text!r}"
            findings.append(Finding("conflict", message))
    return findings


def belonging(comparison: Comparison) -> list[Finding]:
    """A value of a table belongs to its column and row, what a sentence says to what it speaks of."""
    claim, window = comparison.claim, comparison.window
    findings = [Finding("conflict", message) for message in misplaced(claim, window, comparison.evidence)]
    return findings + [Finding("gap", message) for message in (*borrowed(claim, window), *scattered(claim, window))]


def displaced(comparison: Comparison) -> list[Finding]:
    """A word that the span lacks, beside a word that has another neighbour there: ``the scheduler restarts it``."""
    findings: list[Finding] = []
    for number, token in enumerate(comparison.claim):
        if token.kind not in CONTENT_KINDS or token.key in SOFT_KEYS or held_by(token, comparison.window):
            continue
        rival = _neighbour_there(number, 1, comparison) or _neighbour_there(number, -1, comparison)
        if rival is not None:
            findings.append(Finding("gap", f"the passage says {rival.text!r} where the answer says {token.text!r}"))
    return findings


def moved(comparison: Comparison) -> list[Finding]:
    """In nearly the same order, a name or figure whose place is taken by another one there plays another part."""
    if comparison.aligned_share < SAME_ORDER:
        return []
    settled = {pair.claim for pair in comparison.pairs}
    findings: list[Finding] = []
    for number, token in enumerate(comparison.claim):
        if number in settled or token.kind not in HARD_KINDS or not held_by(token, comparison.window):
            continue
        rivals = [_neighbour_there(number, step, comparison) for step in (1, -1)]
        if any(rival and rival.kind in HARD_KINDS and not agree(rival, token) for rival in rivals):
            findings.append(Finding("conflict", f"{token.text!r} stands in another place of the sentence"))
    return findings


RULES: tuple[Rule, ...] = (
    hard_tokens,
    compounds,
    bounds,
    polarity,
    opposites,
    replaced,
    displaced,
    moved,
    binding,
    belonging,
)


def _missing(token: Token, comparison: Comparison) -> Finding:
    if token.kind != "figure":
        return Finding("gap", f"{token.text!r} does not stand in the passage")
    known = {other.key for other in comparison.claim if other.kind == "figure"}
    kinds = dimensions(token.forms)
    rivals = [
        other.text
        for other in sorted(comparison.window.tokens, key=lambda other: _digits(other.text) != _digits(token.text))
        if other.kind == "figure" and other.key not in known and kinds & dimensions(other.forms)
    ]
    elsewhere = any(agree(token, other) for unit in comparison.evidence.units for other in unit.tokens if other.forms)
    if rivals and not elsewhere:
        return Finding("contradiction", f"the passage says {rivals[0]!r}, not {token.text!r}")
    return Finding("gap", f"the figure {token.text!r} does not stand in the passage")


def _digits(text: str) -> str:
    return "".join(character for character in text if character.isdigit())


def _bound_of(tokens: Sequence[Token], number: int) -> str | None:
    """The bound right before a figure, or right behind it (``5 or more``)."""
    for place in (number - 1, number - 2, number + 1):
        if not 0 <= place < len(tokens) or tokens[place].kind != "bound":
            continue
        if place > number and not tokens[place].text.lower().startswith("or"):
            continue
        between = tokens[min(place, number) + 1 : max(place, number)]
        if tokens[place].clause == tokens[number].clause and all(token.kind != "figure" for token in between):
            return tokens[place].key
    return None


def _opposed(comparison: Comparison) -> list[tuple[Token, str]]:
    """Words of the claim that the span lacks while it has an opposite that the claim lacks."""
    found: list[tuple[Token, str]] = []
    keys = comparison.window.keys
    claimed = {token.key for token in comparison.claim}
    for token in comparison.claim:
        if token.kind not in ("word", "name") or token.key in keys:
            continue
        for other in sorted(_opposites_of(token.key, keys) - claimed):
            found.append((token, next((t.text for t in comparison.window.tokens if t.key == other), other)))
            break
    return found


def _opposites_of(key: str, keys: frozenset[str]) -> set[str]:
    found = {other for other in _OPPOSITES.get(key, ()) if other in keys}
    for prefix in _PREFIXES:
        if len(key) > 4 and prefix + key in keys:
            found.add(prefix + key)
        if key.startswith(prefix) and len(key) > len(prefix) + 4 and key[len(prefix) :] in keys:
            found.add(key[len(prefix) :])
    return found


def _neighbour_there(number: int, step: int, comparison: Comparison) -> Token | None:
    """What stands in the span on this side of the word that follows (or precedes) a word of the claim."""
    claim, window = comparison.claim, comparison.window
    beside = number + step
    if not 0 <= beside < len(claim) or claim[beside].clause != claim[number].clause:
        return None
    for place, token in enumerate(window.tokens):
        there = place - step
        if (
            agree(token, claim[beside])
            and 0 <= there < len(window.tokens)
            and window.clauses[there] == window.clauses[place]
        ):
            rival = window.tokens[there]
            if rival.key not in SOFT_KEYS and _comparable(claim[number], rival):
                return rival
    return None


def _held_against(gap: Gap, comparison: Comparison) -> list[Finding]:
    mine = [token for token in gap.claim if not _said(token, gap, comparison)]
    theirs = [token for token in gap.span if not any(agree(token, other) for other in gap.claim)]
    claimed = {token.key for token in comparison.claim}
    findings: list[Finding] = []
    for token in mine:
        if gap.at_edge and token.key in SOFT_KEYS:
            continue
        rivals = [other for other in theirs if _comparable(token, other) and not _yields(token, other, claimed)]
        if rivals:
            hard = token.kind in HARD_KINDS and rivals[0].kind in HARD_KINDS
            severity = "contradiction" if hard and not gap.at_edge else "conflict"
            findings.append(Finding(severity, f"the passage says {rivals[0].text!r}, not {token.text!r}"))
        elif token.kind in ("contrast", "modal") and token.key not in comparison.given:
            findings.append(Finding("conflict", f"the passage does not say {token.text!r}"))
    if not gap.at_edge:
        findings.extend(Finding("conflict", f"the passage adds {t.text!r}") for t in theirs if t.kind == "contrast")
    return findings


def _yields(token: Token, other: Token, claimed: set[str]) -> bool:
    """Whether a soft word stands where the span has another soft word, or a word that the claim says elsewhere."""
    return token.key in SOFT_KEYS and (other.key in SOFT_KEYS or other.key in claimed)


def _said(token: Token, gap: Gap, comparison: Comparison) -> bool:
    """Whether the span says this token after all: in this gap, or as a word that stands elsewhere in it."""
    if any(agree(token, other) for other in gap.span):
        return True
    if token.kind in ("figure", "modal", "bound", "contrast"):
        return False
    if comparison.aligned_share >= VERBATIM and not gap.at_edge:
        return False
    return held_by(token, comparison.window)


def _comparable(token: Token, other: Token) -> bool:
    """Whether one may stand in the other's place."""
    if token.kind == "modal" or other.kind == "modal":
        return token.kind == other.kind
    if token.kind == "bound" or other.kind == "bound":
        return token.kind == other.kind
    if "contrast" in (token.kind, other.kind):
        return False
    return (token.kind == "figure") == (other.kind == "figure")


def _swapped(comparison: Comparison) -> list[Finding]:
    """Two things that changed places while everything around them stayed."""
    found = gaps(comparison.claim, comparison.window.tokens, comparison.pairs, 1)
    exchanged = [
        (gap.claim[0], gap.span[0])
        for gap in found
        if len(gap.claim) == 1 and len(gap.span) == 1 and not agree(gap.claim[0], gap.span[0])
    ]
    for number, (mine, theirs) in enumerate(exchanged):
        for other_mine, other_theirs in exchanged[number + 1 :]:
            if agree(mine, other_theirs) and agree(theirs, other_mine):
                message = f"{mine.text!r} and {other_mine.text!r} have changed places"
                return [Finding("contradiction", message)]
    return []


def _nearness(figure: Token, word: Token, comparison: Comparison) -> Literal["own", "other", "none"]:
    """Which figure of the span stands nearest to a word of the claim: the claim's own, another one, or no telling."""
    window = comparison.window
    places = figure_places(figure, window)
    anchors = [
        i
        for i, token in enumerate(window.tokens)
        if not token.forms and agree(token, word) and not _in_another_cell(i, places, window)
    ]
    own = _distance(anchors, places, window)
    if own is None:
        return "none"
    kinds = dimensions(figure.forms)
    rivals = [
        i
        for i, token in enumerate(window.tokens)
        if token.forms and i not in places and (own >= UNIT_DISTANCE or kinds & dimensions(token.forms))
    ]
    nearest = _distance(anchors, rivals, window)
    if nearest is None or own < nearest:
        return "own"
    return "other" if nearest < own else "none"


def _in_another_cell(word: int, places: Sequence[int], window: Window) -> bool:
    """Whether a word and figures of a table stand in different cells: being near says nothing there."""
    own = (window.unit_of[word], window.columns[word])
    return window.columns[word] >= 0 and all(
        window.columns[place] >= 0 and (window.unit_of[place], window.columns[place]) != own for place in places
    )


def _distance(anchors: Sequence[int], places: Sequence[int], window: Window) -> int | None:
    """Tokens between the closest two; the border of a unit counts ``UNIT_DISTANCE``."""
    if not anchors or not places:
        return None
    unit_of = window.unit_of
    return min(abs(a - p) + UNIT_DISTANCE * abs(unit_of[a] - unit_of[p]) for a in anchors for p in places)
