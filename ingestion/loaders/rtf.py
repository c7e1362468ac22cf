"""Rich Text Format: the final text with headings by style, lists, tables, notes, labelled comments, margins once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import title_from_name
from ingestion.loaders.flow_blocks import CellBorder, FlowBlocks, ParagraphStyle
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.margins import margin_lines
from ingestion.loaders.normalise import collapse
from ingestion.loaders.rtf_tokens import (
    DEFAULT_ENCODING,
    SYMBOL_CHARSET,
    Token,
    charset_encoding,
    code_page_encoding,
    tokens,
)
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/rtf"
_MAGIC = b"{\\rtf"
_MAX_DEPTH = 10_000
_HEADING_NAME = re.compile(r"heading\s*(\d)", re.IGNORECASE)
_BODY = "body"
_SKIP = "skip"
_CHARACTERS = {
    "tab": "\t",
    "line": "\n",
    "page": "\n",
    "emdash": "\u2014",
    "endash": "\u2013",
    "emspace": " ",
    "enspace": " ",
    "bullet": "\u2022",
    "lquote": "\u2018",
    "rquote": "\u2019",
    "ldblquote": "\u201c",
    "rdblquote": "\u201d",
    "nestcell": " ",
    "nestrow": " ",
    "softline": "\n",
}
_SYMBOLS = {"~": "\u00a0", "_": "-", "-": "", "{": "{", "}": "}", "\\": "\\"}
_NOTES = {"footnote": "note", "annotation": "comment", "atnauthor": "author", "shptxt": "box", "dptxbxtext": "box"}
_DESTINATIONS = {
    **_NOTES,
    "listtext": "marker",
    "pntext": "marker",
    "stylesheet": "stylesheet",
    "fonttbl": "fonts",
    "info": _SKIP,
    "title": "title",
    "subject": "subject",
    **dict.fromkeys(("header", "headerl", "headerr", "headerf"), "header"),
    **dict.fromkeys(("footer", "footerl", "footerr", "footerf"), "footer"),
    **dict.fromkeys(
        ("colortbl", "pict", "nonshppict", "filetbl", "tc", "tcn", "xe", "rxe", "objclass", "objname", "sp", "ftnsep"),
        _SKIP,
    ),
    **dict.fromkeys(("ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "private", "template", "operator"), _SKIP),
}
_HOLDERS = frozenset(("shpinst", "do", "shp", "shpgrp"))
"""Destinations that hold text boxes among drawing instructions."""
_ENCODINGS = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits from the one around it; closing a group brings the outer state back."""

    sink: str = _BODY
    skipped_after_unicode: int = 1
    font: int = -1
    is_hidden: bool = False
    is_deleted: bool = False
    style: int = 0
    outline: int = 0
    list_level: int = 0
    in_table: bool = False


@dataclass(slots=True)
class _Buffer:
    """Text of one destination; bytes wait until their encoding is certain."""

    parts: list[str] = field(default_factory=list[str])
    pending: bytearray = field(default_factory=bytearray)
    encoding: str = DEFAULT_ENCODING

    def add_bytes(self, data: bytes, encoding: str) -> None:
        if encoding != self.encoding:
            self.flush()
            self.encoding = encoding
        self.pending += data

    def add(self, text: str) -> None:
        self.flush()
        self.parts.append(text)

    def flush(self) -> None:
        if self.pending:
            self.parts.append(self.pending.decode(self.encoding, "replace"))
            self.pending.clear()

    def take(self) -> str:
        self.flush()
        text = "".join(self.parts)
        self.parts.clear()
        # Characters beyond the first plane are written as two halves.
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def load_rtf(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    """The document of a Rich Text file.

    Raises:
        LoadFailed: ``corrupt`` for a file that is cut off, ``empty``, or ``unsupported_type``.
    """
    start = data.find(_MAGIC)
    if start < 0:
        raise LoadFailed("unsupported_type", "The file is no Rich Text document; save it as .rtf or PDF.")
    reader = _Reader()
    reader.read(tokens(data[start:]))
    metadata: dict[str, MetadataValue] = {
        key: text for key in ("author", "subject") if (text := collapse(reader.properties.get(key, "")))
    }
    title = collapse(reader.properties.get("title", "")) or reader.blocks.title or title_from_name(name)
    return reader.blocks.assembly.finish(title=title, media_type=MEDIA_TYPE, metadata=metadata)


class _Reader:
    """Follows the tokens once; ``properties`` are those of the document's information group."""

    def __init__(self) -> None:
        self.blocks = FlowBlocks()
        self.properties: dict[str, str] = {}
        self._state = _State()
        self._outer: list[_State] = []
        self._buffers: list[tuple[str, _Buffer]] = [(_BODY, _Buffer())]
        self._encoding = DEFAULT_ENCODING
        self._fonts: dict[int, str] = {}
        self._styles: dict[int, ParagraphStyle] = {}
        self._marker = ""
        self._author = ""
        self._note_counts = {"note": 0, "endnote": 0}
        self._borders: list[CellBorder] = []
        self._merges = (False, False)
        self._margins: dict[str, list[str]] = {"header": [], "footer": []}
        self._margins_added = {"header": 0, "footer": 0}
        self._starred = False
        self._to_skip = 0

    def read(self, stream: Iterable[Token]) -> None:
        """Add a whole file.

        Raises:
            LoadFailed: ``corrupt`` when groups are left open, or nested beyond reason.
        """
        for token in stream:
            if token.kind == "open":
                self._open()
            elif token.kind == "close":
                self._close()
                if not self._outer:
                    break
            elif token.kind == "word":
                self._word(token.value.decode("ascii"), token.number)
            elif token.kind == "symbol":
                self._symbol(token.value)
            else:
                self._bytes(token.value)
        if self._outer:
            raise LoadFailed("corrupt", "The Rich Text file is cut off; the rest of it is missing.")
        self._end_paragraph()
        self.blocks.end()

    def _open(self) -> None:
        if len(self._outer) >= _MAX_DEPTH:
            raise LoadFailed("corrupt", "The Rich Text file nests its groups beyond reason.")
        self._outer.append(self._state)
        self._starred = False
        self._to_skip = 0

    def _close(self) -> None:
        if not self._outer:
            return
        closed, self._state = self._state, self._outer.pop()
        self._to_skip = 0
        if closed.sink != self._state.sink and closed.sink != _SKIP:
            sink, buffer = self._buffers.pop()
            self._finish(sink, buffer.take(), closed)
        elif closed.sink in ("stylesheet", "fonts") and self._state.sink == closed.sink:
            self._define(closed)

    def _enter(self, sink: str) -> None:
        if self._state.sink != sink:
            self._state = replace(self._state, sink=sink, is_hidden=False, is_deleted=self._state.is_deleted)
            if sink != _SKIP:
                self._buffers.append((sink, _Buffer()))

    def _finish(self, sink: str, text: str, closed: _State) -> None:
        """Use what a destination held, now that its group is closed."""
        if closed.is_deleted and sink in ("note", "comment"):
            return
        if sink in self._note_counts:
            self._note_counts[sink] += 1
            mark = f"[^{'e' if sink == 'endnote' else ''}{self._note_counts[sink]}]"
            self._buffers[-1][1].add(mark)
            self.blocks.anchor(f"{mark}: {collapse(text)}")
        elif sink == "comment" and text.strip():
            self.blocks.anchor(f"Comment by {self._author or 'unknown'}: {collapse(text)}")
        elif sink == "author":
            self._author = collapse(text)
        elif sink == "box":
            self.blocks.anchor(text)
        elif sink == "marker":
            self._marker = self._marker or text.strip() or "-"
        elif sink in self._margins:
            self._margins[sink].append(text)
        elif sink in ("title", "subject", "info-author"):
            self.properties[sink.removeprefix("info-")] = text

    def _define(self, closed: _State) -> None:
        """Keep a style by its name, which ends the group."""
        name = self._buffers[-1][1].take().partition(";")[0].strip()
        if closed.sink == "stylesheet":
            heading = _HEADING_NAME.match(name)
            level = int(heading[1]) if heading else closed.outline
            self._styles[closed.style] = ParagraphStyle(level, name.lower() == "title")

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if self._to_skip:
            self._to_skip -= 1
        elif word in _DESTINATIONS or (starred and word not in _HOLDERS):
            self._destination(word)
        elif word in _HOLDERS:
            self._enter(_SKIP)
        elif self._state.sink != _SKIP:
            self._control(word, number)
        elif word == "author" and self._outer:
            self._enter("info-author")

    def _destination(self, word: str) -> None:
        sink = _DESTINATIONS.get(word, _SKIP)
        if self._state.sink == _SKIP and sink not in ("box", "title", "subject"):
            return
        self._enter(sink)

    def _control(self, word: str, number: int | None) -> None:
        if word in _CHARACTERS:
            self._add(_CHARACTERS[word])
        elif word == "u" and number is not None:
            self._add(chr(number % 0x10000))
            self._to_skip = self._state.skipped_after_unicode
        elif word in ("par", "sect", "cell", "row"):
            self._end(word)
        elif word in ("trowd", "cellx", "clmgf", "clmrg", "clvmgf", "clvmrg"):
            self._table_property(word, number)
        elif word == "ftnalt" and self._state.sink == "note":
            self._buffers[-1] = ("endnote", self._buffers[-1][1])
        elif word in ("f", "fcharset", "ansicpg", "cpg", "mac", "pc", "pca"):
            self._font_property(word, number)
        else:
            self._property(word, number)

    def _end(self, word: str) -> None:
        if self._state.sink != _BODY:
            self._add("\n" if word == "par" else " ")
        elif word == "cell":
            self.blocks.cell(collapse(self._buffers[-1][1].take()))
            self._marker = ""
        elif word == "row":
            self.blocks.row(self._borders)
        elif self._state.in_table and word == "par":
            self._add("\n")
        else:
            self._end_paragraph()

    def _end_paragraph(self) -> None:
        state = self._state
        style = self._styles.get(state.style, ParagraphStyle())
        style = replace(style, level=state.outline or style.level, list_level=state.list_level)
        self._add_margins()
        self.blocks.paragraph(self._buffers[0][1].take(), style, self._marker)
        self._marker = ""

    def _add_margins(self) -> None:
        """Add the headers and footers read so far that are not yet in the document."""
        for kind, label in (("header", "Header"), ("footer", "Footer")):
            lines = margin_lines(label, self._margins[kind])
            for line in lines[self._margins_added[kind] :]:
                self.blocks.assembly.add("paragraph", line)
            self._margins_added[kind] = len(lines)

    def _table_property(self, word: str, number: int | None) -> None:
        if word == "trowd":
            self._borders = []
            self._merges = (False, False)
        elif word == "cellx":
            self._borders.append(CellBorder(number or 0, *self._merges))
            self._merges = (False, False)
        else:
            left, above = self._merges
            self._merges = (left or word == "clmrg", above or word == "clvmrg")

    def _font_property(self, word: str, number: int | None) -> None:
        if word == "f":
            self._state = replace(self._state, font=number or 0)
        elif word in _ENCODINGS:
            self._encoding = _ENCODINGS[word]
        elif word == "ansicpg":
            self._encoding = code_page_encoding(number or 0) or self._encoding
        elif word == "cpg" or number != SYMBOL_CHARSET:
            encoding = code_page_encoding(number or 0) if word == "cpg" else charset_encoding(number or 0)
            if encoding:
                self._fonts[self._state.font] = encoding

    def _property(self, word: str, number: int | None) -> None:
        state = self._state
        match word:
            case "pard":
                state = replace(state, style=0, outline=0, list_level=0, in_table=False)
            case "plain":
                state = replace(state, is_hidden=False, is_deleted=False)
            case "s":
                state = replace(state, style=number or 0)
            case "outlinelevel":
                state = replace(state, outline=number + 1 if number is not None and number < 9 else 0)
            case "ilvl":
                state = replace(state, list_level=number or 0)
            case "intbl":
                state = replace(state, in_table=number != 0)
            case "v":
                state = replace(state, is_hidden=number != 0)
            case "deleted":
                state = replace(state, is_deleted=number != 0)
            case "uc":
                state = replace(state, skipped_after_unicode=max(number or 0, 0))
            case _:
                return
        self._state = state

    def _symbol(self, symbol: bytes) -> None:
        text = symbol.decode("latin-1")
        if text == "*":
            self._starred = True
        elif text in "\r\n":
            self._word("par", None)
        elif self._to_skip:
            self._to_skip -= 1
        elif text in _SYMBOLS and self._state.sink != _SKIP:
            self._add(_SYMBOLS[text])

    def _bytes(self, data: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        state = self._state
        if data and state.sink != _SKIP and not state.is_hidden and not state.is_deleted:
            self._buffers[-1][1].add_bytes(data, self._fonts.get(state.font, self._encoding))

    def _add(self, text: str) -> None:
        if not self._state.is_hidden and not self._state.is_deleted:
            self._buffers[-1][1].add(text)


def _certainty(sample: Sample) -> Certainty:
    return 3 if sample.data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(_MAGIC) else 0


LOADER = Loader("Rich Text", frozenset((".rtf",)), _certainty, load_rtf)
