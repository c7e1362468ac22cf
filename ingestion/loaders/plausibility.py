"""Whether decoded text reads like text, or like the bytes of another encoding: letters and symbols in odd places."""

from __future__ import annotations

import unicodedata
from collections import Counter

_SAMPLE_CHARACTERS = 200_000
_MIN_FOREIGN = 3
_LONGEST_WORD = 40
_JOINING = "'\u2019\u2018\u02bc\u2010\u2011\u00b7\u200c\u200d"
"""Apostrophes, hyphens and joiners, which stand between letters."""


def odd_share(text: str) -> float:
    """Share of the letters and symbols beyond ASCII that stand oddly; 1.0 for text with control characters.

    Odd is what wrong decoding gives: a symbol or a capital inside a word, money behind a letter, two scripts in a word.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    if any(_is_forbidden(character) for character in set(sample)):
        return 1.0
    foreign = [index for index, character in enumerate(sample) if ord(character) > 127]
    if not foreign:
        return 0.0
    return sum(_is_odd(sample, index) for index in foreign) / len(foreign)


def foreign_letter_share(text: str) -> float:
    """Share of letters that are not Latin; 0.0 for text with control characters."""
    sample = text[:_SAMPLE_CHARACTERS]
    if not sample or any(_is_forbidden(character) for character in set(sample)):
        return 0.0
    found = Counter(sample)
    return sum(n for character, n in found.items() if character.isalpha() and _script(character) != "LATIN") / len(
        sample
    )


def has_words(text: str) -> bool:
    """Whether text is words of letters, some of them beyond ASCII, with blanks between."""
    sample = text[:_SAMPLE_CHARACTERS]
    letters = sum(map(str.isalpha, sample))
    foreign = sum(1 for character in sample if ord(character) > 127 and character.isalpha())
    blanks = sum(map(str.isspace, sample))
    return foreign >= _MIN_FOREIGN and letters >= len(sample) / 2 and blanks >= len(sample) / _LONGEST_WORD


def _is_forbidden(character: str) -> bool:
    if character in "\t\n\r\f\v\x1a\x1b":
        return False
    return unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs")


def _is_odd(text: str, index: int) -> bool:
    before = text[index - 1] if index else " "
    after = text[index + 1] if index + 1 < len(text) else " "
    character = text[index]
    if not character.isalpha():
        return _is_odd_symbol(character, before, after)
    if character.isupper() and before.islower() and after.islower():
        return True
    script = _script(character)
    return any(
        other.isalpha() and _script(other) not in (script, *_MIXING.get(script, ())) for other in (before, after)
    )


def _is_odd_symbol(character: str, before: str, after: str) -> bool:
    """A symbol between two letters of an alphabet, or a sign of money behind a letter."""
    category = unicodedata.category(character)
    if category == "No" and after.islower() and not before.isdigit():
        return True
    if character in _JOINING or not before.isalpha():
        return False
    if category[0] == "M":
        return False
    if category == "Sc":
        return before.islower()
    if after.isalpha() and category in ("So", "Sk", "No", "Lm"):
        return True
    return before.islower() and after.islower() and category[0] in ("P", "S", "Z", "N")


_MIXING = {
    "CJK": ("HIRAGANA", "KATAKANA", "LATIN", "HALFWIDTH", "FULLWIDTH", "HANGUL"),
    "HIRAGANA": ("CJK", "KATAKANA", "LATIN", "HALFWIDTH", "FULLWIDTH"),
    "KATAKANA": ("CJK", "HIRAGANA", "LATIN", "HALFWIDTH", "FULLWIDTH"),
    "KATAKANA-HIRAGANA": ("CJK", "HIRAGANA", "KATAKANA", "HALFWIDTH", "LATIN"),
    "HALFWIDTH": ("CJK", "HIRAGANA", "KATAKANA", "LATIN"),
    "FULLWIDTH": ("CJK", "HIRAGANA", "KATAKANA", "LATIN"),
    "HANGUL": ("CJK", "LATIN"),
    "FEMININE": ("LATIN",),
    "MASCULINE": ("LATIN",),
    "MICRO": ("LATIN",),
    "MODIFIER": ("LATIN",),
}


def _script(character: str) -> str:
    """First word of the character's Unicode name, which names the script of letters."""
    return unicodedata.name(character, "UNKNOWN").split(" ", 1)[0]
