"""Text into the tokens that the proof compares: words, names, identifiers, figures, bounds, negations."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Literal, NamedTuple, TypeAlias, cast

import snowballstemmer

from agents.proof.figures import NUMBER, UNIT, Forms, is_unit_word, read_figure, read_number_word, scale
from agents.proof.lexicon import (
    A_FIGURE,
    BOUND_PHRASES,
    CLAUSE_STARTS,
    CONTRASTS,
    IDLE_PHRASES,
    MONTHS,
    NEGATIONS,
    SAME,
    STOP_WORDS,
    STRONG_MODALS,
    WEAK_MODALS,
)

TokenKind: TypeAlias = Literal["word", "name", "identifier", "figure", "bound", "negation", "contrast", "modal", "stop"]
_NO_FORMS: Forms = frozenset()


class Token(NamedTuple):
    """One unit of meaning; ``key`` is its form for comparison, ``clause`` counts clauses from 0."""

    kind: TokenKind
    text: str
    key: str
    start: int
    end: int
    clause: int
    forms: Forms = _NO_FORMS
    hyphenated: bool = False
    """Joined by a hyphen to what stands before it."""


CONTENT_KINDS: frozenset[TokenKind] = frozenset({"word", "name", "identifier", "figure"})
HARD_KINDS: frozenset[TokenKind] = frozenset({"name", "identifier", "figure"})
"""Kinds that must be found in the passage as they are."""

_BOUNDS = [(re.compile(pattern.replace(A_FIGURE, ""), re.IGNORECASE), key) for pattern, key in BOUND_PHRASES]
_BOUND = re.compile("|".join(rf"(?:{pattern})\b" for pattern, _ in BOUND_PHRASES), re.IGNORECASE)
_IDLE = re.compile("|".join(rf"(?:{pattern})\b" for pattern in IDLE_PHRASES), re.IGNORECASE)
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"(?:{_MONTH})\s+\d{{1,2}}(?:st|nd|rd|th)?,?\s+\d{{4}}(?!\d)|\d{{1,2}}\s+(?:{_MONTH}),?\s+\d{{4}}(?!\d)",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    rf"""
    (?P<word>(?:\.(?<![\w.)]\.))?[^\W\d_](?:\w|['’](?=[^\W\d_])|[-./:_@](?=\w))*|_\w+)
    |(?P<symbol><=|>=|≤|≥|[<>](?=\s?\d))
    |(?=[-\d+−$€£~/])(?:
        (?P<isodate>\d{{4}}-\d\d-\d\d(?!\d))
        |(?P<flag>(?<![\w-])--[a-zA-Z][\w.-]*\w)
        |(?P<path>(?<![\w.<])~?/[\w.*-]+(?:/[\w.*-]+)*)
        |(?P<version>\d+(?:\.\d+){{2,}}(?:/\d+)?\b)
        |(?P<figure>(?:(?<![\w)\]%.-])[-−+])?[$€£]?(?<![\w.])(?:{NUMBER})(?:{UNIT}|(?![\w])))
        |(?P<mixed>\d\w*)
    )
    |(?P<punctuation>[,;:()!?—–|]|\.(?=\s|$))
    """,
    re.VERBOSE,
)
_CAMEL = re.compile(r"[a-z\d][A-Z]|[A-Z]{2,}[a-z]")
_ACRONYM_PLURAL = re.compile(r"[A-Z]{2,}s")
_SPLIT = re.compile(r"[-./:@]")
_BOUND_OPENERS = frozenset(
    {"can", "cannot", "can't", "can’t", "must", "may", "should", "does", "do", "will", "is", "not", "never", "no", "at"}
    | {"a", "the", "or", "up", "capped", "limited", "more", "greater", "larger", "higher", "longer", "exceed", "in"}
    | {"exceeds", "exceeded", "exceeding", "less", "fewer", "smaller", "lower", "shorter"}
)
_SYMBOLS = {"<=": "at-most", "≤": "at-most", ">=": "at-least", "≥": "at-least", "<": "less-than", ">": "more-than"}
_VALUE_WORDS = NEGATIONS | STRONG_MODALS | WEAK_MODALS | CONTRASTS
"""Capitalised inside a sentence these are values, as in ``restartPolicy: Never``."""
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
# The stemmer keeps the word it works on in itself, so threads take turns.
_STEMMER_TURN = Lock()
_STEM_WORD = cast(Callable[[str], str], snowballstemmer.stemmer("english").stemWord)
_REPRESENTATIVE: dict[str, str] = {_STEM_WORD(word): _STEM_WORD(group[0]) for group in SAME for word in group[1:]}


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """English stem of a lower-case word, one for all words of the same meaning; other scripts stay as they are."""
    with _STEMMER_TURN:
        found = _STEM_WORD(word)
    return _REPRESENTATIVE.get(found, found)


@lru_cache(maxsize=4096)
def tokenise(text: str) -> tuple[Token, ...]:
    """Tokens of a text in order; none for text without words."""
    tokens: list[Token] = []
    clause, at_start, skip_to = 0, True, 0
    for match in _TOKEN.finditer(text):
        start = match.start()
        if start < skip_to:
            continue
        group = match.lastgroup
        if group == "punctuation":
            clause += 1
            at_start = at_start or match.group() not in ",()"
            continue
        phrase = _phrase(text, match)
        if phrase is not None:
            tokens.append(phrase._replace(clause=clause))
            skip_to = phrase.end
        elif group == "word":
            for kind, part, key, offset, forms, opens in _words(match.group(), at_start):
                clause += opens
                first, end = start + offset, start + offset + len(part)
                tokens.append(Token(kind, part, key, first, end, clause, forms, offset > 0 and text[first - 1] == "-"))
        else:
            tokens.append(_single(str(group), match.group(), start, clause))
        at_start = False
    return tuple(_join_number_words(tokens))


def identifier_parts(key: str) -> list[str]:
    """Dotted, slashed and dashed segments of an identifier's key, for partial agreement."""
    return [part for part in re.split(r"[./:@=]", key) if part]


def camel_parts(text: str) -> list[str]:
    """Stems of the words inside an identifier: ``backoffLimit`` gives ``backoff`` and ``limit``."""
    spaced = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return [stem(part.lower()) for part in re.split(r"[\W_]+", spaced) if len(part) > 1]


def _phrase(text: str, match: re.Match[str]) -> Token | None:
    """A bound, a written date or an idle phrase that begins here and spans several words."""
    if match.lastgroup == "word":
        first = match.group().lower()
        if first == "in" and (idle := _IDLE.match(text, match.start())):
            return Token("stop", idle.group(), idle.group().lower(), idle.start(), idle.end(), 0)
        pattern = _BOUND if first in _BOUND_OPENERS else _DATE if first in MONTHS else None
    else:
        pattern = _DATE if match.lastgroup == "figure" else None
    found = pattern.match(text, match.start()) if pattern else None
    if found is None:
        return None
    phrase, start, end = found.group(), found.start(), found.end()
    if pattern is _DATE:
        return Token("identifier", phrase, _date_key(phrase), start, end, 0)
    key = next(key for one, key in _BOUNDS if one.fullmatch(phrase))
    return Token("bound", phrase, key, start, end, 0)


def _single(group: str, text: str, start: int, clause: int) -> Token:
    end = start + len(text)
    if group == "figure":
        forms = read_figure(text)
        return Token("figure", text, _figure_key(forms, text), start, end, clause, forms)
    if group == "symbol":
        return Token("bound", text, _SYMBOLS[text], start, end, clause)
    return Token("identifier", text, text if group == "isodate" else _identifier_key(text), start, end, clause)


class _Part(NamedTuple):
    """A token of a word, its place counted from the start of the word."""

    kind: TokenKind
    text: str
    key: str
    offset: int
    forms: Forms = _NO_FORMS
    opens_clause: bool = False


@lru_cache(maxsize=65536)
def _words(text: str, at_start: bool) -> tuple[_Part, ...]:
    if _is_identifier(text):
        return (_Part("identifier", text, _identifier_key(text), 0),)
    if _CJK.search(text):
        return tuple(_Part("word", character, character, i) for i, character in enumerate(text))
    parts: list[_Part] = []
    offset = 0
    for part in _SPLIT.split(text):
        if part:
            part_of = _word(part, offset, at_start=at_start and not parts)
            if len(part) < len(text) and part_of.kind in ("contrast", "negation", "modal"):
                part_of = _Part("word", part, part.lower(), offset)
            parts.append(part_of)
        offset += len(part) + 1
    return tuple(parts)


def _word(text: str, offset: int, *, at_start: bool) -> _Part:
    lower = text.lower().replace("’", "'")
    if text.istitle() and not at_start and lower in _VALUE_WORDS:
        return _Part("name", text, stem(lower), offset)
    if lower.endswith("n't") or lower in NEGATIONS:
        return _Part("negation", text, "not", offset)
    lower = lower.removesuffix("'s")
    if lower in CONTRASTS:
        return _Part("contrast", text, lower, offset, opens_clause=lower in CLAUSE_STARTS)
    if lower in STRONG_MODALS or lower in WEAK_MODALS:
        return _Part("modal", text, "must" if lower in STRONG_MODALS else "may", offset)
    if lower in STOP_WORDS:
        return _Part("stop", text, lower, offset, opens_clause=lower in CLAUSE_STARTS)
    forms = read_number_word(lower)
    if forms:
        return _Part("figure", text, _figure_key(forms, text), offset, forms)
    if _ACRONYM_PLURAL.fullmatch(text):
        lower = lower[:-1]
    named = text[:1].isupper() and (not at_start or (len(text) > 1 and text.isupper()))
    return _Part("name" if named else "word", text, stem(lower), offset, opens_clause=lower in CLAUSE_STARTS)


def _is_identifier(text: str) -> bool:
    if text.lower() in ("e.g", "i.e", "and/or", "read/write", "a.k.a"):
        return False
    if "_" in text or text.startswith(".") or (_CAMEL.search(text) and not _ACRONYM_PLURAL.fullmatch(text)):
        return True
    if any(c.isdigit() for c in text):
        return True
    parts = _SPLIT.split(text)
    return len(parts) > 1 and ("." in text or "@" in text or text.count("/") > 1) and all(parts)


def _identifier_key(text: str) -> str:
    key = text.lower().strip("./:'’`").removeprefix("--")
    if re.fullmatch(r"v\d.*", key):
        return key[1:]
    return key.removesuffix("'s") if len(key) < 5 or key.endswith("ss") else key.removesuffix("'s").removesuffix("s")


def _figure_key(forms: Forms, text: str) -> str:
    """The same for figures that are equal; ``match`` by forms decides where a figure has several readings."""
    if not forms:
        return text.lower()
    first = min(forms, key=lambda form: (form.dimension, form.value))
    return f"{first.value:f}{first.dimension}"


def _date_key(text: str) -> str:
    if re.fullmatch(r"[\d-]+", text):
        return text
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    month = next(i for i, name in enumerate(MONTHS, start=1) if name in text.lower())
    return f"{numbers[-1]:04d}-{month:02d}-{numbers[0]:02d}"


def _join_number_words(tokens: list[Token]) -> list[Token]:
    """``six minutes`` as one figure; ``6 minutes`` already is one."""
    joined: list[Token] = []
    for token in tokens:
        previous = joined[-1] if joined else None
        is_number = previous is not None and previous.kind == "figure" and previous.text.isalpha()
        if previous and is_number and is_unit_word(token.text.lower()) and token.start - previous.end == 1:
            forms = scale(previous.forms, token.text.lower())
            text = f"{previous.text} {token.text}"
            joined[-1] = previous._replace(text=text, key=_figure_key(forms, text), end=token.end, forms=forms)
        else:
            joined.append(token)
    return joined
