"""Bytes to text without a guess that could be wrong silently: what cannot be decided is refused."""

from __future__ import annotations

import codecs
import unicodedata
from typing import NamedTuple

from chardetng_py import detect

from ingestion.errors import LoadFailed

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_MARKED = frozenset(name for _, name in _BOMS)
_PYTHON_NAMES = {
    # The web's encoding names mean the vendors' supersets (WHATWG Encoding Standard, section 4.2).
    "ascii": "cp1252",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "latin-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-9": "cp1254",
    "iso-8859-11": "cp874",
    "shift_jis": "cp932",
    "shift-jis": "cp932",
    "sjis": "cp932",
    "x-sjis": "cp932",
    "euc-kr": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "iso-8859-8-i": "iso-8859-8",
}
_PEEK_BYTES = 4096
_MAX_ODD_SHARE = 0.3
_SAMPLE_CHARACTERS = 200_000


class DecodedText(NamedTuple):
    """Text and the Python name of the encoding it was in."""

    text: str
    encoding: str


def decode(data: bytes, *, declared: str | None = None) -> DecodedText:
    """Text of the bytes: by byte order mark, UTF-16/32 pattern, UTF-8, the declared encoding, then by statistics.

    Bytes that are valid UTF-8 are UTF-8 whatever was declared.

    Raises:
        LoadFailed: ``undecodable`` when no encoding gives plausible text.
    """
    certain = _certain(data)
    if certain and (text := _try(data, certain)) is not None:
        return DecodedText(text, certain)
    if certain in _MARKED:
        raise LoadFailed("undecodable", f"The file is marked as {certain} but is damaged; save it anew as UTF-8.")
    guesses = [_python_name(declared)] if declared else []
    guesses.append(_python_name(detect(data, allow_utf8=True)))
    for candidate in guesses:
        text = _try(data, candidate)
        if text is not None and is_plausible(text):
            return DecodedText(text, candidate)
    raise LoadFailed("undecodable", "The text encoding cannot be decided; save the file as UTF-8 and ingest it again.")


def peek(data: bytes) -> str:
    """The first 4096 bytes as text whose ASCII characters are right; others may be wrong. Never raises."""
    head = data[:_PEEK_BYTES]
    certain = _certain(head)
    encoding = certain if certain not in ("", "utf-8") else "latin-1"
    return head.decode(encoding, "ignore").lstrip("\ufeff")


def _certain(data: bytes) -> str:
    """The encoding that the bytes show by themselves; empty when they show none."""
    by_mark = next((name for mark, name in _BOMS if data.startswith(mark)), "")
    if by_mark:
        return by_mark
    return _wide_without_mark(data[:4096]) if b"\0" in data[:4096] else "utf-8"


def _wide_without_mark(sample: bytes) -> str:
    """UTF-16 or UTF-32 by where the zero bytes stand; most text has many characters below U+0100."""
    size = max(1, len(sample) // 4)
    zeros = [sample[offset::4].count(0) / size for offset in range(4)]
    if zeros[1] > 0.7 and zeros[2] > 0.7 and zeros[3] > 0.7:
        return "utf-32-le"
    if zeros[0] > 0.7 and zeros[1] > 0.7 and zeros[2] > 0.7:
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.05 and odd > 4 * even:
        return "utf-16-le"
    if even > 0.05 and even > 4 * odd:
        return "utf-16-be"
    return ""


def _python_name(label: str) -> str:
    name = label.strip().lower()
    return _PYTHON_NAMES.get(name, name)


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def is_plausible(text: str) -> bool:
    """Whether decoded text reads like text: no control characters, and few symbols or foreign letters within words."""
    sample = text[:_SAMPLE_CHARACTERS]
    if any(_is_forbidden(character) for character in set(sample)):
        return False
    foreign = [index for index, character in enumerate(sample) if ord(character) > 127]
    if not foreign:
        return True
    odd = sum(1 for index in foreign if _is_odd(sample, index))
    return odd / len(foreign) <= _MAX_ODD_SHARE


def _is_forbidden(character: str) -> bool:
    if character in "\t\n\r\f\v\x1a\x1b":
        return False
    return unicodedata.category(character) in ("Cc", "Cn", "Co", "Cs")


def _is_odd(text: str, index: int) -> bool:
    """A symbol between two letters, or a letter whose script differs from its neighbour's in the same word."""
    before = text[index - 1] if index else " "
    after = text[index + 1] if index + 1 < len(text) else " "
    character = text[index]
    if not character.isalpha():
        return (
            unicodedata.category(character) in ("So", "Sc", "Sk", "No", "Lm") and before.isalpha() and after.isalpha()
        )
    if character.isupper() and before.islower() and after.islower():
        return True
    script = _script(character)
    return any(
        other.isalpha() and _script(other) not in (script, *_MIXING.get(script, ())) for other in (before, after)
    )


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
