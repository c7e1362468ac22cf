"""Tokens of the Rich Text Format, and the encodings that its fonts and header name. Knows no document."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

TokenKind: TypeAlias = Literal["open", "close", "word", "symbol", "byte", "text"]

_TOKEN = re.compile(
    rb"(?P<open>\{)|(?P<close>\})"
    rb"|\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})?\x20?"
    rb"|\\'(?P<byte>[0-9A-Fa-f]{2})"
    rb"|\\(?P<symbol>[^A-Za-z])"
    rb"|(?P<text>[^\\{}\r\n\0]+)",
    re.DOTALL,
)
_CHARSETS = {
    77: "mac_roman",
    128: "cp932",
    129: "cp949",
    130: "johab",
    134: "gbk",
    136: "big5",
    161: "cp1253",
    162: "cp1254",
    163: "cp1258",
    177: "cp1255",
    178: "cp1256",
    186: "cp1257",
    204: "cp1251",
    222: "cp874",
    238: "cp1250",
    255: "cp437",
}
"""Encodings of ``\\fcharset`` (RTF 1.9.1, font table); 0 and 1 mean the document's own."""
SYMBOL_CHARSET = 2
DEFAULT_ENCODING = "cp1252"


class Token(NamedTuple):
    """A brace, control word with its number, control symbol, encoded byte, or run of text bytes."""

    kind: TokenKind
    value: bytes
    number: int | None = None


def tokens(data: bytes) -> Iterator[Token]:
    """Tokens in order; binary data that is announced by its length is passed over."""
    position = 0
    while match := _TOKEN.search(data, position):
        position = match.end()
        kind = match.lastgroup
        if kind == "open" or kind == "close" or kind == "text" or kind == "symbol":
            yield Token(kind, match[kind])
        elif kind == "byte":
            yield Token("byte", bytes((int(match["byte"], 16),)))
        elif match["word"] == b"bin":
            position += max(int(match["number"] or 0), 0)
        else:
            yield Token("word", match["word"], int(match["number"]) if match["number"] else None)


def charset_encoding(charset: int) -> str | None:
    """Encoding of a font's character set; None for the document's own."""
    return _CHARSETS.get(charset)


def code_page_encoding(code_page: int) -> str | None:
    """Encoding of a Windows code page; None for one that Python does not know."""
    name = {65001: "utf-8", 10000: "mac_roman", 1361: "johab", 936: "gbk"}.get(code_page, f"cp{code_page}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return None
