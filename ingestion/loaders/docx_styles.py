"""What the styles and numberings of a Word document say of a paragraph: heading level, list marker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingestion.loaders.office_package import Element, whole_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING_NAME = re.compile(r"heading\s*(\d)")
_MAX_STYLE_CHAIN = 20
_MAX_LIST_LEVEL = 8


@dataclass(frozen=True, slots=True)
class Style:
    """One paragraph style, with what it inherits."""

    heading_level: int = 0
    is_title: bool = False
    numbering: tuple[str, int] | None = None


@dataclass(slots=True)
class ListCounter:
    """Numbers of list items as Word shows them: ordered levels count, others have a dash."""

    formats: Mapping[tuple[str, int], str]
    _counts: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])

    def marker(self, numbering: tuple[str, int]) -> str:
        """The marker of the next item of a list at a level, with its indentation."""
        number_id, level = numbering
        for key in [key for key in self._counts if key[0] == number_id and key[1] > level]:
            del self._counts[key]
        self._counts[numbering] = self._counts.get(numbering, 0) + 1
        ordered = self.formats.get(numbering, "bullet") not in ("bullet", "none")
        return "  " * level + (f"{self._counts[numbering]}. " if ordered else "- ")


def attribute(element: Element | None, name: str = "val") -> str:
    """A ``w:`` attribute; empty without it."""
    return "" if element is None else str(element.get(W + name) or "")


def read_styles(root: Element | None) -> dict[str, Style]:
    """Paragraph styles by id."""
    if root is None:
        return {}
    elements = {attribute(style, "styleId"): style for style in root.iter(W + "style")}
    return {identifier: _style(identifier, elements) for identifier in elements}


def _style(identifier: str, elements: Mapping[str, Element]) -> Style:
    level, title, numbering = 0, False, None
    for _ in range(_MAX_STYLE_CHAIN):
        element = elements.get(identifier)
        if element is None:
            break
        name = attribute(element.find(W + "name")).lower()
        title = title or name == "title"
        if match := _HEADING_NAME.match(name):
            level = level or int(match[1])
        properties = element.find(W + "pPr")
        if properties is not None:
            level = level or outline_level(properties)
            numbering = numbering or paragraph_numbering(properties)
        identifier = attribute(element.find(W + "basedOn"))
    return Style(level, title, numbering)


def outline_level(properties: Element) -> int:
    """Heading level of paragraph properties; 0 for body text."""
    value = attribute(properties.find(W + "outlineLvl"))
    level = whole_number(value, default=9)
    return level + 1 if level < 9 else 0


def paragraph_numbering(properties: Element) -> tuple[str, int] | None:
    """List and level of paragraph properties; None outside lists."""
    numbering = properties.find(W + "numPr")
    if numbering is None:
        return None
    number_id, level = attribute(numbering.find(W + "numId")), attribute(numbering.find(W + "ilvl"))
    return (number_id, whole_number(level, most=_MAX_LIST_LEVEL)) if number_id not in ("", "0") else None


def read_numbering(root: Element | None) -> dict[tuple[str, int], str]:
    """Number format by list and level."""
    if root is None:
        return {}
    abstract = {
        attribute(item, "abstractNumId"): {
            whole_number(attribute(level, "ilvl")): attribute(level.find(W + "numFmt"))
            for level in item.iter(W + "lvl")
        }
        for item in root.iter(W + "abstractNum")
    }
    return {
        (attribute(number, "numId"), level): number_format
        for number in root.iter(W + "num")
        for level, number_format in abstract.get(attribute(number.find(W + "abstractNumId")), {}).items()
    }
