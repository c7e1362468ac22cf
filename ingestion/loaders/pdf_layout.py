"""Lines of a PDF page to paragraphs and headings, by position and size of their type."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ingestion.loaders.normalise import collapse

HYPHEN = "\ufffe"
"""PDFium's mark for a hyphen at a line's end behind which the word goes on."""
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_BROKEN_WORD = re.compile(r"([^\W\d_]*)\ufffe(\w*)")
_NUMBERED = re.compile(r"(?:\d{1,2}(?:\.\d{1,2}){0,3}\.?|[A-Z]\.\d?|[IVX]{1,5}\.)\s+\S")
_LEADER = re.compile(r"\.{4,}|(?:\. ){4,}")
_HEADING_RATIO = 1.12
_MAX_HEADING_CHARACTERS = 140
_MAX_LEVELS = 4
_PARAGRAPH_GAP = 1.6
_RUNNING_MIN_PAGES = 3
_SAME_COLUMN = 3.0
"""Points by which columns of one table differ between two pages."""
_VERTICAL_SIZES = 4
"""A line that falls by more sizes of type runs downwards; one with a cut word falls by little more than one."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line as PDFium orders them; a word cut at its end makes it two lines on paper.

    Attributes:
        text: The characters, with ``HYPHEN`` where a word was cut.
        page: One-based.
        size: Size of type in points; 0 for text beside the body: sideways, or a running head.
        bold: Whether it begins in bold type.
        top: Baseline of its first character, in points, growing upwards.
        bottom: Baseline of its last character.
        left: Where its first character stands, in points from the left.
        right: Where its last character stands.
        columns: Of a whole table, whose Markdown is the text: where its columns begin and end; else none.
    """

    text: str
    page: int
    size: float
    bold: bool
    top: float
    bottom: float
    left: float = 0.0
    right: float = 0.0
    columns: tuple[float, ...] = ()

    @property
    def table(self) -> bool:
        """Whether it is a whole table."""
        return bool(self.columns)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Consecutive lines that belong together; ``level`` is 0 for body text and tables, else that of a heading."""

    text: str
    page: int
    level: int
    table: bool = False


def mend_words(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Lines with words joined that a line's end had cut.

    A compound keeps its hyphen where the rest of the text writes it so, or where a capital or a digit follows.
    """
    known = Counter(
        word.lower() for page in pages for line in page for word in _WORD.findall(line.text.replace(HYPHEN, " "))
    )

    def joined(match: re.Match[str]) -> str:
        head, tail = match[1], match[2]
        if not head or not tail or not tail[0].islower():
            return f"{head}-{tail}"
        compound, word = f"{head}-{tail}", f"{head}{tail}"
        return compound if known[compound.lower()] > known[word.lower()] else word

    return [[replace(line, text=_BROKEN_WORD.sub(joined, line.text)) for line in page] for page in pages]


def order_columns(lines: Sequence[Line]) -> tuple[Line, ...]:
    """Lines of one page as they are read: where most are vertical, columns from right to left, band below band."""
    vertical = sum(line.size > 0 and line.top - line.bottom > _VERTICAL_SIZES * line.size for line in lines)
    if vertical * 2 <= len(lines):
        return tuple(lines)
    bands: list[list[Line]] = []
    lowest = float("inf")
    for line in sorted(lines, key=lambda line: -line.top):
        if not bands or line.top < lowest:
            bands.append([])
            lowest = float("inf")
        bands[-1].append(line)
        lowest = min(lowest, line.bottom)
    return tuple(line for band in bands for line in sorted(band, key=lambda line: -line.left))


def drop_running_lines(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages without running heads, feet and page numbers; the first page that has one keeps it."""
    if len(pages) < _RUNNING_MIN_PAGES:
        return [list(page) for page in pages]
    counts = Counter(key for page in pages for key in {_running_key(line) for line in _edges(page)})
    running = {key for key, count in counts.items() if count >= _RUNNING_MIN_PAGES}
    seen: set[str] = set()
    kept: list[list[Line]] = []
    for page in pages:
        edges = {id(line) for line in _edges(page)}
        lines: list[Line] = []
        for line in page:
            key = _running_key(line)
            if id(line) in edges and key in running and (key in seen or (key.startswith("#") and " " not in key)):
                continue
            if id(line) in edges:
                seen.add(key)
            lines.append(replace(line, size=0.0, bold=False) if "#" in key and key in running else line)
        kept.append(lines)
    return kept


def continue_tables(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Pages whose topmost thing goes on with the lowest table of the page before: it gets that table's header again.

    A first row with more digits than letters in a cell is no header, and is not repeated.
    """
    result: list[list[Line]] = []
    above: Line | None = None
    for page in pages:
        lines = list(page)
        first = max(lines, key=lambda line: line.top, default=None)
        if above is not None and first is not None and _same_columns(first, above):
            header = above.text.partition("\n")[0]
            lines[lines.index(first)] = replace(first, text=_with_header(first.text, header))
        tables = [line for line in lines if line.table]
        above = min(tables, key=lambda line: line.bottom, default=None)
        if above is not None and not _is_header(above.text.partition("\n")[0]):
            above = None
        result.append(lines)
    return result


def _is_header(row: str) -> bool:
    cells = [cell for cell in row.strip("|").split("|") if cell.strip()]
    return bool(cells) and all(
        sum(character.isalpha() for character in cell) >= sum(character.isdigit() for character in cell)
        for cell in cells
    )


def _same_columns(line: Line, other: Line) -> bool:
    return len(line.columns) == len(other.columns) > 0 and all(
        abs(one - two) <= _SAME_COLUMN for one, two in zip(line.columns, other.columns, strict=True)
    )


def _with_header(table: str, header: str) -> str:
    """A Markdown table with another header line, its own first line as a row; unchanged where that is the header."""
    first, separator, rest = (*table.split("\n", 2), "", "")[:3]
    return table if first == header else "\n".join(part for part in (header, separator, first, rest) if part)


def _edges(page: Sequence[Line]) -> list[Line]:
    return [line for line in (*page[:2], *page[-2:]) if not line.table]


def _running_key(line: Line) -> str:
    """The line, with a number at either end as its distance from the page's: the same for page numbers alone."""
    words = collapse(line.text).lower().split(" ")
    for place in (0, -1):
        if words[place].isdecimal() and len(words[place]) < 6:
            words[place] = f"#{int(words[place]) - line.page}"
    return " ".join(words)


def paragraphs(pages: Sequence[Sequence[Line]], outline: dict[tuple[int, str], int]) -> list[Paragraph]:
    """Paragraphs of all pages in order; a paragraph never crosses a page.

    Args:
        pages: Lines of each page, in reading order.
        outline: Level of each heading that the file's outline names, by page and folded text.
    """
    levels = _levels_by_size(pages)
    result: list[Paragraph] = []
    for page in pages:
        group: list[Line] = []
        level = 0
        for line in page:
            own = 0 if line.table else _level(line, levels, outline)
            if group and (own != level or (_breaks(group, line) if own == 0 else _far(group[-1], line))):
                result.append(_paragraph(group, level))
                group = []
            group.append(line)
            level = own
        if group:
            result.append(_paragraph(group, level))
    return [_checked(paragraph) for paragraph in result]


def _paragraph(lines: Sequence[Line], level: int) -> Paragraph:
    return Paragraph("\n".join(line.text for line in lines), lines[0].page, level, lines[0].table)


def _checked(paragraph: Paragraph) -> Paragraph:
    """What is too long for a heading, or has no letter, is body text."""
    fits = len(paragraph.text) <= _MAX_HEADING_CHARACTERS and any(letter.isalpha() for letter in paragraph.text)
    return paragraph if paragraph.level == 0 or fits else replace(paragraph, level=0)


def fold(text: str) -> str:
    """A heading's text for comparison with the outline: letters and digits alone."""
    return "".join(character for character in text.casefold() if character.isalnum())


def _level(line: Line, levels: dict[float, int], outline: dict[tuple[int, str], int]) -> int:
    if (named := outline.get((line.page, fold(line.text)))) is not None:
        return min(named, _MAX_LEVELS + 2)
    if _LEADER.search(line.text) or sum(character.isalpha() for character in line.text) < 3:
        return 0
    if (by_size := levels.get(_rounded(line.size))) is not None:
        return by_size
    if line.bold and len(line.text) <= 80 and _NUMBERED.match(line.text) and not line.text.endswith((".", ",", ";")):
        return min(len(levels) + 1, _MAX_LEVELS)
    return 0


def _levels_by_size(pages: Sequence[Sequence[Line]]) -> dict[float, int]:
    """Heading levels of the sizes above the body's; none when large type is too common to mean headings."""
    weights: Counter[float] = Counter()
    for page in pages:
        for line in page:
            weights[_rounded(line.size)] += len(line.text)
    if not weights:
        return {}
    body = weights.most_common(1)[0][0]
    large = sorted((size for size in weights if size >= body * _HEADING_RATIO), reverse=True)
    if body == 0 or sum(weights[size] for size in large) > 0.25 * weights.total():
        return {}
    return {size: min(rank, _MAX_LEVELS) for rank, size in enumerate(large, 1)}


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _breaks(group: Sequence[Line], line: Line) -> bool:
    """Whether a line starts a new paragraph: a larger gap than lines of the paragraph have, or a jump upwards."""
    last = group[-1]
    if line.table or last.table or _far(last, line):
        return True
    if len(group) == 1 or line.size == 0:
        return False
    usual = group[-2].bottom - last.top
    return usual > 0 and last.bottom - line.top > usual * 1.35


def _far(last: Line, line: Line) -> bool:
    if last.size == 0 or line.size == 0:
        return last.size != line.size
    gap = last.bottom - line.top
    height = max(last.size, line.size, 1.0)
    return gap > _PARAGRAPH_GAP * height or gap < -3 * height
