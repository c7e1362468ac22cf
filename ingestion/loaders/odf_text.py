"""The body of an OpenDocument text, cell, box or slide as blocks: headings, lists, tables, notes, labelled comments.

Deleted text stands apart in OpenDocument files, so what is read is the final text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ingestion.loaders.assembly import DocumentAssembly
from ingestion.loaders.grid import Cell, lay_out, render
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_package import Element, OfficePackage, whole_number
from ingestion.loaders.opendocument import DRAW, OFFICE, PRESENTATION, STYLE, TABLE, TEXT

_CREATOR = "{http://purl.org/dc/elements/1.1/}creator"
_CONTAINERS = frozenset(
    (
        *(TEXT + name for name in ("section", "index-body", "illustration-index", "list-header", "numbered-paragraph")),
        *(DRAW + name for name in ("frame", "text-box", "g", "custom-shape", "rect", "ellipse", "a", "page", "line")),
        *(OFFICE + name for name in ("text", "presentation", "spreadsheet")),
    )
)
_SKIPPED = frozenset(
    (
        *(TEXT + name for name in ("tracked-changes", "table-of-content", "sequence-decls", "variable-decls")),
        *(OFFICE + name for name in ("forms", "event-listeners", "annotation-end")),
        *(PRESENTATION + name for name in ("notes", "date-time", "footer", "header")),
        *(DRAW + name for name in ("object", "object-ole", "image", "plugin")),
        TEXT + "ruby-text",
    )
)
_ROW_GROUPS = frozenset(TABLE + name for name in ("table-header-rows", "table-rows", "table-row-group"))
_MAX_REPEAT = 1000


@dataclass(frozen=True, slots=True)
class OdfStyles:
    """Parents of paragraph styles, and which levels of which list styles are numbered."""

    parents: Mapping[str, str]
    numbered: frozenset[tuple[str, int]]
    hidden_pages: frozenset[str]

    def is_title(self, name: str) -> bool:
        """Whether a paragraph style is the title's, or made from it."""
        for _ in range(20):
            if name == "Title":
                return True
            name = self.parents.get(name, "")
        return False


def read_odf_styles(package: OfficePackage) -> OdfStyles:
    """Styles of a document, its common and its automatic ones."""
    roots = [root for name in ("styles.xml", "content.xml") if (root := package.xml(name)) is not None]
    styles = [style for root in roots for style in root.iter(STYLE + "style")]
    parents = {style.get(STYLE + "name") or "": style.get(STYLE + "parent-style-name") or "" for style in styles}
    numbered = {
        (style.get(STYLE + "name") or "", whole_number(level.get(TEXT + "level"), default=1))
        for root in roots
        for style in root.iter(TEXT + "list-style")
        for level in style.iter(TEXT + "list-level-style-number")
        if level.get(STYLE + "num-format")
    }
    hidden = {
        style.get(STYLE + "name") or ""
        for style in styles
        for properties in style.iter(STYLE + "drawing-page-properties")
        if properties.get(PRESENTATION + "visibility") == "hidden"
    }
    return OdfStyles(parents, frozenset(numbered), frozenset(hidden))


@dataclass(slots=True)
class _Paragraph:
    """Text of a paragraph, and what is anchored in it."""

    parts: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    boxes: list[Element] = field(default_factory=list[Element])

    @property
    def text(self) -> str:
        return "".join(self.parts).strip()


class OdfReader:
    """Adds a body to a document block by block; ``title`` is the text in title style, ``page`` the slide being read."""

    def __init__(self, assembly: DocumentAssembly, styles: OdfStyles) -> None:
        self.assembly = assembly
        self.title = ""
        self.page: int | None = None
        self._styles = styles
        self._counters: dict[tuple[str, int], int] = {}

    def read(self, container: Element) -> None:
        """Add everything in a container, in order."""
        for element in container:
            tag = element.tag
            if tag == TEXT + "h":
                self._heading(element)
            elif tag == TEXT + "p":
                self._paragraph(element)
            elif tag == TEXT + "list":
                self._list(element)
            elif tag == TABLE + "table":
                self._table(element)
            elif tag in _CONTAINERS:
                self.read(element)

    def _heading(self, element: Element) -> None:
        found = _paragraph(element)
        level = whole_number(element.get(TEXT + "outline-level"), default=1)
        self.assembly.heading(found.text, level=level, page=self.page)
        self._add_anchored(found)

    def _paragraph(self, element: Element) -> None:
        found = _paragraph(element)
        if found.text and self._styles.is_title(element.get(TEXT + "style-name") or ""):
            self.title = self.title or collapse(found.text)
            self.assembly.heading(found.text, level=1, page=self.page)
        else:
            self.assembly.add("paragraph", found.text, page=self.page)
        self._add_anchored(found)

    def _add_anchored(self, found: _Paragraph) -> None:
        for box in found.boxes:
            self.read(box)
        for note in found.notes:
            self.assembly.add("paragraph", note, page=self.page)

    def _list(self, element: Element) -> None:
        """Add a list as one block; headings in it, as numbered chapters have, stay headings."""
        lines: list[str] = []
        anchored = _Paragraph()
        self._items(element, element.get(TEXT + "style-name") or "", 1, lines, anchored)
        self.assembly.add("list", "\n".join(lines), page=self.page)
        self._add_anchored(anchored)

    def _items(self, element: Element, style: str, level: int, lines: list[str], anchored: _Paragraph) -> None:
        key = (style, level)
        if element.get(TEXT + "continue-numbering") != "true":
            self._counters[key] = 0
        for item in element:
            first = True
            for part in item:
                if part.tag == TEXT + "list":
                    self._items(part, part.get(TEXT + "style-name") or style, level + 1, lines, anchored)
                elif part.tag == TEXT + "h":
                    self.assembly.add("list", "\n".join(lines), page=self.page)
                    lines.clear()
                    self._heading(part)
                elif part.tag == TEXT + "p":
                    found = _paragraph(part)
                    anchored.notes += found.notes
                    anchored.boxes += found.boxes
                    if found.text:
                        lines.append("  " * (level - 1) + self._marker(key, item, first) + collapse(found.text))
                        first = False

    def _marker(self, key: tuple[str, int], item: Element, is_first: bool) -> str:
        if item.tag != TEXT + "list-item" or not is_first:
            return "  "
        self._counters[key] += 1
        return f"{self._counters[key]}. " if key in self._styles.numbered else "- "

    def _table(self, table: Element) -> None:
        notes: list[str] = []
        rows = [list(_cells(row, notes)) for row in _rows(table)]
        if all(len(row) <= 1 for row in rows):
            for row in _rows(table):
                for cell in row:
                    self.read(cell)
            return
        self.assembly.add("table", render(lay_out(rows)), page=self.page)
        for note in notes:
            self.assembly.add("paragraph", note, page=self.page)


def _rows(table: Element) -> Iterator[Element]:
    for element in table:
        if element.tag == TABLE + "table-row":
            yield element
        elif element.tag in _ROW_GROUPS:
            yield from _rows(element)


def _cells(row: Element, notes: list[str]) -> Iterator[Cell]:
    """Cells of a row; those that another one covers are left out."""
    for cell in row:
        if cell.tag != TABLE + "table-cell":
            continue
        columns, rows, repeated = (
            whole_number(cell.get(f"{TABLE}number-{name}"), default=1, most=_MAX_REPEAT)
            for name in ("columns-spanned", "rows-spanned", "columns-repeated")
        )
        text = plain_text(cell, notes)
        for _ in range(repeated):
            yield Cell(text, columns, rows)


def plain_text(container: Element, notes: list[str] | None = None) -> str:
    """All text of a cell or note on one line; its own notes are added to ``notes``."""
    texts: list[str] = []
    for element in container:
        if element.tag in (TEXT + "p", TEXT + "h"):
            found = _paragraph(element)
            texts += [found.text, *(plain_text(box, notes) for box in found.boxes)]
            if notes is not None:
                notes += found.notes
        elif element.tag not in _SKIPPED and element.tag != OFFICE + "annotation":
            texts.append(plain_text(element, notes))
    return collapse(" ".join(texts))


def _paragraph(element: Element) -> _Paragraph:
    found = _Paragraph()
    _collect(element, found)
    return found


def _collect(element: Element, found: _Paragraph) -> None:
    """Add an element's text and that of its children; the tails of those belong to it."""
    found.parts.append(_unbroken(element.text))
    for child in element:
        tag = child.tag
        if tag == TEXT + "note":
            _add_note(child, found)
        elif tag == OFFICE + "annotation":
            author = collapse(child.findtext(_CREATOR) or "") or "unknown"
            if text := plain_text(child):
                found.notes.append(f"Comment by {author}: {text}")
        elif tag == TEXT + "s":
            found.parts.append(" " * whole_number(child.get(TEXT + "c"), default=1, most=_MAX_REPEAT))
        elif tag in (TEXT + "tab", TEXT + "line-break"):
            found.parts.append("\t" if tag == TEXT + "tab" else "\n")
        elif tag in _CONTAINERS and tag != DRAW + "a":
            found.boxes.append(child)
        elif tag not in _SKIPPED:
            _collect(child, found)
        found.parts.append(_unbroken(child.tail))


def _add_note(note: Element, found: _Paragraph) -> None:
    citation = collapse(note.findtext(TEXT + "note-citation") or "") or str(len(found.notes) + 1)
    mark = f"[^{'e' if note.get(TEXT + 'note-class') == 'endnote' else ''}{citation}]"
    body = note.find(TEXT + "note-body")
    found.parts.append(mark)
    found.notes.append(f"{mark}: {plain_text(body) if body is not None else ''}")


def _unbroken(text: str | None) -> str:
    """Text as the format defines it: line ends and tabs in the XML are blanks."""
    return " ".join((text or "").replace("\t", " ").split("\n"))
