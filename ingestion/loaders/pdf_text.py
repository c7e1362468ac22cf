"""The text layer of a PDF page: its lines in PDFium's reading order, and whether a reader sees the same.

Every function here is called with ``pdf_open.PDFIUM`` held.
"""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from ingestion.loaders.pdf_layout import HYPHEN, Line, order_columns
from ingestion.loaders.pdf_open import draw
from ingestion.loaders.pdf_rules import MAX_PATHS
from ingestion.loaders.pdf_tables import ruled_tables, with_tables

if TYPE_CHECKING:
    from PIL.Image import Image

_BOLD_WEIGHT = 600
_SAMPLED_CHARACTERS = 400
_MAX_UNMAPPED = 0.3
"""Share of characters whose meaning the file does not tell, above which its text is of no use."""
_MAX_SYMBOLS = 0.5
_VOWELS = frozenset("aeiouyäöüáéíóúàèìòùâêîôûåæøœ")
_MIN_VOWELS = 0.12
"""Share of vowels among Latin letters: 0.33 to 0.5 in languages, 0.2 in tables of abbreviations."""
_FEW_LETTERS = 60
_SCANNED_SHARE = 0.5
"""A page with few letters, most of whose area is a picture, is a scan with a stamp or a page number."""
_WHITE = 245
_LEAN = 0.05
"""Enough for PDFium to tell neighbouring columns apart, too little for it to see the writing as slanted."""
_FLAT = 10
"""Grey values that differ by less show no letter."""


@dataclass(frozen=True, slots=True)
class PageText:
    """What the file says of a page's text.

    Attributes:
        lines: Lines that a reader sees; those of the recognition that a scanner stored are among them.
        usable: Whether the lines are the page's text; without, the page must be read as a picture.
        garbage: The lines are codes of glyphs rather than letters, and must not be kept in any case.
        blank: Nothing is drawn on the page.
    """

    lines: tuple[Line, ...] = ()
    usable: bool = False
    garbage: bool = False
    blank: bool = False


def page_text(page: pdfium.PdfPage, number: int) -> PageText:
    """The text layer of a page; hidden text is left out.

    Args:
        page: The page.
        number: Its one-based number.
    """
    drawn = _drawn(page)
    if not drawn.anything:
        return PageText(blank=True)
    with closing(page.get_textpage()) as text_page:
        sight = _Sight(page, text_page, trusts_invisible=drawn.pictured >= _SCANNED_SHARE)
        lines = order_columns(list(_lines(text_page, number, sight)))
        if page.get_rotation() == 0:
            lines = with_tables(lines, ruled_tables(drawn.paths, text_page))
        text = "".join(line.text for line in lines)
        letters = sum(character.isalnum() for character in text)
        scanned = letters < _FEW_LETTERS and drawn.pictured >= _SCANNED_SHARE
        garbage = _is_garbage(text, _unmapped(text_page))
    return PageText(lines, usable=letters > 0 and not scanned and not garbage, garbage=garbage)


def open_text(page: pdfium.PdfPage) -> pdfium.PdfTextPage:
    """The text of a page as ``page_text`` sees it, hidden text included; close it after use."""
    _drawn(page)
    return page.get_textpage()


@dataclass(frozen=True, slots=True)
class _Drawn:
    anything: bool
    pictured: float
    paths: tuple[pdfium.PdfObject, ...]


def _drawn(page: pdfium.PdfPage) -> _Drawn:
    """What stands on a page: anything at all, and which share of its area is pictures. Widens columns on the way."""
    width, height = cast("tuple[float, float]", page.get_size())
    objects = cast("Iterable[pdfium.PdfObject]", page.get_objects(max_depth=3))
    anything = False
    area = 0.0
    paths: list[pdfium.PdfObject] = []
    for item in objects:
        anything = True
        kind = cast("int", pdfium_c.FPDFPageObj_GetType(item.raw))
        if kind == pdfium_c.FPDF_PAGEOBJ_IMAGE:
            left, bottom, right, top = item.get_bounds()
            area += max(0.0, right - left) * max(0.0, top - bottom)
        elif kind == pdfium_c.FPDF_PAGEOBJ_TEXT:
            _widen(item)
        elif kind == pdfium_c.FPDF_PAGEOBJ_PATH and item.level == 0 and len(paths) <= MAX_PATHS:
            paths.append(item)
    return _Drawn(anything, min(1.0, area / max(1.0, width * height)), tuple(paths))


def _widen(text: pdfium.PdfObject) -> None:
    """Lean a column of vertical text a little, where its font is missing and its glyphs have no width.

    PDFium leaves out text whose box is empty, so the text would depend on the fonts of the machine.
    """
    left, bottom, right, top = text.get_bounds()
    if right <= left and top > bottom:
        pdfium_c.FPDFPageObj_Transform(text.raw, 1, 0, _LEAN, 1, -_LEAN * top, 0)


def _lines(text_page: pdfium.PdfTextPage, number: int, sight: _Sight) -> Iterator[Line]:
    unit = 0
    for raw in text_page.get_text_range().split("\r\n"):
        text = raw.strip()
        first = unit + len(raw) - len(raw.lstrip())
        if text:
            start = _character(text_page, first)
            end = _character(text_page, first + _utf16_length(text) - 1)
            if start < 0 or end < 0:
                yield Line(text, number, 0.0, bold=False, top=0.0, bottom=0.0)
            elif sight.sees(start, end):
                yield _line(text_page, start, end, Line(text, number, 0.0, bold=False, top=0.0, bottom=0.0))
        unit += _utf16_length(raw) + 2


def _character(text_page: pdfium.PdfTextPage, unit: int) -> int:
    return cast("int", pdfium_c.FPDFText_GetCharIndexFromTextIndex(text_page.raw, unit))


def _utf16_length(text: str) -> int:
    """PDFium counts characters in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _line(text_page: pdfium.PdfTextPage, start: int, end: int, bare: Line) -> Line:
    weight: int = pdfium_c.FPDFText_GetFontWeight(text_page.raw, start)
    (left, top), (right, bottom) = _origin(text_page, start), _origin(text_page, end)
    size = _upright_size(text_page, start)
    return Line(bare.text, bare.page, size, weight >= _BOLD_WEIGHT, top, bottom, left, right)


def _origin(text_page: pdfium.PdfTextPage, index: int) -> tuple[float, float]:
    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium_c.FPDFText_GetCharOrigin(text_page.raw, index, x, y)
    return x.value, y.value


def _upright_size(text_page: pdfium.PdfTextPage, index: int) -> float:
    """Size of type in points; 0 for text that runs sideways, such as stamps in the margin."""
    size: float = pdfium_c.FPDFText_GetFontSize(text_page.raw, index)
    matrix = pdfium_c.FS_MATRIX()
    if not pdfium_c.FPDFText_GetMatrix(text_page.raw, index, matrix):
        return size
    across, upright = cast("float", matrix.b), cast("float", matrix.d)
    return 0.0 if abs(across) > abs(upright) else size * abs(upright)


class _Sight:
    """Tells text that a reader sees from text that is there for machines alone."""

    def __init__(self, page: pdfium.PdfPage, text_page: pdfium.PdfTextPage, *, trusts_invisible: bool) -> None:
        self._page = page
        self._text_page = text_page
        self._trusts_invisible = trusts_invisible
        self._picture: Image | None = None

    def sees(self, start: int, end: int) -> bool:
        """Whether the characters from ``start`` to ``end`` can be seen; invisible text over a scan is its words."""
        text_object = pdfium_c.FPDFText_GetTextObject(self._text_page.raw, start)
        mode = cast("int", pdfium_c.FPDFTextObj_GetTextRenderMode(text_object)) if text_object else 0
        if mode == pdfium_c.FPDF_TEXTRENDERMODE_INVISIBLE:
            return self._trusts_invisible
        red, green, blue, opaque = (ctypes.c_uint() for _ in range(4))
        if not pdfium_c.FPDFText_GetFillColor(self._text_page.raw, start, red, green, blue, opaque):
            return True
        if mode == pdfium_c.FPDF_TEXTRENDERMODE_FILL and opaque.value == 0:
            return self._trusts_invisible
        return min(red.value, green.value, blue.value) < _WHITE or self._trusts_invisible or self._shows(start, end)

    def _shows(self, start: int, end: int) -> bool:
        """Whether anything is to be seen where white text stands: its background may be dark."""
        if self._picture is None:
            self._picture = draw(self._page, dpi=72, max_pixels=2_000_000, for_reader=False)
        box = self._pixels(start, end)
        if box[2] <= box[0] or box[3] <= box[1]:
            return False
        low, high = cast("tuple[int, int]", self._picture.crop(box).getextrema())
        return high - low >= _FLAT

    def _pixels(self, start: int, end: int) -> tuple[int, int, int, int]:
        boxes = [
            cast("tuple[float, float, float, float]", self._text_page.get_charbox(index)) for index in (start, end)
        ]
        corners = [
            to_fractions(self._page, x, y)
            for left, bottom, right, top in boxes
            for x, y in ((left, bottom), (right, top))
        ]
        assert self._picture is not None
        width, height = self._picture.size
        across, down = [x * width for x, _ in corners], [y * height for _, y in corners]
        return (
            max(0, int(min(across))),
            max(0, int(min(down))),
            min(width, int(max(across)) + 1),
            min(height, int(max(down)) + 1),
        )


def to_fractions(page: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
    """A point of the page's own space as seen by a reader: fractions from the left and upper edge, rotation applied."""
    grid = 10_000
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium_c.FPDF_PageToDevice(page.raw, 0, 0, grid, grid, 0, x, y, across, down)
    return across.value / grid, down.value / grid


def _unmapped(text_page: pdfium.PdfTextPage) -> float:
    """Share of the characters for which the file does not tell what letter they are."""
    count = cast("int", text_page.count_chars())
    if count == 0:
        return 0.0
    failed = cast("Callable[[object, int], int]", pdfium_c.FPDFText_HasUnicodeMapError)
    handle = cast("object", text_page.raw)
    sampled = range(0, count, max(1, count // _SAMPLED_CHARACTERS))
    return sum(failed(handle, index) == 1 for index in sampled) / len(sampled)


def _is_garbage(text: str, unmapped: float) -> bool:
    """Whether a text layer is codes of glyphs rather than letters."""
    letters = [character for character in text if not character.isspace() and character != HYPHEN]
    if not letters or unmapped > _MAX_UNMAPPED:
        return True
    categories = [unicodedata.category(letter) for letter in letters]
    foreign = sum(
        category in ("Co", "Cn", "Cc", "Cs") or letter == "\ufffd"
        for category, letter in zip(categories, letters, strict=True)
    )
    symbols = sum(category.startswith(("S", "C")) for category in categories)
    if foreign / len(letters) > _MAX_UNMAPPED or symbols / len(letters) > _MAX_SYMBOLS:
        return True
    latin = [letter for letter in text.lower() if "a" <= letter <= "z" or letter in _VOWELS]
    return len(latin) >= 2 * _FEW_LETTERS and sum(letter in _VOWELS for letter in latin) / len(latin) < _MIN_VOWELS
