"""Which spans of the passages may carry a claim: single units, neighbours, and a list with what introduces it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from agents.proof.evidence import Evidence, Unit, content
from agents.proof.figures import NUMBER, Forms, read_figure
from agents.proof.tokens import Token, camel_parts, identifier_parts, stem

MAX_SEEDS = 8
"""Units with the most of a claim's words that are looked at with their neighbours."""
MAX_JOINED = 6
"""Spans of several units per claim that are compared token by token, beside the single ones."""
HEADING_PROMISE = 0.7
"""Share of its weight that a word counts in the choice of spans when only a heading has it."""
MAX_QUOTE_CHARACTERS = 900
_WITH_UNIT = re.compile(rf"(?P<number>{NUMBER})[\s-]*(?P<unit>\D+)$")
_NO_LETTERS = re.compile(r"[\W_]+")
_DATA_LINE = re.compile(r"\s*(?:\"[^\"\n]+\"\s*:|[{}\[\]])")
CITED_BONUS = 1.15
"""Factor for passages that the model itself cited; enough to break near ties, too little to beat a better span."""


BOUND_NOUNS: dict[str, str] = {stem("maximum"): "down", stem("minimum"): "up"}
"""Nouns that bound a figure, with the direction that ``lexicon.BOUND_GROUPS`` gives the phrases."""


_NO_KEYS = frozenset[str]()


@dataclass(frozen=True)
class Window:
    """Neighbouring units of one passage that may together carry a claim; what few spans are asked for is made then."""

    units: tuple[Unit, ...]
    evidence: Evidence

    @property
    def passage(self) -> int:
        """Number of the passage."""
        return self.units[0].passage

    @property
    def start(self) -> int:
        """Offset in the passage."""
        return self.units[0].start

    @property
    def end(self) -> int:
        """Offset in the passage, exclusive."""
        return self.units[-1].end

    @property
    def single(self) -> bool:
        """Whether it is one unit."""
        return len(self.units) == 1

    @property
    def data(self) -> bool:
        """Whether it is entries of a JSON object alone; a passage may lack the fence of its block."""
        return all(_DATA_LINE.match(line) for line in self.text.splitlines() if line.strip())

    @cached_property
    def text(self) -> str:
        """As it stands in the passage."""
        return self.evidence.chunks[self.passage].text[self.start : self.end]

    @cached_property
    def keys(self) -> frozenset[str]:
        """Of its units; a table row has those of its header as well."""
        rows = (unit for unit in self.units if unit.kind == "row" and unit.lead >= 0)
        return self.shown.union(*(self.evidence.units[row.lead].keys for row in rows))

    @cached_property
    def shown(self) -> frozenset[str]:
        """Of its units alone."""
        return _NO_KEYS.union(*(unit.keys for unit in self.units), *(unit.nouns for unit in self.units))

    @cached_property
    def context(self) -> frozenset[str]:
        """Words that introduce the span: headings, title, the sentence before a list, the header of a table."""
        return self.evidence.heading_keys[self.passage].union(*(unit.context for unit in self.units))

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Without function words and negations; offsets are those of the unit."""
        return tuple(token for unit in self.units for token in unit.tokens)

    @cached_property
    def unit_of(self) -> tuple[int, ...]:
        """Number of the unit of each token."""
        return tuple(unit.number for unit in self.units for _ in unit.tokens)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """Column of each token that stands in a row of a table, -1 of any other."""
        return tuple(column for unit in self.units for column in unit.columns)

    @cached_property
    def clauses(self) -> tuple[tuple[int, int], ...]:
        """Unit and clause of each token."""
        return tuple((unit.number, token.clause) for unit in self.units for token in unit.tokens)

    @cached_property
    def negations(self) -> frozenset[tuple[int, int]]:
        """Clauses with an odd number of negations."""
        return frozenset((unit.number, clause) for unit in self.units for clause in unit.negated)

    @cached_property
    def leads(self) -> tuple[int, ...]:
        """Numbers of the units before it that introduce its own, sentences and headers of tables, nearest first."""
        leads = (lead for unit in self.units for lead in self.evidence.leads(unit))
        told = {lead.number for lead in leads if lead.kind in ("sentence", "row")}
        return tuple(sorted((number for number in told if number < self.units[0].number), reverse=True))


def found_in(token: Token, keys: Collection[str]) -> bool:
    """Whether a set of keys holds a token, a dotted or slashed identifier also by all of its segments."""
    if token.key in keys:
        return True
    segments = identifier_parts(token.key) if token.kind == "identifier" else []
    return len(segments) > 1 and all(part in keys for part in segments)


def figure_places(token: Token, w: Window) -> list[int]:
    """Where a span holds a figure; a table may hold the bare number and name the unit in its header."""
    places = [i for i, other in enumerate(w.tokens) if other.forms and not token.forms.isdisjoint(other.forms)]
    unit = "" if places else unit_of(token)
    if not unit or stem(unit) not in w.context | w.keys:
        return places
    bare = without_unit(token)
    return [i for i, other in enumerate(w.tokens) if other.forms and not bare.isdisjoint(other.forms)]


def unit_of(figure: Token) -> str:
    """The unit that a figure is written with, lower-case; empty without one."""
    match = _WITH_UNIT.match(figure.text)
    return match["unit"].lower() if match else ""


def without_unit(figure: Token) -> Forms:
    """What the number of a figure may mean alone; nothing for one without a unit."""
    match = _WITH_UNIT.match(figure.text)
    return read_figure(match["number"]) if match else frozenset()


def held_by(token: Token, w: Window) -> bool:
    """Whether a span holds a token, or what introduces it a word or name; ``initContainers`` also in words."""
    if token.kind == "figure":
        return bool(figure_places(token, w))
    if found_in(token, w.keys) or found_in(token, w.context):
        return True
    return token.kind == "identifier" and _letters(token.key) in _letters(w.text.lower())


def candidates(claim: Sequence[Token], evidence: Evidence, cited: Collection[int]) -> Iterator[Window]:
    """Spans worth comparing with a claim: single units with most of its words first, then several together."""
    asked = content(claim)
    overlap: dict[int, float] = {}
    for token in {token.key: token for token in asked}.values():
        weight = evidence.weight(token)
        for number in _units_with(token, evidence):
            overlap[number] = overlap.get(number, 0.0) + weight
    for number in overlap:
        if evidence.units[number].passage in cited:
            overlap[number] *= CITED_BONUS
    seeds = sorted(overlap, key=lambda number: (-overlap[number], number))[:MAX_SEEDS]
    for seed in seeds:
        yield _window((seed,), evidence)
    runs = dict.fromkeys(run for seed in seeds for run in _runs(seed, evidence, overlap))
    short = [run for run in runs if _characters(run, evidence) <= MAX_QUOTE_CHARACTERS]
    promising = _Promise(asked, evidence, cited)
    for run in sorted(short, key=promising.of, reverse=True)[:MAX_JOINED]:
        yield _window(run, evidence)


def _window(run: Sequence[int], evidence: Evidence) -> Window:
    return Window(tuple(evidence.units[number] for number in run), evidence)


def _units_with(token: Token, evidence: Evidence) -> Sequence[int]:
    direct = evidence.postings.get(token.key, ())
    if direct or token.kind != "identifier":
        return direct
    parts = [evidence.postings.get(part, ()) for part in identifier_parts(token.key) + camel_parts(token.text)]
    return min((part for part in parts if part), key=len, default=())


def _runs(seed: int, evidence: Evidence, overlap: Collection[int]) -> list[tuple[int, ...]]:
    units = evidence.units
    unit = units[seed]
    before = seed - 1 if seed and units[seed - 1].passage == unit.passage else None
    after = seed + 1 if seed + 1 < len(units) and units[seed + 1].passage == unit.passage else None
    runs: list[tuple[int, ...]] = []
    if before is not None:
        runs.append((before, seed))
    if after is not None:
        runs.append((seed, after))
    if before is not None and after is not None:
        runs.append((before, seed, after))
    listed = _list_run(unit, evidence, overlap)
    kinds = ({evidence.units[number].kind for number in run} for run in runs)
    # The last line of a block of code and the table behind it say nothing together.
    apart = [run for run, of_run in zip(runs, kinds, strict=True) if not {"code", "row"} <= of_run]
    return [*apart, listed] if listed else apart


def _list_run(unit: Unit, evidence: Evidence, overlap: Collection[int]) -> tuple[int, ...] | None:
    """From what introduces a list, table or block of code to its last unit that shares words with the claim."""
    if unit.lead < 0 or unit.kind == "sentence":
        return None
    last = unit.number
    for number in range(unit.number + 1, min(unit.number + 12, len(evidence.units))):
        other = evidence.units[number]
        if other.passage != unit.passage or other.kind != unit.kind:
            break
        last = number if number in overlap else last
    run = tuple(range(unit.lead, last + 1))
    return run if len(run) <= 16 else None


def _characters(run: Sequence[int], evidence: Evidence) -> int:
    return evidence.units[run[-1]].end - evidence.units[run[0]].start


class _Promise:
    """Weight of a claim's words that a run or its headings hold, less a little for length."""

    def __init__(self, asked: Sequence[Token], evidence: Evidence, cited: Collection[int]) -> None:
        self._weights: dict[str, float] = {}
        for token in asked:
            self._weights[token.key] = self._weights.get(token.key, 0.0) + evidence.weight(token)
        self._dotted = [token for token in asked if token.kind == "identifier" and len(identifier_parts(token.key)) > 1]
        self._evidence = evidence
        self._cited = cited
        self._held: dict[int, frozenset[str]] = {}

    def of(self, run: Sequence[int]) -> float:
        evidence = self._evidence
        passage = evidence.units[run[0]].passage
        held = _NO_KEYS.union(*(self._held_by_unit(number) for number in run))
        headed = self._among(evidence.heading_keys[passage])
        weight = 0.0
        for key, own in self._weights.items():
            if key in held:
                weight += own
            elif key in headed:
                weight += own * HEADING_PROMISE
        return weight * (CITED_BONUS if passage in self._cited else 1.0) - 0.0004 * _characters(run, evidence)

    def _held_by_unit(self, number: int) -> frozenset[str]:
        if number not in self._held:
            self._held[number] = self._among(self._evidence.units[number].keys)
        return self._held[number]

    def _among(self, keys: frozenset[str]) -> frozenset[str]:
        dotted = [token.key for token in self._dotted if found_in(token, keys)]
        return (keys & self._weights.keys()).union(dotted)


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text)
