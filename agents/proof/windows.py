"""Which spans of the passages may carry a claim: single units, neighbours, and a list with what introduces it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from agents.proof.evidence import Evidence, Unit, content
from agents.proof.figures import NUMBER, Forms, read_figure
from agents.proof.lexicon import AT_LEAST, AT_MOST
from agents.proof.segments import column_at
from agents.proof.tokens import Token, camel_parts, identifier_parts, stem

MAX_SEEDS = 8
"""Units with the most of a claim's words that are looked at with their neighbours."""
MAX_JOINED = 6
"""Spans of several units per claim that are compared token by token, beside the single ones."""
HEADING_PROMISE = 0.7
"""Share of its weight that a word counts in the choice of spans when only a heading has it."""
MAX_QUOTE_CHARACTERS = 900
_WITH_UNIT = re.compile(rf"(?P<number>{NUMBER})[\s-]*(?P<unit>\D+)$")
_DATA_LINE = re.compile(r"\s*(?:\"[^\"\n]+\"\s*:|[{}\[\]])")
CITED_BONUS = 1.15
"""Factor for passages that the model itself cited; enough to break near ties, too little to beat a better span."""


BOUND_NOUNS: dict[str, str] = {stem("maximum"): "down", stem("minimum"): "up"}
"""Nouns that bound a figure, with the direction that ``lexicon.BOUND_GROUPS`` gives the phrases."""
NOUN_OF = {AT_MOST: stem("maximum"), AT_LEAST: stem("minimum")}
"""What a phrase says as a noun: what ``cannot exceed 1 MiB`` has a maximum of 1 MiB."""


@dataclass(frozen=True, slots=True)
class Window:
    """Neighbouring units of one passage that may together carry a claim."""

    passage: int
    start: int
    end: int
    tokens: tuple[Token, ...]
    """Without function words; offsets are those of the unit."""
    unit_of: tuple[int, ...]
    """Number of the unit of each token."""
    columns: tuple[int, ...]
    """Column of each token that stands in a row of a table, -1 of any other."""
    clauses: tuple[tuple[int, int], ...]
    """Unit and clause of each token."""
    negations: frozenset[tuple[int, int]]
    """Clauses with an odd number of negations."""
    text: str
    keys: frozenset[str]
    """Of its units; a table row has those of its header as well."""
    shown: frozenset[str]
    """Of its units alone."""
    context: frozenset[str]
    """Words that introduce the span: headings, title, the sentence before a list, the header of a table."""
    leads: tuple[int, ...] = ()
    """Numbers of the units before it that introduce its own, sentences and headers of tables, nearest first."""
    data: bool = False
    """Whether it is entries of a JSON object alone."""

    @property
    def single(self) -> bool:
        """Whether it is one unit."""
        return len(set(self.unit_of)) <= 1


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


def odd_negations(tokens: Sequence[Token], clauses: Sequence[tuple[int, int]]) -> frozenset[tuple[int, int]]:
    """Clauses with an odd number of negations; ``neither ... nor`` counts once."""
    odd: set[tuple[int, int]] = set()
    for token, clause in zip(tokens, clauses, strict=True):
        if token.kind == "negation":
            odd ^= {clause}
    return frozenset(odd)


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
        yield window(evidence, (seed,))
    runs = dict.fromkeys(run for seed in seeds for run in _runs(seed, evidence, overlap))
    short = [run for run in runs if _characters(run, evidence) <= MAX_QUOTE_CHARACTERS]
    for run in sorted(short, key=lambda run: -_promise(run, asked, evidence, cited))[:MAX_JOINED]:
        yield window(evidence, run)


def window(evidence: Evidence, run: tuple[int, ...]) -> Window:
    """The units of a run as one span."""
    units = [evidence.units[number] for number in run]
    placed = [(token, unit.number) for unit in units for token in unit.tokens]
    passage = units[0].passage
    context = set(evidence.heading_keys[passage])
    shown = {key for unit in units for key in unit.keys}
    shown |= {NOUN_OF[token.key] for unit in units for token in unit.tokens if token.key in NOUN_OF}
    keys, leads = set(shown), set[int]()
    for unit in units:
        if unit.kind == "row" and unit.lead >= 0:
            keys |= evidence.units[unit.lead].keys
        lead = unit.lead
        while lead >= 0:
            context |= evidence.units[lead].keys
            if evidence.units[lead].kind in ("sentence", "row") and lead < run[0]:
                leads.add(lead)
            lead = evidence.units[lead].lead
    clauses = [(number, token.clause) for token, number in placed]
    negations = odd_negations([token for token, _ in placed], clauses)
    text = evidence.chunks[passage].text[units[0].start : units[-1].end]
    kept = [i for i, (token, _) in enumerate(placed) if token.kind not in ("stop", "negation")]
    return Window(
        passage=passage,
        start=units[0].start,
        end=units[-1].end,
        tokens=tuple(placed[i][0] for i in kept),
        unit_of=tuple(placed[i][1] for i in kept),
        columns=tuple(_column(*placed[i], evidence) for i in kept),
        clauses=tuple(clauses[i] for i in kept),
        negations=negations,
        text=text,
        keys=frozenset(keys),
        shown=frozenset(shown),
        context=frozenset(context),
        leads=tuple(sorted(leads, reverse=True)),
        data=_is_data(text),
    )


def _column(token: Token, number: int, evidence: Evidence) -> int:
    unit = evidence.units[number]
    if unit.kind != "row":
        return -1
    return column_at(evidence.chunks[unit.passage].text[unit.start : unit.end], token.start)


def _is_data(text: str) -> bool:
    """Whether every line is an entry of a JSON object; a passage may lack the fence of its block."""
    return all(_DATA_LINE.match(line) for line in text.splitlines() if line.strip())


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


def _promise(run: Sequence[int], asked: Sequence[Token], evidence: Evidence, cited: Collection[int]) -> float:
    """Weight of the claim's tokens that a run or its headings hold, less a little for length."""
    units = [evidence.units[number] for number in run]
    passage = units[0].passage
    headings = evidence.heading_keys[passage]
    held = 0.0
    for token in asked:
        if any(found_in(token, unit.keys) for unit in units):
            held += evidence.weight(token)
        elif found_in(token, headings):
            held += evidence.weight(token) * HEADING_PROMISE
    return held * (CITED_BONUS if passage in cited else 1.0) - 0.0004 * _characters(run, evidence)


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    return "".join(character for character in text if character.isalnum())
