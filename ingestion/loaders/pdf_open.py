"""Opens PDF files with PDFium and draws their pages. PDFium's calls must never run side by side in one process."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.errors import LoadFailed

if TYPE_CHECKING:
    from PIL.Image import Image

PDFIUM = threading.RLock()
"""Held around every call: PDFium is not safe in several threads, not even on different documents."""
_NO_PAGES = re.compile(rb"/Kids\s*\[\s*\]")
_SOME_PAGE = re.compile(rb"/Type\s*/Page\b(?!s)|/ObjStm\b")
_POINTS_PER_INCH = 72
_LONGEST_SIDE_PIXELS = 20_000
"""PDFium draws no bitmap with a longer side reliably."""


@contextmanager
def open_pdf(data: bytes) -> Generator[pdfium.PdfDocument]:
    """The document of a PDF file, closed at the end; take ``PDFIUM`` around what is done with it.

    Raises:
        LoadFailed: ``encrypted``, ``corrupt``, or ``empty`` (no pages).
    """
    with PDFIUM:
        document = _open(data)
        if len(document) == 0:
            document.close()
            raise LoadFailed("empty", "The PDF has no pages.")
        if document.get_formtype() != pdfium_c.FORMTYPE_NONE:
            document.init_forms()
    try:
        yield document
    finally:
        with PDFIUM:
            document.close()


def _open(data: bytes) -> pdfium.PdfDocument:
    try:
        return pdfium.PdfDocument(data)
    except pdfium.PdfiumError as error:
        if "password" in str(error).lower() or "security" in str(error).lower():
            raise LoadFailed("encrypted", "The PDF asks for a password; save a copy without one.") from error
        if _NO_PAGES.search(data) and not _SOME_PAGE.search(data):
            raise LoadFailed("empty", "The PDF has no pages.") from error
        raise LoadFailed("corrupt", "The PDF is damaged or cut off and cannot be read.") from error


def draw(page: pdfium.PdfPage, *, dpi: float, max_pixels: int, for_reader: bool) -> Image:
    """A picture of a page, its rotation applied.

    Args:
        page: The page; hold ``PDFIUM``.
        dpi: Wanted resolution.
        max_pixels: Pages that would have more are drawn smaller.
        for_reader: In colour with comments and form values, as a person sees it; else in grey and the page alone.
    """
    width, height = cast("tuple[float, float]", page.get_size())
    width, height = max(width, 1.0), max(height, 1.0)
    bound = min((max_pixels / (width * height)) ** 0.5, _LONGEST_SIDE_PIXELS / max(width, height))
    render = cast("Callable[..., pdfium.PdfBitmap]", page.render)
    scale = min(dpi / _POINTS_PER_INCH, bound)
    look = {"grayscale": not for_reader, "draw_annots": for_reader, "may_draw_forms": for_reader}
    with closing(render(scale=scale, rev_byteorder=for_reader, **look)) as bitmap:
        return bitmap.to_pil().copy()
