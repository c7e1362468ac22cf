"""Where sentences end, by rules: abbreviations, figures, quotes, and the marks of several scripts."""

from __future__ import annotations

import re

_END = re.compile(
    r"""
    (?:[.!?\u2026]+["'\u201d\u2019\u00bb)\]*_`]*(?=\s)      # Latin, Cyrillic, Greek: a mark, then white space
    |[\u3002\uff01\uff1f\uff0e]+[\u300d\u300f\u201d\u2019\uff09]*  # Chinese, Japanese: no white space needed
    |[\u061f\u06d4\u0964\u0965\u1362]+                      # Arabic, Urdu, Devanagari, Ethiopic
    |\n[^\S\n]*\n)                                          # a blank line
    \s*
    """,
    re.VERBOSE,
)
_ABBREVIATIONS = frozenset(
    (
        *("a.d", "al", "approx", "b.c", "ca", "cf", "co", "corp", "dept", "dr", "e.g", "ed", "eds", "eq", "etc", "ex"),
        *("fig", "figs", "i.e", "inc", "jr", "ltd", "max", "min", "mr", "mrs", "ms", "no", "nos", "p", "pp", "par"),
        *("prof", "ref", "resp", "sec", "sect", "sr", "st", "tab", "v", "vol", "vs", "viz"),
        *("abb", "abs", "art", "bzw", "d.h", "evtl", "ggf", "hr", "fr", "inkl", "nr", "s", "sog", "str", "u.a", "usw"),
        *("vgl", "z.b", "zzgl", "z.t", "m", "mme", "mlle", "av", "env", "sra", "ud", "pág", "núm"),
        *("им", "г", "гг", "т.д", "т.п", "т.е", "см", "рис", "стр", "ул"),
    )
)
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u00ab]*\Z")


def sentence_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Sentences of a part of the text, as offsets; together they cover all but white space, and none is empty."""
    spans: list[tuple[int, int]] = []
    first = start
    for match in _END.finditer(text, start, end):
        if match.end() >= end or not _is_boundary(text, first, match):
            continue
        _append_trimmed(spans, text, first, match.end())
        first = match.end()
    _append_trimmed(spans, text, first, end)
    return spans


def _is_boundary(text: str, first: int, match: re.Match[str]) -> bool:
    """Whether a full stop ends a sentence: not after an abbreviation, an initial, or before a small letter."""
    mark = match[0].lstrip()
    if not mark.startswith(".") or mark.startswith(".."):
        return True
    following = text[match.end()]
    if following.islower():
        return False
    last = _LAST_WORD.search(text[max(first, match.start() - 20) : match.start()])
    word = (last[0] if last else "").lower()
    if word in _ABBREVIATIONS:
        return False
    is_initial = len(word) == 1 and word.isalpha() and text[match.start() - 1].isupper()
    is_item_number = word.isdigit() and len(word) <= 2 and not text[first : match.start() - len(word)].strip()
    return not is_initial and not is_item_number


def _append_trimmed(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    body = text[start:end]
    stripped = body.strip()
    if stripped:
        first = start + len(body) - len(body.lstrip())
        spans.append((first, first + len(stripped)))
