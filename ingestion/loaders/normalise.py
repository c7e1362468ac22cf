"""Text as it is stored: one form per character, nothing invisible. Runs before any offset is taken."""

from __future__ import annotations

import re
import unicodedata

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
_INVISIBLE = (
    0x00AD,  # soft hyphen
    0x200B,  # zero width space
    0x200E,  # left-to-right mark
    0x200F,  # right-to-left mark
    *range(0x202A, 0x202F),  # bidirectional embeddings and overrides
    0x2060,  # word joiner
    *range(0x2066, 0x206A),  # bidirectional isolates
    0xFEFF,  # byte order mark inside the text
)
_CONTROLS = (*range(0x00, 0x09), 0x0E, 0x0F, *range(0x10, 0x20), *range(0x7F, 0x85), *range(0x86, 0xA0))
_TABLE: dict[int, str | None] = {
    **dict.fromkeys(_INVISIBLE),
    **dict.fromkeys(_CONTROLS),
    **_LIGATURES,
    0x00A0: " ",
    0x2007: " ",
    0x202F: " ",
    0x000B: "\n",
    0x000C: "\n",
    0x0085: "\n",
    0x2028: "\n",
    0x2029: "\n\n",
    0xFFFE: None,
    0xFFFF: None,
    **dict.fromkeys(range(0xD800, 0xE000), "\N{REPLACEMENT CHARACTER}"),
}
_PRESENTATION_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
"""Hebrew and Arabic glyph forms; PDF files hold them where a word needs letters."""


def normalise(text: str) -> str:
    """The text in NFC with line feeds as line ends, letters for ligatures, and no invisible characters.

    Joiners that carry meaning (U+200C, U+200D) stay. The result normalises to itself.
    """
    if text.isascii():
        return _unify_line_ends(text).translate(_TABLE)
    text = _unify_line_ends(text).translate(_TABLE)
    text = _PRESENTATION_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    return unicodedata.normalize("NFC", text)


def _unify_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def collapse(text: str) -> str:
    """The text on one line: each run of white space becomes one blank."""
    return " ".join(text.split())
