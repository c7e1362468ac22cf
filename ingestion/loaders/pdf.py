"""PDF files through PDFium: text in its reading order, page by page, headings by outline and size of type.

Pages that are pictures are read by recognition (``ocr.py``); form values and comments follow their page's text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import cast

import pypdfium2 as pdfium

from ingestion.errors import LoadFailed
from ingestion.loaders import ocr
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.loader import Certainty, ChildFile, Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse, normalise
from ingestion.loaders.pdf_extras import PageExtras, attached_files, page_extras
from ingestion.loaders.pdf_layout import (
    HYPHEN,
    Line,
    Paragraph,
    continue_tables,
    drop_running_lines,
    fold,
    mend_words,
    paragraphs,
)
from ingestion.loaders.pdf_open import PDFIUM, draw, open_pdf
from ingestion.loaders.pdf_text import PageText, page_text
from ingestion.types import BlockKind, ParsedDocument
from retrieval.types import MetadataValue

_BULLET = re.compile(r"[\u2022\u25cf\u25aa\u2023\u2013*-]\s|\(?\d{1,2}[.)]\s")
_POOR_TITLE = re.compile(
    r"^(?:untitled|microsoft (?:word|powerpoint)\b.*|.*\.(?:docx?|pdf|tex|dvi|indd|pptx?|xlsx?))$", re.I
)
_CUT_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
_MAX_OUTLINE = 2000
_METADATA = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created"}
_UNSAID = ("", "unspecified", "(unspecified)", "anonymous", "(anonymous)", "unknown")
"""What programs write where nobody has said anything."""
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?(?:([+-])(\d\d)'?(\d\d)'?)?")
"""PDF 32000-1, section 7.9.4."""
_OCR_DPI = 300
"""What tesseract is trained for; PDFium draws a page of A4 with 8.7 million pixels then."""


@dataclass(slots=True)
class _Contents:
    """What was read of a file. ``pictures`` has the recognised paragraphs of a page by its index."""

    pages: list[PageText]
    extras: list[PageExtras]
    outline: dict[tuple[int, str], int]
    info: dict[str, str]
    children: tuple[ChildFile, ...]
    pictures: dict[int, tuple[str, ...]] = field(default_factory=dict[int, tuple[str, ...]])
    unread: dict[int, str] = field(default_factory=dict[int, str])
    """Index of each page that could not be read, with the reason for a person."""


def load_pdf(data: bytes, name: str, options: LoadOptions) -> Loaded:
    """The document of a PDF file, and the files attached to it; pages without text keep their numbers.

    Metadata: ``ocr`` is true when text was read from pictures, ``unread_pages`` lists pages that could not be read.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, ``empty`` (no pages, nothing on them), or ``no_text_layer`` (pages are
            pictures, and are not read).
    """
    with open_pdf(data) as document:
        with PDFIUM:
            contents = _read(document, options)
        _read_pictures(document, contents, options)
    _keep_better(contents)
    if not _has_text(contents):
        if contents.children:
            return Loaded(None, contents.children)
        if contents.unread:
            raise LoadFailed("no_text_layer", next(iter(contents.unread.values())))
        raise LoadFailed("empty", "No text is to be seen on the PDF's pages.")
    return Loaded(_assemble(contents, name), contents.children)


def _read(document: pdfium.PdfDocument, options: LoadOptions) -> _Contents:
    pages: list[PageText] = []
    extras: list[PageExtras] = []
    for index in range(len(document)):
        try:
            page = document[index]
        except pdfium.PdfiumError:
            # A page that cannot be read has no text, as its neighbours can still be right.
            pages.append(PageText(blank=True))
            extras.append(PageExtras())
            continue
        with closing(page):
            pages.append(page_text(page, index + 1))
            extras.append(page_extras(document, page))
    info = document.get_metadata_dict()
    clipped = [index for index, extra in enumerate(extras) if extra.clips]
    return _Contents(pages, extras, _outline(document), info, attached_files(document, clipped, options))


def _read_pictures(document: pdfium.PdfDocument, contents: _Contents, options: LoadOptions) -> None:
    """Read the pages that need it as pictures; PDFium is free for others while tesseract works."""
    for index, page in enumerate(contents.pages):
        if page.blank or (page.usable and options.ocr != "always"):
            continue
        if options.ocr == "never":
            contents.unread[index] = "The PDF's pages are pictures without a text layer; allow OCR (ingestion.ocr)."
            continue
        try:
            ocr.require(options.ocr_languages)
            with PDFIUM, closing(document[index]) as drawn:
                picture = draw(drawn, dpi=_OCR_DPI, max_pixels=ocr.MAX_PIXELS, for_reader=False)
            contents.pictures[index] = ocr.read(picture, languages=options.ocr_languages, dpi=_OCR_DPI).paragraphs
        except ocr.OcrUnavailable as error:
            contents.unread[index] = f"The PDF's pages are pictures without a text layer. {error}"
        except (ocr.OcrFailed, pdfium.PdfiumError) as error:
            contents.unread[index] = f"The PDF's page {index + 1} could not be read as a picture: {error}"


def _keep_better(contents: _Contents) -> None:
    """Between a page's text layer and its recognition the one with more to say stands; garbage never does."""
    for index, page in enumerate(contents.pages):
        if page.usable and index not in contents.pictures:
            continue
        recognised = _letters(contents.pictures.get(index, ()))
        layered = _letters(line.text for line in page.lines)
        if recognised and (recognised >= layered or not page.usable):
            contents.pages[index] = PageText(usable=True)
        else:
            contents.pictures.pop(index, None)
            if not page.usable and page.garbage:
                contents.pages[index] = PageText(blank=page.blank)


def _letters(texts: Iterable[str]) -> int:
    return sum(character.isalnum() for text in texts for character in text)


def _has_text(contents: _Contents) -> bool:
    return bool(contents.pictures) or any(
        _letters((*(line.text for line in page.lines), *extras.fields, *extras.comments))
        for page, extras in zip(contents.pages, contents.extras, strict=True)
    )


def _assemble(contents: _Contents, name: str) -> ParsedDocument:
    count = len(contents.pages)
    layers: list[Sequence[Line]] = [page.lines for page in contents.pages]
    mended = mend_words([*layers, *(_as_lines(index, contents.pictures.get(index, ())) for index in range(count))])
    by_page: dict[int, list[Paragraph]] = {}
    for paragraph in paragraphs(continue_tables(drop_running_lines(mended[:count])), contents.outline):
        by_page.setdefault(paragraph.page, []).append(paragraph)
    for line in (line for page in mended[count:] for line in page):
        by_page.setdefault(line.page, []).append(Paragraph(line.text, line.page, 0))
    assembly = DocumentAssembly()
    for index, extras in enumerate(contents.extras):
        _add_page(assembly, index + 1, by_page.get(index + 1, ()), extras)
    headings = (paragraph for page in by_page.values() for paragraph in page if paragraph.level)
    title = collapse(normalise(contents.info.get("Title", "")))
    if len(title) < 4 or _POOR_TITLE.match(title):
        title = next((collapse(heading.text) for heading in headings), "") or title_from_name(name)
    return assembly.finish(title=title, media_type="application/pdf", page_count=count, metadata=_metadata(contents))


def _add_page(assembly: DocumentAssembly, page: int, texts: Sequence[Paragraph], extras: PageExtras) -> None:
    for paragraph in texts:
        if paragraph.table:
            assembly.add("table", paragraph.text, page=page)
        elif paragraph.level:
            assembly.heading(paragraph.text, level=paragraph.level, page=page)
        else:
            kind: BlockKind = "list" if _BULLET.match(paragraph.text) else "paragraph"
            assembly.add(kind, paragraph.text, page=page)
    assembly.add("list", "\n".join(f"- {value}" for value in extras.fields), page=page)
    for comment in extras.comments:
        assembly.add("paragraph", comment, page=page)


def _as_lines(index: int, texts: Iterable[str]) -> list[Line]:
    """Recognised paragraphs in the form of lines, words marked that a line's end has cut."""
    return [Line(_CUT_WORD.sub(HYPHEN, text), index + 1, 0.0, bold=False, top=0.0, bottom=0.0) for text in texts]


def _metadata(contents: _Contents) -> dict[str, MetadataValue]:
    metadata: dict[str, MetadataValue] = {
        key: _iso_date(collapse(normalise(contents.info[field])))
        for field, key in _METADATA.items()
        if contents.info.get(field, "").strip().lower() not in _UNSAID
    }
    if contents.pictures:
        metadata["ocr"] = True
    if contents.unread:
        metadata["unread_pages"] = [str(index + 1) for index in contents.unread]
    return metadata


def _iso_date(text: str) -> str:
    """A PDF's way of writing a date in ISO 8601; any other text as it is."""
    if not (match := _DATE.match(text)):
        return text
    year, month, day, hour, minute, second, sign, ahead, rest = match.groups()
    time = f"T{hour}:{minute}:{second}" if hour else ""
    zone = (f"{sign}{ahead}:{rest}" if sign else "Z") if time else ""
    return f"{year}-{month}-{day}{time}{zone}"


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


LOADER = Loader("PDF", frozenset((".pdf",)), _certainty, load_pdf)
