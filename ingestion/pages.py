"""Pictures of a PDF's pages, and where on a page a text stands. Knows bytes and page numbers alone."""

from __future__ import annotations

import ctypes
import io
import unicodedata
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.errors import PageUnknown
from ingestion.loaders.pdf_open import PDFIUM, draw, open_pdf
from ingestion.loaders.pdf_text import open_text, to_fractions

MAX_WIDTH = 4000
"""Pixels; what a person can look at on the largest screens."""
_MAX_PIXELS = 32_000_000
_POINTS_PER_INCH = 72
_SHORTEST_PIECE = 6
"""Letters; shorter lines stand in too many places of a page to tell which is meant."""


@dataclass(frozen=True, slots=True)
class PageBox:
    """A rectangle on a page as it is drawn: fractions of its width from the left, of its height from above."""

    left: float
    top: float
    right: float
    bottom: float


def render_page(data: bytes, page: int, *, width: int) -> bytes:
    """A page as PNG, in colour, with its comments and form values.

    Args:
        data: The PDF file.
        page: One-based.
        width: Pixels, at most ``MAX_WIDTH``; very tall pages come out narrower.

    Raises:
        PageUnknown: There is no such page.
        LoadFailed: The file is no PDF that can be opened.
    """
    with _page(data, page) as opened:
        points = max(1.0, cast("float", opened.get_width()))
        dpi = min(max(1, width), MAX_WIDTH) / points * _POINTS_PER_INCH
        picture = draw(opened, dpi=dpi, max_pixels=_MAX_PIXELS, for_reader=True)
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def page_boxes(data: bytes, page: int, text: str) -> tuple[PageBox, ...]:
    """Where a text stands on a page, a box for each line; letters and digits alone are compared.

    A text that is not there as a whole, because it goes on from another page for example, is looked for line by line.

    Args:
        data: The PDF file.
        page: One-based.
        text: A chunk or a quote of it.

    Returns:
        Boxes in the order of the text; none where it is not found, as on pages that were read as pictures.

    Raises:
        PageUnknown: There is no such page.
        LoadFailed: The file is no PDF that can be opened.
    """
    with _page(data, page) as opened, closing(open_text(opened)) as text_page:
        letters = _Letters.of(text_page)
        spans = letters.find(text)
        return tuple(box for first, last in spans for box in _boxes(opened, text_page, first, last))


@contextmanager
def _page(data: bytes, number: int) -> Generator[pdfium.PdfPage]:
    with PDFIUM, open_pdf(data) as document:
        if not 1 <= number <= len(document):
            raise PageUnknown(f"The document has pages 1 to {len(document)}, and no page {number}.")
        try:
            page = document[number - 1]
        except pdfium.PdfiumError as error:
            raise PageUnknown(f"Page {number} of the document is damaged and cannot be drawn.") from error
        with closing(page):
            yield page


@dataclass(frozen=True, slots=True)
class _Letters:
    """Letters and digits of a page, folded, and the index of the character that each comes from."""

    folded: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text_page: pdfium.PdfTextPage) -> _Letters:
        letters: list[str] = []
        places: list[int] = []
        for index in range(cast("int", text_page.count_chars())):
            for letter in _fold(chr(cast("int", pdfium_c.FPDFText_GetUnicode(text_page.raw, index)))):
                letters.append(letter)
                places.append(index)
        return cls("".join(letters), tuple(places))

    def find(self, text: str) -> list[tuple[int, int]]:
        """Spans of characters, first and last, whose letters are the text's, or those of its lines."""
        whole = _fold(text)
        at = self.folded.find(whole) if whole else -1
        if at >= 0:
            return [self._span(at, len(whole))]
        return list(self._find_lines(text))

    def _find_lines(self, text: str) -> Iterator[tuple[int, int]]:
        after = 0
        for line in text.splitlines():
            piece = _fold(line)
            if len(piece) < _SHORTEST_PIECE:
                continue
            at = self.folded.find(piece, after)
            at = at if at >= 0 else self.folded.find(piece)
            if at >= 0:
                yield self._span(at, len(piece))
                after = at + len(piece)

    def _span(self, at: int, length: int) -> tuple[int, int]:
        return self.places[at], self.places[at + length - 1]


def _fold(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(character for character in folded if character.isalnum())


def _boxes(page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, first: int, last: int) -> Iterator[PageBox]:
    count = cast("int", pdfium_c.FPDFText_CountRects(text_page.raw, first, last - first + 1))
    boxes: list[PageBox] = []
    for index in range(count):
        left, top, right, bottom = (ctypes.c_double() for _ in range(4))
        pdfium_c.FPDFText_GetRect(text_page.raw, index, left, top, right, bottom)
        x1, y1 = to_fractions(page, left.value, top.value)
        x2, y2 = to_fractions(page, right.value, bottom.value)
        boxes.append(PageBox(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)))
    yield from _joined(boxes)


def _joined(boxes: list[PageBox]) -> Iterator[PageBox]:
    """One box for neighbours on the same line, which a change of font has parted."""
    last: PageBox | None = None
    for box in boxes:
        if (
            last is not None
            and abs(box.top - last.top) < 0.01
            and abs(box.bottom - last.bottom) < 0.01 > box.left - last.right
        ):
            last = PageBox(
                min(last.left, box.left),
                min(last.top, box.top),
                max(last.right, box.right),
                max(last.bottom, box.bottom),
            )
            continue
        if last is not None:
            yield last
        last = box
    if last is not None:
        yield last
