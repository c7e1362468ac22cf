"""Text of one Word paragraph as its reader sees it: insertions in, deletions out, notes by their number."""

from __future__ import annotations

from dataclasses import dataclass, field

from ingestion.loaders.docx_styles import W, attribute
from ingestion.loaders.office_chart import CHART_REFERENCE
from ingestion.loaders.office_package import Element

_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}AlternateContent"
_CHOICE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Choice"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_DELETED = frozenset(W + name for name in ("del", "moveFrom", "delText", "instrText", "delInstrText", "pPr", "rPr"))
_CHARACTERS = {
    W + "tab": "\t",
    W + "ptab": "\t",
    W + "br": "\n",
    W + "cr": "\n",
    W + "noBreakHyphen": "-",
}
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_NOTES = {W + "footnoteReference": "footnote", W + "endnoteReference": "endnote", W + "commentReference": "comment"}


@dataclass(slots=True)
class ParagraphText:
    """What a paragraph holds: its own text, boxes and charts anchored in it, and the notes it refers to.

    A chart is the id of its relation.
    """

    parts: list[str] = field(default_factory=list[str])
    boxes: list[Element] = field(default_factory=list[Element])
    notes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    charts: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        """The paragraph's own text."""
        return "".join(self.parts)


def read_paragraph(paragraph: Element) -> ParagraphText:
    """Text, boxes and notes of a ``w:p`` element; depth of nesting is bounded by the XML parser."""
    found = ParagraphText()
    stack: list[Element] = [paragraph]
    while stack:
        element = stack.pop()
        tag = element.tag
        if tag in _DELETED or (tag == W + "r" and _is_hidden(element)):
            continue
        if tag == W + "txbxContent":
            found.boxes.append(element)
        elif tag == W + "t":
            found.parts.append(element.text or "")
        elif tag in _CHARACTERS:
            found.parts.append(_CHARACTERS[tag])
        elif tag in _NOTES:
            _add_note(found, _NOTES[tag], attribute(element, "id"))
        elif tag == CHART_REFERENCE:
            found.charts.append(element.get(_RELATION_ID) or "")
        elif tag == _ALTERNATE:
            stack.extend(_alternative(element))
        else:
            stack.extend(reversed(element))
    return found


def _alternative(element: Element) -> list[Element]:
    """The same content is stored twice, for new and for old readers; one is enough."""
    for name in (_CHOICE, _FALLBACK):
        if (chosen := element.find(name)) is not None and len(chosen):
            return [chosen]
    return []


def _add_note(found: ParagraphText, kind: str, identifier: str) -> None:
    found.notes.append((kind, identifier))
    if kind != "comment":
        found.parts.append(f"[^{identifier}]" if kind == "footnote" else f"[^e{identifier}]")


def _is_hidden(run: Element) -> bool:
    properties = run.find(W + "rPr")
    if properties is None:
        return False
    vanish = properties.find(W + "vanish")
    return vanish is not None and attribute(vanish) not in ("0", "false", "off")
