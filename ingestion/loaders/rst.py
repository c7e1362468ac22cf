"""reStructuredText: the text of the file with its structure found by lines, and roles as the words a reader sees.

Directives are not run: nothing is included from other files. Comments and targets are left out, options of directives
with them. Knows the structure that manuals use: titles, paragraphs, lists, code, tables, admonitions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.grid import render
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import normalise
from ingestion.loaders.rst_tables import GRID_LINE, SIMPLE_LINE, grid_rows, simple_rows
from ingestion.types import BlockKind, ParsedDocument
from retrieval.types import MetadataValue

_ENDINGS = frozenset((".rst", ".rest"))
_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1{2,}\s*\Z")
_DIRECTIVE = re.compile(r"\.\.\s+(?:\|[^|]+\|\s+)?([\w:.-]+)::\s*(.*)\Z")
_FIELD = re.compile(r":([^:\s][^:]*):(?:\s+(.*))?\Z")
_TARGET = re.compile(r"\.\.\s+_[^:]*:|__\s|\.\.\s+\[[^\]]+\]\s")
_FOOTNOTE = re.compile(r"\.\.\s+(\[[^\]]+\]\s.*)\Z")
_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\(?(?:\d{1,3}|#|[a-zA-Z])[.)])\s")
_ROLE = re.compile(r":\w[\w:+.-]{0,50}:`([^`]{0,500})`")
_LINK = re.compile(r"`([^`<]{1,500}?)\s{0,9}<[^`>]{1,2000}>`__?")
_REFERENCE = re.compile(r"`([^`]+)`__?(?!\w)")
_TITLE_IN_ROLE = re.compile(r"\A[!~]?(.*?)\s*<[^<>]*>\Z", re.DOTALL)
_SUBSTITUTION = re.compile(r"\|(\w[^|\n]{0,200}\w|\w)\|_{0,2}")
_MAX_DEPTH = 20
"""Directives within directives."""
_CODE = frozenset(("code", "code-block", "sourcecode", "highlight", "parsed-literal", "prompt", "doctest", "testcode"))
_SILENT = frozenset(
    (
        "toctree",
        "contents",
        "image",
        "include",
        "literalinclude",
        "raw",
        "index",
        "meta",
        "highlight",
        "role",
        "default-role",
        "currentmodule",
        "module",
        "tabularcolumns",
        "only",
    )
)
"""Directives whose argument and body are no text of the page."""


def load_rst(source: str, *, name: str) -> ParsedDocument:
    """The document of reStructuredText; a field list at its head is metadata.

    Raises:
        LoadFailed: ``empty`` when there is no text.
    """
    reader = _Reader(normalise(source).expandtabs(8).split("\n"))
    reader.read()
    title = reader.title or title_from_name(name)
    return reader.assembly.finish(title=title, media_type="text/x-rst", metadata=reader.metadata)


class _Reader:
    """One pass over the lines; ``title`` is the first heading."""

    def __init__(self, lines: Sequence[str], holder: _Reader | None = None) -> None:
        self.assembly = holder.assembly if holder is not None else DocumentAssembly()
        self.metadata: dict[str, MetadataValue] = {}
        self.title = ""
        self._lines = lines
        self._depth: int = holder._depth + 1 if holder is not None else 0
        self._styles: list[str] = holder._styles if holder is not None else []

    def read(self) -> None:
        position = self._read_fields(0)
        while position < len(self._lines):
            line = self._lines[position]
            if not line.strip():
                position += 1
            elif level := self._heading(position):
                position = level
            elif line.startswith(("..", "__ ")) and (line[2:3] in ("", " ") or line.startswith("__")):
                position = self._explicit(position)
            elif GRID_LINE.match(line) or SIMPLE_LINE.match(line):
                position = self._table(position)
            else:
                position = self._paragraph(position)

    def _read_fields(self, position: int) -> int:
        while position < len(self._lines) and not self._lines[position].strip():
            position += 1
        while position < len(self._lines) and (match := _FIELD.match(self._lines[position])):
            if match[2]:
                self.metadata[match[1].strip().lower()] = match[2].strip()
            position += 1
        return position

    def _heading(self, position: int) -> int:
        """Position behind a title at this line; 0 when there is none."""
        here, below = self._line(position), self._line(position + 1)
        over = _ADORNMENT.match(here)
        if over and below.strip() and self._line(position + 2).startswith(over[1] * 3):
            style, text, end = over[1] * 2, below.strip(), position + 3
        elif not over and (under := _ADORNMENT.match(below)) and here[:1].strip():
            if len(below.rstrip()) < min(len(here.rstrip()), 4) or SIMPLE_LINE.match(below):
                return 0
            style, text, end = under[1], here.strip(), position + 2
        else:
            return position + 1 if over and not below.strip() else 0
        if style not in self._styles:
            self._styles.append(style)
        words = _words(text)
        self.assembly.heading(words, level=self._styles.index(style) + 1)
        if self.title:
            return end
        self.title = words
        return self._read_fields(end)

    def _explicit(self, position: int) -> int:
        """Directives, footnotes, targets and comments, with what is indented below them."""
        line = self._lines[position]
        end = self._indented_end(position + 1)
        body = self._lines[position + 1 : end]
        if match := _DIRECTIVE.match(line):
            self._directive(match[1].lower().rpartition(":")[2] or match[1].lower(), match[2].strip(), body)
        elif match := _FOOTNOTE.match(line):
            self.assembly.add("paragraph", _words("\n".join([match[1], *(part.strip() for part in body)])))
        elif not _TARGET.match(line) and line.strip() == ".." and body and not body[0].strip():
            return position + 1
        return end

    def _directive(self, name: str, argument: str, body: Sequence[str]) -> None:
        while body and (not body[0].strip() or _FIELD.match(body[0].strip())):
            is_option = bool(body[0].strip())
            body = body[1:]
            if not is_option and body and not _FIELD.match(body[0].strip()):
                break
        text = _dedented(body)
        if name in _CODE:
            self.assembly.code(
                "\n".join(text), language=argument.lower() if re.fullmatch(r"[\w+#-]+", argument) else ""
            )
            return
        if name in _SILENT:
            return
        if argument:
            label = argument if name in ("rubric", "table", "figure", "csv-table", "list-table") else ""
            self.assembly.add("paragraph", _words(label or _labelled(name, argument)))
        elif text:
            self.assembly.add("paragraph", f"{name.replace('-', ' ').capitalize()}:")
        if self._depth < _MAX_DEPTH:
            _Reader(text, self).read()
        else:
            self.assembly.add("paragraph", _words("\n".join(text)))

    def _table(self, position: int) -> int:
        end = position
        is_grid = bool(GRID_LINE.match(self._lines[position]))
        borders = 0
        while end < len(self._lines):
            line = self._lines[end]
            if is_grid and not line.strip().startswith(("+", "|")):
                break
            borders += bool(SIMPLE_LINE.match(line))
            end += 1
            if not is_grid and SIMPLE_LINE.match(line) and borders >= 2 and not self._line(end).strip():
                break
        rows = (grid_rows if is_grid else simple_rows)(self._lines[position:end])
        self.assembly.add("table", render([[_words(cell) for cell in row] for row in rows]))
        return end

    def _paragraph(self, position: int) -> int:
        end = position + 1
        while end < len(self._lines) and self._lines[end].strip() and not self._starts_heading(end):
            end += 1
        lines = self._lines[position:end]
        kind: BlockKind = "list" if _ITEM.match(lines[0]) else "quote" if lines[0].startswith(" ") else "paragraph"
        if kind == "list":
            end = self._list_end(end)
            lines = self._lines[position:end]
        text = "\n".join(lines).rstrip()
        if not text.endswith("::"):
            self.assembly.add(kind, _words(text))
            return end
        self.assembly.add(kind, _words(text[:-1] if text.strip() != "::" else ""))
        code_end = self._indented_end(end)
        self.assembly.code("\n".join(_dedented(self._lines[end:code_end])))
        return code_end

    def _list_end(self, end: int) -> int:
        """Items apart by blank lines are one list, with the paragraphs inside them."""
        while True:
            following = end
            while following < len(self._lines) and not self._lines[following].strip():
                following += 1
            if following >= len(self._lines):
                return end
            line = self._lines[following]
            if not (_ITEM.match(line) or line.startswith("  ")) or self._lines[end - 1].rstrip().endswith("::"):
                return end
            end = following
            while end < len(self._lines) and self._lines[end].strip():
                end += 1

    def _starts_heading(self, position: int) -> bool:
        return bool(_ADORNMENT.match(self._line(position + 1))) and self._lines[position][:1].strip() != ""

    def _indented_end(self, position: int) -> int:
        end = position
        for index in range(position, len(self._lines)):
            line = self._lines[index]
            if line.strip() and not line.startswith(" "):
                break
            if line.strip():
                end = index + 1
        return end

    def _line(self, position: int) -> str:
        return self._lines[position] if position < len(self._lines) else ""


def _labelled(name: str, argument: str) -> str:
    return f"{name.replace('-', ' ').capitalize()}: {argument}"


def _dedented(lines: Sequence[str]) -> list[str]:
    full = [line for line in lines if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in full), default=0)
    return [line[margin:] for line in lines]


def _words(text: str) -> str:
    """Inline marks to the words a reader sees; literals and emphasis stay as written."""
    text = _ROLE.sub(lambda match: _TITLE_IN_ROLE.sub(r"\1", match[1]).lstrip("!~"), text)
    text = _LINK.sub(r"\1", text)
    text = _REFERENCE.sub(r"\1", text)
    return _SUBSTITUTION.sub(r"\1", text) if "|" in text and not text.lstrip().startswith(("+", "|")) else text


def _certainty(sample: Sample) -> Certainty:
    """By the ending alone: its marks mean other things in other texts."""
    return 1 if sample.ending in _ENDINGS else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_rst(decode(data).text, name=name)


LOADER = Loader("reStructuredText", _ENDINGS, _certainty, _load)
