"""Text of the shapes of a slide in reading order: paragraphs, lists, tables, and references to charts and diagrams."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ingestion.loaders.grid import Cell, lay_out, render
from ingestion.loaders.normalise import collapse
from ingestion.loaders.office_chart import CHART_REFERENCE
from ingestion.loaders.office_package import Element, whole_number

A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_TITLES = frozenset(("title", "ctrTitle"))
_FURNITURE = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))
"""Placeholders for slide number, date, footer, header and picture of the slide: no part of what it says."""
_LIST_PLACEHOLDERS = frozenset(("body", "obj", ""))
_MAX_DEPTH = 50
_MAX_LIST_LEVEL = 8

PartKind: TypeAlias = Literal["title", "paragraph", "list", "table", "chart", "diagram"]


@dataclass(frozen=True, slots=True)
class SlidePart:
    """A piece of a slide; ``text`` of a chart or diagram is the id of its relation."""

    kind: PartKind
    text: str


def slide_parts(root: Element) -> list[SlidePart]:
    """Parts of a slide in the order of its shapes, which is the order that screen readers take."""
    tree = root.find(f"{P}cSld/{P}spTree")
    return list(_shapes(tree, 0)) if tree is not None else []


def paragraph_text(paragraph: Element) -> str:
    """Text of an ``a:p`` element; line breaks are line feeds."""
    parts: list[str] = []
    for element in paragraph:
        if element.tag in (A + "r", A + "fld"):
            parts.append(element.findtext(A + "t") or "")
        elif element.tag == A + "br":
            parts.append("\n")
        else:
            parts.extend(text.text or "" for text in element.iter(A + "t"))
    return "".join(parts).strip()


def body_texts(body: Element | None) -> list[str]:
    """Texts of the paragraphs of a text body that have some."""
    return [text for paragraph in (body if body is not None else ()) if (text := paragraph_text(paragraph))]


def _shapes(container: Element, depth: int) -> Iterator[SlidePart]:
    if depth > _MAX_DEPTH:
        return
    for shape in container:
        if shape.tag == P + "sp":
            yield from _shape(shape)
        elif shape.tag == P + "graphicFrame":
            yield from _frame(shape)
        elif shape.tag == P + "grpSp":
            yield from _shapes(shape, depth + 1)
        elif shape.tag == _MC + "AlternateContent":
            chosen = next(
                (found for name in ("Choice", "Fallback") if (found := shape.find(_MC + name)) is not None), None
            )
            yield from _shapes(chosen, depth + 1) if chosen is not None else ()


def _shape(shape: Element) -> Iterator[SlidePart]:
    kind = placeholder(shape)
    texts = body_texts(shape.find(P + "txBody"))
    if not texts or kind in _FURNITURE:
        return
    if kind in _TITLES:
        yield SlidePart("title", collapse(" ".join(texts)))
    elif _is_list(shape, kind, len(texts)):
        yield SlidePart("list", "\n".join(_items(shape)))
    else:
        yield SlidePart("paragraph", "\n".join(texts))


def placeholder(shape: Element) -> str | None:
    """Type of a placeholder; empty for one of no special type, None for other shapes."""
    holder = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    return None if holder is None else holder.get("type") or ""


def _is_list(shape: Element, kind: str | None, count: int) -> bool:
    marks = any(True for name in ("buChar", "buAutoNum") for _ in shape.iter(A + name))
    return count > 1 and (marks or kind in _LIST_PLACEHOLDERS)


def _items(shape: Element) -> Iterator[str]:
    for paragraph in shape.iter(A + "p"):
        text = collapse(paragraph_text(paragraph))
        properties = paragraph.find(A + "pPr")
        level = whole_number(properties.get("lvl"), most=_MAX_LIST_LEVEL) if properties is not None else 0
        if text:
            yield "  " * level + f"- {text}"


def _frame(frame: Element) -> Iterator[SlidePart]:
    """A table, or a reference to a chart or diagram."""
    for table in frame.iter(A + "tbl"):
        yield SlidePart("table", render(lay_out([list(_cells(row)) for row in table.iter(A + "tr")])))
    for chart in frame.iter(CHART_REFERENCE):
        yield SlidePart("chart", chart.get(R + "id") or "")
    for diagram in frame.iter(_DIAGRAM):
        yield SlidePart("diagram", diagram.get(R + "dm") or "")


def _cells(row: Element) -> Iterator[Cell]:
    """Cells of a table row; those that another one covers are left out."""
    for cell in row:
        if cell.tag != A + "tc" or cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
            continue
        text = " ".join(body_texts(cell.find(A + "txBody")))
        yield Cell(text, whole_number(cell.get("gridSpan"), default=1), whole_number(cell.get("rowSpan"), default=1))
