"""The structures of a Word 97 to 2003 file that say what its text is ([MS-DOC]): pieces, runs, paragraphs, styles.

Positions (``cp``) count characters of the document; offsets (``fc``) count bytes of the stream. All tables are read
with their bounds checked by the standard library: what lies outside raises ``struct.error`` or ``IndexError``.
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

PAIRS = 0x9A
"""Offset of the table of offsets and sizes in the file information block ([MS-DOC] 2.5.6)."""
STYLES, FOOTNOTE_REFERENCES, FOOTNOTE_TEXTS, COMMENT_REFERENCES, COMMENT_TEXTS = 1, 2, 3, 4, 5
MARGINS, RUNS, PARAGRAPHS, PIECES, COMMENT_AUTHORS, ENDNOTE_REFERENCES, ENDNOTE_TEXTS = 11, 12, 13, 33, 36, 46, 47
_PAGE = 512
_MAX_PIECES = 1_000_000
_MAX_CHARACTERS = 64 * 1024 * 1024
"""Pieces may overlap in the stream, so its size does not bound the text."""
_OPERAND_SIZES = (1, 1, 2, 4, 2, 2, -1, 3)
_TABLE_DEFINITION = 0xD608
_DELETED, _HIDDEN = 0x0800, 0x083C
_TITLE_STYLE = 62
_MAX_STYLE_CHAIN = 20


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of characters that lie together in the stream; eight bits each when ``is_narrow``."""

    cp_start: int
    cp_end: int
    fc_start: int
    is_narrow: bool

    @property
    def width(self) -> int:
        """Bytes of a character."""
        return 1 if self.is_narrow else 2


@dataclass(frozen=True, slots=True)
class ParagraphFormat:
    """Properties of a paragraph; ``operands`` by the code of each property."""

    style: int
    operands: dict[int, bytes]

    def number(self, code: int) -> int:
        """A property as a number; 0 without it."""
        return int.from_bytes(self.operands.get(code, b"")[:2], "little")


@dataclass(frozen=True, slots=True)
class StyleKind:
    """What a paragraph style is: heading level from 1, 0 for none, or the title."""

    level: int = 0
    is_title: bool = False


class WordFile:
    """The two streams of a document; every table is read when it is asked for."""

    def __init__(self, document: bytes, table: bytes) -> None:
        self.document = document
        self.table = table
        self.pieces = list(self._pieces())
        if sum(max(piece.cp_end - piece.cp_start, 0) for piece in self.pieces) > _MAX_CHARACTERS:
            raise ValueError("more text than a document has")

    def part(self, index: int) -> bytes:
        """A structure of the table stream by its place in the list of all; empty when the file has none."""
        offset, size = struct.unpack_from("<II", self.document, PAIRS + 8 * index)
        return self.table[offset : offset + size]

    def story_lengths(self) -> tuple[int, ...]:
        """Characters of body, footnotes, margins, macros, comments, endnotes and boxes, which follow one another."""
        return struct.unpack_from("<7I", self.document, 0x4C)

    def text(self) -> str:
        """All characters, one a position: halves of those beyond the first plane stay apart."""
        return "".join(self._characters(piece) for piece in self.pieces)

    def positions(self, index: int, entry_size: int) -> list[int]:
        """Positions of a table whose entries hold so many bytes beside."""
        data = self.part(index)
        count = (len(data) - 4) // (4 + entry_size) + 1 if len(data) >= 4 else 0
        return list(struct.unpack_from(f"<{count}I", data))

    def offset(self, cp: int) -> int:
        """Offset of a character in the stream; -1 beyond the text."""
        place = bisect_right(self.pieces, cp, key=lambda piece: piece.cp_start) - 1
        if place < 0 or cp >= self.pieces[place].cp_end:
            return -1
        piece = self.pieces[place]
        return piece.fc_start + (cp - piece.cp_start) * piece.width

    def invisible(self) -> list[tuple[int, int]]:
        """Ranges of positions that are deleted or hidden, in order of the pieces."""
        ranges = [
            (start, end)
            for start, end, operands in self._formatted(RUNS, 1)
            if any(operands.operands.get(code, b"\0")[0] & 1 for code in (_DELETED, _HIDDEN))
        ]
        found: list[tuple[int, int]] = []
        for piece in self.pieces:
            piece_end = piece.fc_start + (piece.cp_end - piece.cp_start) * piece.width
            for start, end in ranges[max(bisect_right(ranges, (piece.fc_start, 0)) - 1, 0) :]:
                if start >= piece_end:
                    break
                first, last = max(start, piece.fc_start), min(end, piece_end)
                if first < last:
                    base = piece.cp_start
                    found.append(
                        (base + (first - piece.fc_start) // piece.width, base + (last - piece.fc_start) // piece.width)
                    )
        return found

    def paragraph_formats(self) -> list[tuple[int, int, ParagraphFormat]]:
        """Ranges of offsets with the properties of their paragraphs, by offset."""
        return sorted(self._formatted(PARAGRAPHS, 13), key=lambda entry: entry[0])

    def style_kinds(self) -> list[StyleKind]:
        """Kinds of the styles by their number; a style made from a heading is one."""
        data = self.part(STYLES)
        if len(data) < 6:
            return []
        header_size, count = struct.unpack_from("<HH", data)
        identifiers: list[tuple[int, int]] = []
        position = 2 + header_size
        for _ in range(count):
            (size,) = struct.unpack_from("<H", data, position)
            first, second = struct.unpack_from("<HH", data, position + 2) if size >= 4 else (0xFFF, 0xFFF0)
            identifiers.append((first & 0xFFF, second >> 4))
            position += 2 + size + size % 2
        return [_style_kind(number, identifiers) for number in range(count)]

    def _pieces(self) -> Iterator[Piece]:
        data = self.part(PIECES)
        position = 0
        while data[position] == 1:
            position += 3 + struct.unpack_from("<H", data, position + 1)[0]
        (size,) = struct.unpack_from("<I", data, position + 1)
        count = (size - 4) // 12
        if count > _MAX_PIECES:
            raise ValueError("more pieces than a document has")
        position += 5
        bounds = struct.unpack_from(f"<{count + 1}I", data, position)
        for number in range(count):
            (offset,) = struct.unpack_from("<I", data, position + 4 * (count + 1) + 8 * number + 2)
            is_narrow = bool(offset & 0x40000000)
            offset &= 0x3FFFFFFF
            yield Piece(bounds[number], bounds[number + 1], offset // 2 if is_narrow else offset, is_narrow)

    def _characters(self, piece: Piece) -> str:
        count = piece.cp_end - piece.cp_start
        data = self.document[piece.fc_start : piece.fc_start + count * piece.width]
        if len(data) != count * piece.width:
            raise ValueError("a piece lies outside the stream")
        if piece.is_narrow:
            return data.decode("cp1252", "replace")
        units = array("H", data)
        if sys.byteorder == "big":
            units.byteswap()
        return "".join(map(chr, units))

    def _formatted(self, index: int, entry_size: int) -> Iterator[tuple[int, int, ParagraphFormat]]:
        """Ranges of offsets with their properties, from the pages that a table of the stream lists."""
        data = self.part(index)
        count = (len(data) - 4) // 8 if len(data) >= 4 else 0
        count = min(count, len(self.document) // _PAGE)
        pages: tuple[int, ...] = struct.unpack_from(f"<{count}I", data, 4 * ((len(data) - 4) // 8 + 1))
        for page in pages:
            start = (page & 0x3FFFFF) * _PAGE
            entries = self.document[start + _PAGE - 1]
            bounds = struct.unpack_from(f"<{entries + 1}I", self.document, start)
            for number in range(entries):
                place = self.document[start + 4 * (entries + 1) + number * entry_size] * 2
                yield bounds[number], bounds[number + 1], self._format(start, place, is_run=entry_size == 1)

    def _format(self, page: int, place: int, *, is_run: bool) -> ParagraphFormat:
        if place == 0:
            return ParagraphFormat(0, {})
        position = page + place
        size = self.document[position]
        if is_run:
            return ParagraphFormat(0, dict(_operands(self.document[position + 1 : position + 1 + size])))
        if size == 0:
            position += 1
            size = self.document[position] * 2
        else:
            size = size * 2 - 1
        body = self.document[position + 1 : position + 1 + size]
        return ParagraphFormat(int.from_bytes(body[:2], "little"), dict(_operands(body[2:])))


def _operands(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Codes of properties with their operands ([MS-DOC] 2.2.5.1); what is cut off ends them."""
    position = 0
    while position + 2 < len(data):
        (code,) = struct.unpack_from("<H", data, position)
        position += 2
        size = _OPERAND_SIZES[code >> 13]
        if code == _TABLE_DEFINITION:
            size = int.from_bytes(data[position : position + 2], "little") - 1
            position += 2
        elif size < 0:
            size = data[position]
            position += 1
        yield code, data[position : position + size]
        position += max(size, 0)


def _style_kind(number: int, identifiers: Sequence[tuple[int, int]]) -> StyleKind:
    for _ in range(_MAX_STYLE_CHAIN):
        if number >= len(identifiers):
            break
        identifier, base = identifiers[number]
        if 1 <= identifier <= 9 or identifier == _TITLE_STYLE:
            return StyleKind(identifier if identifier <= 9 else 0, identifier == _TITLE_STYLE)
        number = base
    return StyleKind()
