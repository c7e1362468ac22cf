"""Word documents: the final text with headings, lists, tables, notes, labelled comments and text boxes once.

The parts are read directly: python-docx leaves out inserted text, notes, comments and boxes (measured on the
test documents).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.docx_styles import (
    STRICT_W,
    ListCounter,
    Style,
    W,
    attribute,
    outline_level,
    paragraph_numbering,
    read_numbering,
    read_styles,
)
from ingestion.loaders.docx_text import read_paragraph
from ingestion.loaders.grid import Cell, lay_out, render
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_package import OLE_MAGIC, Element, OfficePackage, open_package
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MAIN_PART = "word/document.xml"
_TRANSPARENT = frozenset(W + name for name in ("sdt", "sdtContent", "smartTag", "customXml", "ins", "moveTo"))
_CORE = "docProps/core.xml"
_DC = "{http://purl.org/dc/elements/1.1/}"
_NOTE_PARTS = {"footnote": "word/footnotes.xml", "endnote": "word/endnotes.xml", "comment": "word/comments.xml"}
_MAX_BOX_DEPTH = 8


def load_docx(data: bytes, *, name: str) -> ParsedDocument:
    """The document of a Word file; comments stand behind their paragraph as ``Comment by AUTHOR: ...``.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``unsafe_archive``, ``empty``, or ``unsupported_type``.
    """
    package = open_package(data)
    root = package.xml(MAIN_PART)
    if root is None:
        raise LoadFailed("unsupported_type", f"The file is {_kind(package)} and no Word document; save it as PDF.")
    if str(root.tag).startswith(STRICT_W):
        raise LoadFailed("unsupported_type", "Strict Open XML is not read; save the document as a normal .docx.")
    body = root.find(W + "body")
    reader = _Reader(package)
    if body is not None:
        reader.read(body)
    core = _core_properties(package)
    metadata: dict[str, MetadataValue] = {key: value for key, value in core.items() if key != "title"}
    title = core.get("title") or reader.title or reader.only_top_heading or title_from_name(name)
    return reader.assembly.finish(title=title, media_type=MEDIA_TYPE, metadata=metadata)


def _kind(package: OfficePackage) -> str:
    kinds = {"xl/": "a workbook", "ppt/": "a presentation", "META-INF/": "a program or a book"}
    return next(
        (kind for start, kind in kinds.items() if any(n.startswith(start) for n in package.names)), "an archive"
    )


def _core_properties(package: OfficePackage) -> Mapping[str, str]:
    root = package.xml(_CORE)
    if root is None:
        return {}
    fields = {"title": "title", "creator": "author", "subject": "subject", "language": "language"}
    found = {target: collapse(root.findtext(_DC + source) or "") for source, target in fields.items()}
    return {key: value for key, value in found.items() if value}


class _Reader:
    """Walks the body once and adds its blocks; ``title`` is the text in title style."""

    def __init__(self, package: OfficePackage) -> None:
        self.assembly = DocumentAssembly()
        self.title = ""
        self._top_headings: list[str] = []
        self._styles = read_styles(package.xml("word/styles.xml"))
        self._counter = ListCounter(read_numbering(package.xml("word/numbering.xml")))
        self._notes = {kind: _notes(package.xml(part)) for kind, part in _NOTE_PARTS.items()}
        self._items: list[str] = []

    @property
    def only_top_heading(self) -> str:
        """The heading of the first level where there is just one: then it is the document's."""
        return self._top_headings[0] if len(self._top_headings) == 1 else ""

    def read(self, container: Element, depth: int = 0) -> None:
        """Add everything in a body, cell or box, in order; boxes within boxes only so deep."""
        for element in _content(container):
            if element.tag == W + "p":
                self._paragraph(element, depth)
            elif element.tag == W + "tbl":
                self._table(element, depth)
        self._end_list()

    def _paragraph(self, element: Element, depth: int) -> None:
        found = read_paragraph(element)
        style, numbering = self._style(element)
        if style.heading_level or style.is_title:
            self._end_list()
            if style.is_title:
                self.title = self.title or collapse(found.text)
            elif style.heading_level == 1:
                self._top_headings.append(collapse(found.text))
            self.assembly.heading(found.text, level=max(1, style.heading_level))
        elif numbering and found.text.strip():
            self._items.append(self._counter.marker(numbering) + found.text.strip())
        elif found.text.strip():
            self._end_list()
            self.assembly.add("paragraph", found.text)
        if found.boxes and depth < _MAX_BOX_DEPTH:
            self._end_list()
            for box in found.boxes:
                self.read(box, depth + 1)
        self._add_notes(found.notes)

    def _style(self, element: Element) -> tuple[Style, tuple[str, int] | None]:
        properties = element.find(W + "pPr")
        if properties is None:
            return self._styles.get("Normal", Style()), None
        style = self._styles.get(attribute(properties.find(W + "pStyle")), Style())
        level = outline_level(properties)
        numbering = paragraph_numbering(properties) or style.numbering
        return (Style(level, style.is_title, style.numbering) if level else style), numbering

    def _end_list(self) -> None:
        if self._items:
            self.assembly.add("list", "\n".join(self._items))
            self._items.clear()

    def _add_notes(self, notes: list[tuple[str, str]]) -> None:
        for kind, identifier in notes:
            text = self._notes[kind].get(identifier, "")
            if not text:
                continue
            self._end_list()
            mark = {"footnote": f"[^{identifier}]: ", "endnote": f"[^e{identifier}]: "}.get(kind, "")
            self.assembly.add("paragraph", mark + text)

    def _table(self, table: Element, depth: int) -> None:
        self._end_list()
        rows = [row for row in _content(table, W + "tr") if not _is_deleted(row)]
        cells = [list(_content(row, W + "tc")) for row in rows]
        if all(len(row) <= 1 for row in cells):
            for row in cells:
                for cell in row:
                    self.read(cell, depth)
            return
        notes: list[tuple[str, str]] = []
        grid = _grid(rows, cells, notes)
        self.assembly.add("table", render(grid))
        self._add_notes(notes)


def _content(container: Element, tag: str | None = None) -> Iterator[Element]:
    """Child elements in order, seen through content controls and tracked insertions."""
    stack: list[Element] = list(reversed(container))
    while stack:
        element = stack.pop()
        if element.tag in _TRANSPARENT:
            stack.extend(reversed(element))
        elif tag is None or element.tag == tag:
            yield element


def _grid(rows: list[Element], cells_by_row: list[list[Element]], notes: list[tuple[str, str]]) -> list[list[str]]:
    """Texts of the cells; a vertically merged cell repeats what stands above it."""
    lines: list[list[str]] = []
    for row, row_cells in zip(rows, cells_by_row, strict=True):
        column = _columns_before(row)
        cells = [Cell("")] * column
        for cell in row_cells:
            properties = cell.find(W + "tcPr")
            span = attribute(properties.find(W + "gridSpan")) if properties is not None else ""
            merge = properties.find(W + "vMerge") if properties is not None else None
            columns = max(1, int(span)) if span.isdigit() else 1
            continued = merge is not None and attribute(merge) != "restart" and lines and column < len(lines[-1])
            text = lines[-1][column] if continued else _cell_text(cell, notes)
            cells.append(Cell(text, columns))
            column += columns
        lines.extend(lay_out([cells]))
    return lines


def _cell_text(cell: Element, notes: list[tuple[str, str]]) -> str:
    texts: list[str] = []
    for paragraph in cell.iter(W + "p"):
        found = read_paragraph(paragraph)
        texts.append(found.text)
        notes.extend(found.notes)
    return collapse(" ".join(texts))


def _columns_before(row: Element) -> int:
    """Columns that a row leaves out on its left."""
    properties = row.find(W + "trPr")
    value = attribute(properties.find(W + "gridBefore")) if properties is not None else ""
    return min(int(value), 60) if value.isdigit() else 0


def _is_deleted(row: Element) -> bool:
    properties = row.find(W + "trPr")
    return properties is not None and properties.find(W + "del") is not None


def _notes(root: Element | None) -> dict[str, str]:
    """Texts of notes by id; separators have none. A comment names its author."""
    if root is None:
        return {}
    found: dict[str, str] = {}
    for note in root:
        if attribute(note, "type") in ("separator", "continuationSeparator"):
            continue
        text = " ".join(read_paragraph(paragraph).text.strip() for paragraph in note.iter(W + "p")).strip()
        if text and note.tag == W + "comment":
            text = f"Comment by {attribute(note, 'author') or 'unknown'}: {text}"
        found[attribute(note, "id")] = text
    return found


def _certainty(sample: Sample) -> Certainty:
    """A zip that lists the main part; an old or encrypted container, or a damaged one, at the ending's word."""
    if MAIN_PART in sample.zip_names:
        return 3
    return 2 if sample.data.startswith((b"PK\x03\x04", b"PK\x05\x06", OLE_MAGIC)) else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_docx(data, name=name)


LOADER = Loader("Word", frozenset((".docx", ".docm", ".dotx", ".dotm")), _certainty, _load)
