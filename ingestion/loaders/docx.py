"""Word documents: the final text with headings, lists, tables, notes, labelled comments and text boxes once.

Headers and footers stand once each, labelled, above the text: they name the document, and repeat on every page.

The parts are read directly: python-docx leaves out inserted text, notes, comments and boxes (measured on the
test documents).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.docx_styles import (
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
from ingestion.loaders.loader import Certainty, Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.margins import margin_lines
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_chart import read_chart
from ingestion.loaders.office_embedded import embedded_files
from ingestion.loaders.office_package import (
    OLE_MAGIC,
    Element,
    OfficePackage,
    Relationship,
    is_package,
    open_package,
    whole_number,
)
from retrieval.types import MetadataValue

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MAIN_PART = "word/document.xml"
_TRANSPARENT = frozenset(W + name for name in ("sdt", "sdtContent", "smartTag", "customXml", "ins", "moveTo"))
_NOTE_PARTS = {"footnote": "word/footnotes.xml", "endnote": "word/endnotes.xml", "comment": "word/comments.xml"}
_BOUNDARY_NOTES = ("separator", "continuationSeparator", "continuationNotice")
_MARGINS = {"header": "Header", "footer": "Footer"}
_MAX_BOX_DEPTH = 8
_MAX_COLUMNS = 63
"""Word's own limit of a table."""


def load_docx(data: bytes, name: str, options: LoadOptions) -> Loaded:
    """The document of a Word file, and the files embedded in it.

    Comments stand behind their paragraph as ``Comment by AUTHOR: ...``.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``unsafe_archive``, ``empty``, or ``unsupported_type``.
    """
    package = open_package(data)
    main = package.main_part(MAIN_PART)
    root = package.xml(main)
    if root is None or root.tag != W + "document":
        raise LoadFailed("unsupported_type", f"The file is {_kind(package)} and no Word document; save it as PDF.")
    body = root.find(W + "body")
    reader = _Reader(package, package.relationships(main))
    reader.read_margins()
    if body is not None:
        reader.read(body)
    properties = package.core_properties()
    metadata: dict[str, MetadataValue] = {key: value for key, value in properties.items() if key != "title"}
    title = properties.get("title") or reader.title or reader.only_top_heading or title_from_name(name)
    document = reader.assembly.finish(title=title, media_type=MEDIA_TYPE, metadata=metadata)
    return Loaded(document, embedded_files(package, [main], options))


def _kind(package: OfficePackage) -> str:
    kinds = {"META-INF/": "a program", "xl/": "a workbook", "ppt/": "a presentation"}
    return next(
        (kind for start, kind in kinds.items() if any(n.startswith(start) for n in package.names)), "an archive"
    )


class _Reader:
    """Walks the body once and adds its blocks; ``title`` is the text in title style."""

    def __init__(self, package: OfficePackage, links: Mapping[str, Relationship]) -> None:
        self.assembly = DocumentAssembly()
        self.title = ""
        self._package = package
        self._links = links
        self._top_headings: list[str] = []
        self._styles = read_styles(package.xml("word/styles.xml"))
        self._counter = ListCounter(read_numbering(package.xml("word/numbering.xml")))
        self._notes = {kind: _notes(package.xml(part)) for kind, part in _NOTE_PARTS.items()}
        self._items: list[str] = []

    @property
    def only_top_heading(self) -> str:
        """The heading of the first level where there is just one: then it is the document's."""
        return self._top_headings[0] if len(self._top_headings) == 1 else ""

    def read_margins(self) -> None:
        """Add the headers and footers of all sections."""
        for kind, label in _MARGINS.items():
            roots = [self._package.xml(link.target) for link in self._links.values() if link.kind == kind]
            texts = [_text_of(root, []) for root in roots if root is not None]
            for line in margin_lines(label, texts):
                self.assembly.add("paragraph", line)

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
        self._add_charts(found.charts)
        self._add_notes(found.notes)

    def _add_charts(self, charts: list[str]) -> None:
        for identifier in charts:
            root = self._package.xml(self._links[identifier].target) if identifier in self._links else None
            if root is not None:
                self._end_list()
                chart = read_chart(root)
                self.assembly.add("paragraph", f"Chart: {chart.title}" if chart.title else "")
                self.assembly.add("table", chart.table)

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
            columns = max(1, whole_number(span, default=1, most=_MAX_COLUMNS))
            continued = merge is not None and attribute(merge) != "restart" and lines and column < len(lines[-1])
            text = lines[-1][column] if continued else _cell_text(cell, notes)
            cells.append(Cell(text, columns))
            column += columns
        lines.extend(lay_out([cells]))
    return lines


def _cell_text(cell: Element, notes: list[tuple[str, str]]) -> str:
    return collapse(_text_of(cell, notes))


def _text_of(container: Element, notes: list[tuple[str, str]], depth: int = 0) -> str:
    """All text in a cell, header or box, with that of tables and boxes inside it, each once."""
    texts: list[str] = []
    for element in _content(container):
        if element.tag == W + "p":
            found = read_paragraph(element)
            texts.append(found.text)
            notes.extend(found.notes)
            texts.extend(_text_of(box, notes, depth + 1) for box in found.boxes if depth < _MAX_BOX_DEPTH)
        elif element.tag == W + "tbl" and depth < _MAX_BOX_DEPTH:
            rows = [row for row in _content(element, W + "tr") if not _is_deleted(row)]
            texts.extend(_text_of(cell, notes, depth + 1) for row in rows for cell in _content(row, W + "tc"))
    return " ".join(texts)


def _columns_before(row: Element) -> int:
    """Columns that a row leaves out on its left."""
    properties = row.find(W + "trPr")
    value = attribute(properties.find(W + "gridBefore")) if properties is not None else ""
    return whole_number(value, most=_MAX_COLUMNS)


def _is_deleted(row: Element) -> bool:
    properties = row.find(W + "trPr")
    return properties is not None and properties.find(W + "del") is not None


def _notes(root: Element | None) -> dict[str, str]:
    """Texts of notes by id; separators have none. A comment names its author."""
    if root is None:
        return {}
    found: dict[str, str] = {}
    for note in root:
        if attribute(note, "type") in _BOUNDARY_NOTES:
            continue
        text = " ".join(read_paragraph(paragraph).text.strip() for paragraph in note.iter(W + "p")).strip()
        if text and note.tag == W + "comment":
            text = f"Comment by {attribute(note, 'author') or 'unknown'}: {text}"
        found[attribute(note, "id")] = text
    return found


def _certainty(sample: Sample) -> Certainty:
    """A zip with Word's folder; an encrypted container, or a damaged zip, at the ending's word."""
    if sample.zip_names:
        return 3 if any(name.startswith("word/") for name in sample.zip_names) else 0
    return 2 if is_package(sample.data) or sample.data.startswith(OLE_MAGIC) else 0


LOADER = Loader("Word", frozenset((".docx", ".docm", ".dotx", ".dotm")), _certainty, load_docx)
