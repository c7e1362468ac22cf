"""PDF files through PDFium: text in its reading order, page by page, headings by outline and size of type."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse, normalise
from ingestion.loaders.pdf_layout import Line, drop_running_lines, fold, mend_words, paragraphs
from ingestion.types import BlockKind, ParsedDocument
from retrieval.types import MetadataValue

_lock = threading.Lock()
"""PDFium is not safe for calls from several threads, not even on different documents."""
_NO_PAGES = re.compile(rb"/Kids\s*\[\s*\]")
_SOME_PAGE = re.compile(rb"/Type\s*/Page\b(?!s)|/ObjStm\b")
_BULLET = re.compile(r"[\u2022\u25cf\u25aa\u2023\u2013*-]\s|\(?\d{1,2}[.)]\s")
_POOR_TITLE = re.compile(
    r"^(?:untitled|microsoft (?:word|powerpoint)\b.*|.*\.(?:docx?|pdf|tex|dvi|indd|pptx?|xlsx?))$", re.I
)
_BOLD_WEIGHT = 600
_MAX_OUTLINE = 2000
_METADATA = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created"}


def load_pdf(data: bytes, *, name: str) -> ParsedDocument:
    """The document of a PDF file; pages without text keep their numbers.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``empty`` (no pages), or ``no_text_layer`` (pages are pictures).
    """
    with _lock, closing(_open(data)) as document:
        if len(document) == 0:
            raise LoadFailed("empty", "The PDF has no pages.")
        pages = [list(_page_lines(document, index)) for index in range(len(document))]
        outline = _outline(document)
        info = document.get_metadata_dict()
    if not any(character.isalnum() for page in pages for line in page for character in line.text):
        raise LoadFailed("no_text_layer", "The PDF's pages are pictures without a text layer; run OCR on it first.")
    pages = mend_words(pages)
    assembly = DocumentAssembly()
    top_heading = ""
    for paragraph in paragraphs(drop_running_lines(pages), outline):
        if paragraph.level:
            top_heading = top_heading or collapse(paragraph.text)
            assembly.heading(paragraph.text, level=paragraph.level, page=paragraph.page)
        else:
            kind: BlockKind = "list" if _BULLET.match(paragraph.text) else "paragraph"
            assembly.add(kind, paragraph.text, page=paragraph.page)
    title = collapse(normalise(info.get("Title", "")))
    if len(title) < 4 or _POOR_TITLE.match(title):
        title = top_heading or title_from_name(name)
    metadata: dict[str, MetadataValue] = {
        key: collapse(normalise(info[field])) for field, key in _METADATA.items() if info.get(field, "").strip()
    }
    return assembly.finish(title=title, media_type="application/pdf", page_count=len(pages), metadata=metadata)


def _open(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise LoadFailed("encrypted", "The PDF asks for a password; save a copy without one.") from error
        if _NO_PAGES.search(data) and not _SOME_PAGE.search(data):
            raise LoadFailed("empty", "The PDF has no pages.") from error
        raise LoadFailed("corrupt", "The PDF is damaged or cut off and cannot be read.") from error


def _page_lines(document: pdfium.PdfDocument, index: int) -> Iterator[Line]:
    """Lines of one page; a page that cannot be read has none, as its neighbours can still be right."""
    try:
        page = document[index]
    except pdfium.PdfiumError:
        return
    with closing(page), closing(page.get_textpage()) as text_page:
        unit = 0
        for raw in text_page.get_text_range().split("\r\n"):
            text = raw.strip()
            first = unit + len(raw) - len(raw.lstrip())
            if text:
                yield _line(text_page, first, text, index + 1)
            unit += _utf16_length(raw) + 2


def _utf16_length(text: str) -> int:
    """PDFium counts characters in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _line(text_page: pdfium.PdfTextPage, unit: int, text: str, page: int) -> Line:
    index: int = pdfium_c.FPDFText_GetCharIndexFromTextIndex(text_page.raw, unit)
    last: int = pdfium_c.FPDFText_GetCharIndexFromTextIndex(text_page.raw, unit + _utf16_length(text) - 1)
    if index < 0 or last < 0:
        return Line(text, page, 0.0, bold=False, top=0.0, bottom=0.0)
    weight: int = pdfium_c.FPDFText_GetFontWeight(text_page.raw, index)
    size = _upright_size(text_page, index)
    return Line(text, page, size, weight >= _BOLD_WEIGHT, _baseline(text_page, index), _baseline(text_page, last))


def _baseline(text_page: pdfium.PdfTextPage, index: int) -> float:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium_c.FPDFText_GetCharOrigin(text_page.raw, index, x, y)
    return y.value


def _upright_size(text_page: pdfium.PdfTextPage, index: int) -> float:
    """Size of type in points; 0 for text that runs sideways, such as stamps in the margin."""
    size: float = pdfium_c.FPDFText_GetFontSize(text_page.raw, index)
    matrix = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFText_GetMatrix(text_page.raw, index, matrix):
        return size
    across, upright = cast("float", matrix.b), cast("float", matrix.d)
    return 0.0 if abs(across) > abs(upright) else size * abs(upright)


def _outline(document: pdfium.PdfDocument) -> dict[tuple[int, str], int]:
    levels: dict[tuple[int, str], int] = {}
    try:
        for entry in cast("Iterable[pdfium.PdfBookmark]", document.get_toc(max_depth=6)):
            destination = entry.get_dest()
            page = cast("int | None", destination.get_index()) if destination is not None else None
            title = fold(entry.get_title())
            if page is not None and title and len(levels) < _MAX_OUTLINE:
                levels.setdefault((page + 1, title), cast("int", entry.level) + 1)
    except pdfium.PdfiumError:
        return {}
    return levels


def _certainty(sample: Sample) -> Certainty:
    """By its mark; where other bytes stand before that, an object must follow, as prose may speak of the mark."""
    if sample.head.startswith(b"%PDF-"):
        return 3
    return 2 if b"%PDF-" in sample.head and b" obj" in sample.data else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_pdf(data, name=name)


LOADER = Loader("PDF", frozenset((".pdf",)), _certainty, _load)
