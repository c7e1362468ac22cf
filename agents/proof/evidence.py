"""Passages made ready for the proof: their sentences as tokens, what introduces them, and how telling each word is."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from agents.proof.lexicon import AT_LEAST, AT_MOST, SOFT_WORDS
from agents.proof.segments import Segment, SegmentKind, column_at, segment
from agents.proof.tokens import CONTENT_KINDS, Token, camel_parts, identifier_parts, stem, tokenise
from retrieval.types import Chunk

SOFT_WEIGHT = 0.25
"""Share of its weight that a word of ``SOFT_WORDS`` keeps; chosen on the first half of the seeded faults."""
FIGURE_WEIGHT = 1.0
SOFT_KEYS = frozenset(stem(word) for word in SOFT_WORDS)
NOUN_OF = {AT_MOST: stem("maximum"), AT_LEAST: stem("minimum")}
"""What a phrase says as a noun: what ``cannot exceed 1 MiB`` has a maximum of 1 MiB."""
_MARKUP = re.compile(
    r"\]\([^()\s]*(?:\s\"[^\"]*\")?\)|\]\[[^\][]*\]|<!--.*?-->|</?[a-zA-Z][^<>\n]{0,200}>|^\[[^\]]+\]:\s\S+",
    re.MULTILINE,
)
_UNDERSCORES = re.compile(r"(?<!\w)_{1,3}(?=\w)|(?<=\w)_{1,3}(?!\w)")
"""Emphasis; inside a name an underscore stays."""
_SHORTCODE = re.compile(r"\{\{[<%]\s*/?(.*?)[%>]\}\}", re.DOTALL)
_SHORTCODE_TEXT = re.compile(r"\btext=\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class Unit:
    """A sentence, list item, table row or line of code of a passage."""

    number: int
    passage: int
    kind: SegmentKind
    start: int
    end: int
    tokens: tuple[Token, ...]
    """Without function words and negations; offsets are those of the unit."""
    columns: tuple[int, ...]
    """Column of each token in the row of a table, -1 outside of tables."""
    negated: frozenset[int]
    """Clauses with an odd number of negations."""
    keys: frozenset[str]
    nouns: frozenset[str]
    """Keys of what its phrases say as nouns."""
    lead: int
    """Number of the unit that introduces this one, or -1."""
    context: frozenset[str]
    """Keys of the units that introduce it, one the other."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """All passages that the model was given, in prompt order."""

    chunks: tuple[Chunk, ...]
    units: tuple[Unit, ...]
    heading_keys: tuple[frozenset[str], ...]
    """Per passage: words of its title, its heading path, and the context that it was cut from."""
    passage_keys: tuple[frozenset[str], ...]
    postings: dict[str, tuple[int, ...]]
    """Units by key."""
    rarities: dict[str, float]
    """Weight of each key in the passages; any other has 1."""

    def weight(self, token: Token) -> float:
        """How much of a sentence hangs on this token; rare words weigh most, absent ones the same as the rarest."""
        if token.kind == "figure":
            return FIGURE_WEIGHT
        rarity = self.rarities.get(token.key, 1.0)
        return rarity * SOFT_WEIGHT if token.kind == "word" and token.key in SOFT_KEYS else rarity

    def leads(self, unit: Unit) -> Iterator[Unit]:
        """Units that introduce a unit, one the other, nearest first."""
        while unit.lead >= 0:
            unit = self.units[unit.lead]
            yield unit


def rarity_weight(frequency: int, total: int) -> float:
    """Inverse frequency in (0, 1]: 1 for a word in one unit or none, about 0.3 for one in half of all units."""
    if total < 2:
        return 1.0
    return max(0.2, min(1.0, math.log((total + 1) / max(frequency, 1)) / math.log(total + 1)))


def prepare(chunks: Sequence[Chunk]) -> Evidence:
    """Units of all passages with the look-ups that the proof needs; no passages give empty evidence."""
    units: list[Unit] = []
    postings: dict[str, list[int]] = {}
    passages: list[frozenset[str]] = []
    for number, chunk in enumerate(chunks):
        first = len(units)
        for unit in _units_of(chunk.text):
            lead = unit.lead + first if unit.lead >= 0 else -1
            placed = replace(unit, number=first + unit.number, passage=number, lead=lead)
            units.append(placed)
            for key in placed.keys:
                postings.setdefault(key, []).append(placed.number)
        passages.append(frozenset(key for unit in units[first:] for key in unit.keys) | _headings_of(chunk.text))
    return Evidence(
        chunks=tuple(chunks),
        units=tuple(units),
        heading_keys=tuple(
            keys_of(tokenise(f"{c.title}. {'. '.join(c.heading_path)}. {c.context}")) | _headings_of(c.text)
            for c in chunks
        ),
        passage_keys=tuple(passages),
        postings={key: tuple(numbers) for key, numbers in postings.items()},
        rarities={key: rarity_weight(len(numbers), len(units)) for key, numbers in postings.items()},
    )


def keys_of(tokens: Iterable[Token]) -> frozenset[str]:
    """Keys to look a claim's tokens up in; an identifier also counts by its segments and the words inside it."""
    keys: set[str] = set()
    for token in tokens:
        if token.kind == "stop":
            continue
        keys.add(token.key)
        if token.kind == "identifier":
            keys.update(_identifier_keys(token.text, token.key))
    return frozenset(keys)


def content(tokens: Iterable[Token]) -> list[Token]:
    """Tokens that say something: words, names, identifiers, figures."""
    return [token for token in tokens if token.kind in CONTENT_KINDS]


def odd_negations(tokens: Iterable[Token]) -> frozenset[int]:
    """Clauses with an odd number of negations; ``neither ... nor`` counts once."""
    odd: set[int] = set()
    for token in tokens:
        if token.kind == "negation":
            odd ^= {token.clause}
    return frozenset(odd)


def mask_markup(text: str) -> str:
    """The text with link targets, tags and shortcodes blanked, same length, so that offsets stay true."""
    if "_" in text:
        text = _UNDERSCORES.sub(lambda match: " " * len(match.group()), text)
    if "](" in text or "][" in text or "<" in text or "]:" in text:
        text = _MARKUP.sub(lambda match: _blank(match.group()), text)
    return _SHORTCODE.sub(_blank_shortcode, text) if "{{" in text else text


def word_counts(tokens: Iterable[Token]) -> Counter[str]:
    """How often each content key stands in the tokens."""
    return Counter(token.key for token in content(tokens))


@lru_cache(maxsize=8192)
def _identifier_keys(text: str, key: str) -> tuple[str, ...]:
    segments = identifier_parts(key)
    suffixes = [".".join(segments[i:]) for i in range(1, len(segments))]
    return (*segments, *suffixes, *camel_parts(text))


@lru_cache(maxsize=256)
def _units_of(text: str) -> tuple[Unit, ...]:
    masked = mask_markup(text)
    units: list[Unit] = []
    places: dict[int, int] = {}
    for number, part in enumerate(segment(masked)):
        if part.kind in ("rule", "heading"):
            continue
        places[number] = len(units)
        lead = places.get(part.lead, -1)
        context = units[lead].keys | units[lead].context if lead >= 0 else frozenset[str]()
        units.append(_unit(len(units), part, masked[part.start : part.end], lead, context))
    return tuple(units)


def _unit(number: int, part: Segment, text: str, lead: int, context: frozenset[str]) -> Unit:
    every = tokenise(text)
    tokens = tuple(token for token in every if token.kind not in ("stop", "negation"))
    row = part.kind == "row"
    return Unit(
        number=number,
        passage=0,
        kind=part.kind,
        start=part.start,
        end=part.end,
        tokens=tokens,
        columns=tuple(column_at(text, token.start) if row else -1 for token in tokens),
        negated=odd_negations(every),
        keys=keys_of(every),
        nouns=frozenset(NOUN_OF[token.key] for token in every if token.key in NOUN_OF),
        lead=lead,
        context=context,
    )


@lru_cache(maxsize=256)
def _headings_of(text: str) -> frozenset[str]:
    """Words of the headings inside a passage; a heading names what is spoken of and states nothing."""
    parts = [text[part.start : part.end] for part in segment(text) if part.kind == "heading"] if "#" in text else []
    return keys_of(token for part in parts for token in tokenise(part))


def _blank(text: str) -> str:
    return "".join("\n" if character == "\n" else " " for character in text)


def _blank_shortcode(match: re.Match[str]) -> str:
    shown = _SHORTCODE_TEXT.search(match.group())
    if shown is None:
        return _blank(match.group())
    whole, start = match.group(), shown.start(1)
    return _blank(whole[:start]) + shown[1] + _blank(whole[start + len(shown[1]) :])
