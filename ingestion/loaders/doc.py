"""Word documents of the binary format (Word 97 to 2003): the final text with headings, lists, tables, notes, comments.

Numbers of lists are not worked out: every item has a dash. Text boxes stand at the end.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import title_from_name
from ingestion.loaders.doc_structure import (
    COMMENT_AUTHORS,
    COMMENT_REFERENCES,
    COMMENT_TEXTS,
    ENDNOTE_REFERENCES,
    ENDNOTE_TEXTS,
    FOOTNOTE_REFERENCES,
    FOOTNOTE_TEXTS,
    MARGINS,
    ParagraphFormat,
    StyleKind,
    WordFile,
)
from ingestion.loaders.flow_blocks import CellBorder, FlowBlocks, ParagraphStyle
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.margins import margin_lines
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_package import ENCRYPTED, OLE_MAGIC
from ingestion.loaders.ole_container import OleContainer, open_ole
from ingestion.loaders.rtf_tokens import DEFAULT_ENCODING, code_page_encoding
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/msword"
_STREAM = "WordDocument"
_SIGNATURE = 0xA5EC
_WORD_97 = 0x00C1
_IN_TABLE, _ROW_END, _OUTLINE, _LIST, _LIST_LEVEL, _DEPTH = 0x2416, 0x2417, 0x2640, 0x460B, 0x260A, 0x6649
_INNER_CELL, _INNER_ROW_END, _TABLE_DEFINITION = 0x244B, 0x244C, 0xD608
_FIELD_BEGIN, _FIELD_SEPARATOR, _FIELD_END, _CELL_END, _PARAGRAPH_END = "\x13", "\x14", "\x15", "\x07", "\r"
_CHARACTERS = {"\x0b": "\n", "\x0c": "\n", "\x0e": "\n", "\x1e": "-", "\xa0": " "}
_DROPPED = frozenset("\x01\x02\x03\x04\x05\x06\x08\x1f")
_COMMENT_ENTRY_BYTES = 30
_FIRST_MARGIN = 6
"""The stories before it separate notes from text."""
_HEADER_STORIES = frozenset((0, 1, 4))


def load_doc(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    """The document of an old Word file.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``empty``, or ``unsupported_type`` for a file older than Word 97.
    """
    with open_ole(data) as container:
        reader = _Reader(_word_file(container))
        reader.read()
        properties = _properties(container)
    metadata: dict[str, MetadataValue] = {key: value for key, value in properties.items() if key != "title"}
    title = properties.get("title") or reader.blocks.title or title_from_name(name)
    return reader.blocks.assembly.finish(title=title, media_type=MEDIA_TYPE, metadata=metadata)


def _word_file(container: OleContainer) -> WordFile:
    if not container.exists(_STREAM):
        raise LoadFailed(
            "unsupported_type", "This kind of old binary office file is not read; save it in a newer format."
        )
    document = container.openstream(_STREAM).read()
    signature, version = struct.unpack_from("<HH", document)
    (flags,) = struct.unpack_from("<H", document, 0x0A)
    if flags & 0x0100:
        raise LoadFailed("encrypted", ENCRYPTED)
    if signature != _SIGNATURE or version < _WORD_97:
        raise LoadFailed("unsupported_type", "Documents older than Word 97 are not read; save this one as .docx.")
    return WordFile(document, container.openstream("1Table" if flags & 0x0200 else "0Table").read())


def _properties(container: OleContainer) -> dict[str, str]:
    found = container.get_metadata()
    encoding = code_page_encoding((found.codepage or 0) & 0xFFFF) or DEFAULT_ENCODING
    fields = {"title": found.title, "author": found.author, "subject": found.subject}
    texts = {
        key: collapse(value.decode(encoding, "replace") if isinstance(value, bytes) else value or "")
        for key, value in fields.items()
    }
    return {key: text for key, text in texts.items() if text.strip("\0")}


@dataclass(slots=True)
class _Paragraph:
    """Text up to a mark, the mark's position, and the notes referred to."""

    text: str
    mark: str
    cp: int
    notes: list[int] = field(default_factory=list[int])


class _Reader:
    """Reads the stories of a file into blocks."""

    def __init__(self, file: WordFile) -> None:
        self.blocks = FlowBlocks()
        self._file = file
        self._text = file.text()
        self._visible = bytearray(b"\1" * len(self._text))
        for start, end in file.invisible():
            self._visible[start:end] = bytes(len(self._visible[start:end]))
        self._formats = file.paragraph_formats()
        self._format_starts = [start for start, _, _ in self._formats]
        self._styles = file.style_kinds()
        body, notes, margins, macros, comments, endnotes, boxes = file.story_lengths()
        self._body = body
        self._starts = {"notes": body, "margins": body + notes}
        self._starts["comments"] = self._starts["margins"] + margins + macros
        self._starts["endnotes"] = self._starts["comments"] + comments
        self._starts["boxes"] = self._starts["endnotes"] + endnotes
        self._end_of_boxes = self._starts["boxes"] + boxes
        self._notes = self._find_notes()

    def read(self) -> None:
        """Add the whole document: margins, body with its notes, boxes."""
        for line in self._margin_lines():
            self.blocks.assembly.add("paragraph", line)
        inner = ""
        for paragraph in self._paragraphs(0, self._body):
            properties = self._format(paragraph.cp)
            for note in paragraph.notes:
                self.blocks.anchor(self._notes[note][1])
            if properties.number(_DEPTH) > 1:
                inner += f"{paragraph.text} "
            elif properties.number(_ROW_END):
                self.blocks.row(_borders(properties.operands.get(_TABLE_DEFINITION, b"")))
            elif properties.number(_IN_TABLE) or paragraph.mark == _CELL_END:
                inner += f"{paragraph.text} "
                if paragraph.mark == _CELL_END:
                    self.blocks.cell(collapse(inner))
                    inner = ""
            else:
                self.blocks.paragraph(paragraph.text, self._style(properties), "-" if properties.number(_LIST) else "")
        self.blocks.end()
        for paragraph in self._paragraphs(self._starts["boxes"], self._end_of_boxes):
            self.blocks.assembly.add("paragraph", paragraph.text)

    def _style(self, properties: ParagraphFormat) -> ParagraphStyle:
        kind = self._styles[properties.style] if properties.style < len(self._styles) else StyleKind()
        outline = properties.operands.get(_OUTLINE, b"\x09")[0]
        level = outline + 1 if outline < 9 else kind.level
        return ParagraphStyle(level, kind.is_title, properties.number(_LIST_LEVEL) & 0xFF)

    def _format(self, cp: int) -> ParagraphFormat:
        offset = self._file.offset(cp)
        place = bisect_right(self._format_starts, offset) - 1
        if place < 0 or offset >= self._formats[place][1]:
            return ParagraphFormat(0, {})
        return self._formats[place][2]

    def _paragraphs(self, start: int, end: int) -> Iterator[_Paragraph]:
        """Paragraphs of a story; of a field its result alone is text."""
        parts: list[str] = []
        notes: list[int] = []
        in_code: list[bool] = []
        end = min(end, len(self._text))
        for cp in range(start, end):
            character = self._text[cp]
            if character == _FIELD_BEGIN:
                in_code.append(True)
            elif character == _FIELD_SEPARATOR and in_code:
                in_code[-1] = False
            elif character == _FIELD_END:
                del in_code[-1:]
            elif character in (_PARAGRAPH_END, _CELL_END):
                yield _Paragraph(_joined(parts), character, cp, notes)
                parts, notes = [], []
            elif self._visible[cp] and not any(in_code):
                if cp in self._notes:
                    notes.append(cp)
                    parts.append(self._notes[cp][0])
                elif character not in _DROPPED:
                    parts.append(_CHARACTERS.get(character, character))
        if parts:
            yield _Paragraph(_joined(parts), _PARAGRAPH_END, max(end - 1, start), notes)

    def _find_notes(self) -> dict[int, tuple[str, str]]:
        """Mark and text of notes and comments by the position of their reference."""
        self._notes: dict[int, tuple[str, str]] = {}
        found: dict[int, tuple[str, str]] = {}
        for kind, references, texts in (
            ("notes", self._file.positions(FOOTNOTE_REFERENCES, 2), self._file.positions(FOOTNOTE_TEXTS, 0)),
            ("endnotes", self._file.positions(ENDNOTE_REFERENCES, 2), self._file.positions(ENDNOTE_TEXTS, 0)),
        ):
            for number, (cp, text) in enumerate(self._stories(kind, references, texts), start=1):
                mark = f"[^{'e' if kind == 'endnotes' else ''}{number}]"
                found[cp] = (mark, f"{mark}: {text}")
        references = self._file.positions(COMMENT_REFERENCES, _COMMENT_ENTRY_BYTES)
        texts = self._file.positions(COMMENT_TEXTS, 0)
        authors = self._authors(len(references))
        for author, (cp, text) in zip(authors, self._stories("comments", references, texts), strict=False):
            found[cp] = ("", f"Comment by {author}: {text}" if text else "")
        return found

    def _stories(self, kind: str, references: Sequence[int], texts: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Position of each reference with the text it refers to."""
        base = self._starts[kind]
        for cp, start, end in zip(references, texts, texts[1:], strict=False):
            yield cp, self._plain(base + start, base + end)

    def _plain(self, start: int, end: int) -> str:
        return collapse(" ".join(paragraph.text for paragraph in self._paragraphs(start, end)))

    def _authors(self, positions: int) -> list[str]:
        """Author of each comment."""
        data, names = self._file.part(COMMENT_AUTHORS), list[str]()
        position = 0
        while position + 2 <= len(data):
            (length,) = struct.unpack_from("<H", data, position)
            position += 2 + 2 * length
            names.append(data[position - 2 * length : position].decode("utf-16-le", "replace"))
        entries, first = self._file.part(COMMENT_REFERENCES), 4 * positions
        numbers = [
            struct.unpack_from("<H", entries, first + _COMMENT_ENTRY_BYTES * place + 20)[0]
            for place in range(max(positions - 1, 0))
        ]
        return [collapse(names[number]) or "unknown" if number < len(names) else "unknown" for number in numbers]

    def _margin_lines(self) -> Iterator[str]:
        bounds = self._file.positions(MARGINS, 0)[_FIRST_MARGIN:]
        base = self._starts["margins"]
        texts: dict[bool, list[str]] = {True: [], False: []}
        for number, (start, end) in enumerate(pairwise(bounds)):
            texts[number % 6 in _HEADER_STORIES].append(self._plain(base + start, base + end))
        yield from margin_lines("Header", texts[True])
        yield from margin_lines("Footer", texts[False])


def _joined(parts: Sequence[str]) -> str:
    """Text with characters beyond the first plane whole again."""
    return "".join(parts).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _borders(definition: bytes) -> list[CellBorder]:
    """Cells of a row from its table definition: right borders, and flags of those that continue another."""
    if not definition:
        return []
    count = definition[0]
    positions = struct.unpack_from(f"<{count + 1}h", definition, 1)
    first = 1 + 2 * (count + 1)
    borders: list[CellBorder] = []
    for number in range(count):
        flags = int.from_bytes(definition[first + 20 * number : first + 20 * number + 2], "little")
        continues_above = bool(flags & 0x20) and not flags & 0x40
        borders.append(CellBorder(positions[number + 1], bool(flags & 0x02), continues_above))
    return borders


def _certainty(sample: Sample) -> Certainty:
    is_word = sample.data.startswith(OLE_MAGIC) and f"{_STREAM}\0".encode("utf-16-le") in sample.data
    return 3 if is_word else 0


LOADER = Loader("Word 97-2003", frozenset((".doc", ".dot")), _certainty, load_doc)
