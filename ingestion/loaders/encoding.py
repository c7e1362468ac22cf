"""Bytes to text without a guess that could be wrong silently: what cannot be decided is refused."""

from __future__ import annotations

import codecs
from collections import Counter
from typing import NamedTuple

from chardetng_py import detect

from ingestion.errors import LoadFailed
from ingestion.loaders.plausibility import foreign_letter_share, has_words, odd_share

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
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
_PEEK_NUL_SHARE = 0.05
_MULTI_BYTE = frozenset(("gb18030", "big5hkscs", "big5", "cp932", "cp949", "euc-jp", "euc_jp", "utf-8"))
_MAX_ODD_SHARE = 0.05
_MAX_ODD_SHARE_MULTI_BYTE = 0.3
"""Han, kana and Latin letters stand in one word more often than those of other scripts."""
_NOT_ON_THE_WEB = ("cp437", "cp850", "cp852", "cp857", "cp737", "mac_roman", "iso-8859-15")
"""Encodings that the detector does not know, as browsers do not."""
_CONTROLS = bytes((*range(1, 8), *range(14, 26), *range(28, 32)))
"""Bytes that no 8-bit text holds, and most UTF-16 text does."""
_MAX_NUL_SHARE = 0.02
_MIN_WIDE_LETTERS = 0.6
_MIN_WIDE_BYTES = 16
_ASCII_SHARE = 0.9
_GOOD_FOR_BAD = 20
"""Valid sequences of UTF-8 for each invalid one, for the text to be damaged UTF-8 and no other encoding."""


class DecodedText(NamedTuple):
    """Text and the Python name of the encoding it was in."""

    text: str
    encoding: str


def decode(data: bytes, *, declared: str | None = None) -> DecodedText:
    """Text of the bytes: by byte order mark, UTF-16/32 pattern, UTF-8, the declared encoding, then by statistics.

    Bytes that are valid UTF-8 are UTF-8 whatever was declared. Of a text that is cut off in the middle of a character,
    that character is left out; a rare damaged byte in UTF-8 becomes U+FFFD.

    Raises:
        LoadFailed: ``undecodable`` when no encoding gives plausible text.
    """
    if marked := next((name for mark, name in _BOMS if data.startswith(mark)), ""):
        text = _try(data[: len(data) - len(data) % _width(marked)], marked)
        if text is None:
            raise LoadFailed("undecodable", f"The file is marked as {marked} but is damaged; save it anew as UTF-8.")
        return DecodedText(text, marked)
    return _by_pattern(data) or _by_choice(data, declared)


def _by_pattern(data: bytes) -> DecodedText | None:
    """The text where the bytes show their encoding by themselves."""
    if wide := _wide_without_mark(data[:4096]):
        text = _try(data[: len(data) - len(data) % _width(wide)], wide)
        if text is not None:
            return DecodedText(text, wide)
    if b"\x1b$" in data[:4096] and data.isascii():
        for name in ("iso2022_jp_2", "iso2022_kr"):
            if (text := _try(data, name)) is not None and not text.isascii():
                return DecodedText(text, name)
    if data.translate(None, _CONTROLS) != data or b"\0" in data:
        if (found := _wide_of_letters(data)) is not None:
            return found
        data = data.rstrip(b"\0")
        if data.count(0) > _MAX_NUL_SHARE * len(data):
            return None
    text = _try(data, "utf-8")
    return DecodedText(text, "utf-8") if text is not None else _damaged_utf8(data)


def _by_choice(data: bytes, declared: str | None) -> DecodedText:
    """The text in the declared encoding, the detector's, or the only other one that makes all of it plausible."""
    data = data.rstrip(b"\0")
    if data.count(0) <= _MAX_NUL_SHARE * len(data):
        data = data.replace(b"\0", b"")
    guesses = [_python_name(declared)] if declared else []
    guesses.append(_python_name(detect(data, allow_utf8=True)))
    for candidate in guesses:
        text = _try(data, candidate)
        limit = _MAX_ODD_SHARE_MULTI_BYTE if candidate in _MULTI_BYTE else _MAX_ODD_SHARE
        if text is not None and odd_share(text) <= limit:
            return DecodedText(text, candidate)
    found = [(name, text) for name in _NOT_ON_THE_WEB if (text := _try(data, name)) is not None]
    whole = {text: name for name, text in found if odd_share(text) == 0.0 and has_words(text)}
    if len(whole) == 1:
        (text, name) = whole.popitem()
        return DecodedText(text, name)
    raise LoadFailed("undecodable", "The text encoding cannot be decided; save the file as UTF-8 and ingest it again.")


def _wide_of_letters(data: bytes) -> DecodedText | None:
    """UTF-16 text of a script without bytes of zero; the wrong order of bytes gives few letters or none."""
    if len(data) < _MIN_WIDE_BYTES or _is_ascii_prose(data):
        return None
    even = data[: len(data) - len(data) % 2]
    shares: list[tuple[float, str, str]] = []
    for name in ("utf-16-le", "utf-16-be"):
        text = _try(even, name)
        if text is not None and odd_share(text) <= _MAX_ODD_SHARE_MULTI_BYTE:
            shares.append((foreign_letter_share(text), name, text))
    share, name, text = max(shares, default=(0.0, "", ""))
    return DecodedText(text, name) if share >= _MIN_WIDE_LETTERS else None


def _is_ascii_prose(data: bytes) -> bool:
    """Whether nearly all bytes are ASCII, and no value holds every second place, as it does in wide text of kana."""
    sample = data[:_PEEK_BYTES]
    ascii_share = sum(32 <= byte < 127 or byte in b"\t\n\r" for byte in sample) / len(sample)
    most = max(Counter(sample[parity::2]).most_common(1)[0][1] for parity in (0, 1))
    return ascii_share > _ASCII_SHARE and most < len(sample) / 4


def _damaged_utf8(data: bytes) -> DecodedText | None:
    """UTF-8 that is cut off within its last character, or damaged in a few places."""
    text = data.decode("utf-8", "replace")
    bad = text.count("\N{REPLACEMENT CHARACTER}")
    good = sum(1 for character in text if ord(character) > 127) - bad
    if good < _GOOD_FOR_BAD * bad or "\0" in text:
        is_cut = good > 0 and bad == 1 and text.endswith("\N{REPLACEMENT CHARACTER}") and data[-1] >= 0x80
        if not is_cut:
            return None
    return DecodedText(text.removesuffix("\N{REPLACEMENT CHARACTER}"), "utf-8")


def _width(encoding: str) -> int:
    return 4 if "32" in encoding else 2 if "16" in encoding else 1


def peek(data: bytes) -> str:
    """The first 4096 bytes as text whose ASCII characters are right; others may be wrong. Never raises."""
    head = data[:_PEEK_BYTES]
    marked = next((name for mark, name in _BOMS if head.startswith(mark)), "")
    encoding = marked or _wide_without_mark(head, _PEEK_NUL_SHARE) or "latin-1"
    return head.decode(encoding, "ignore").lstrip("\ufeff")


def _wide_without_mark(sample: bytes, least: float = 0.4) -> str:
    """UTF-16 or UTF-32 by where the zero bytes stand; ``least`` is their share at the places for high bytes."""
    if b"\0" not in sample:
        return ""
    size = max(1, len(sample) // 4)
    zeros = [sample[offset::4].count(0) / size for offset in range(4)]
    if zeros[2] > 0.9 and zeros[3] > 0.95 and zeros[0] < 0.5:
        return "utf-32-le"
    if zeros[0] > 0.95 and zeros[1] > 0.9 and zeros[3] < 0.5:
        return "utf-32-be"
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > least and odd > 4 * even:
        return "utf-16-le"
    if even > least and even > 4 * odd:
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
