"""XML: values as lines that read alone, running text as paragraphs, titles as headings.

A document that declares entities is refused as ``unsafe_archive`` before it is parsed: bombs of nested entities and
reads of foreign files are made of them, and no data needs them. Damaged XML gives what can be saved, as ``partial``.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, cast

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.data_lines import data_line
from ingestion.loaders.encoding import decode
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse, normalise
from ingestion.loaders.office_package import Element
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

_ENDINGS = frozenset((".xml", ".xsd", ".xsl", ".xslt", ".rss", ".atom", ".wsdl", ".plist", ".dita", ".dbk"))
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_DECLARED_ENCODING = re.compile(rb"""\A\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9_.:-]+)""")
_TITLES = frozenset(("title", "head", "heading", "bridgehead"))
_PARAGRAPHS = frozenset(("p", "para", "simpara", "paragraph", "ab", "li", "listitem"))
_RECORD_LINES = 30
_MARKUP = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")


def load_xml(source: str, *, name: str) -> ParsedDocument:
    """The document of XML text.

    Raises:
        LoadFailed: ``unsafe_archive`` when entities are declared, ``corrupt`` when nothing can be saved of damaged XML,
            ``unsupported_type`` for a picture, ``empty`` when there is no text.
    """
    text = _DECLARATION.sub("", normalise(source), count=1).strip()
    if "<!DOCTYPE" in text and "<!ENTITY" in text:
        raise LoadFailed("unsafe_archive", "The file declares entities, which is not allowed; save it without them.")
    root, partial = _parse(text)
    if _local(root) == "svg":
        raise LoadFailed("unsupported_type", "This kind of file (pictures) is not read.")
    walk = _Walk()
    walk.visit(root)
    metadata: dict[str, MetadataValue] = {"partial": True} if partial else {}
    title = walk.title or title_from_name(name)
    return walk.assembly.finish(title=title, media_type="application/xml", metadata=metadata)


def _parse(text: str) -> tuple[Element, bool]:
    """The root, and whether something was lost."""
    from lxml import etree  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue] - no type stubs

    library = cast("Any", etree)
    data = text.encode("utf-8", "replace")
    for recover in (False, True):
        parser = library.XMLParser(
            encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=recover
        )
        try:
            root = library.fromstring(data, parser)
        except (SyntaxError, ValueError):
            continue
        if root is not None:
            return cast("Element", root), recover
    raise LoadFailed("corrupt", "The XML is damaged and nothing of it can be read.")


class _Step(NamedTuple):
    element: Any
    path: tuple[str, ...]
    depth: int


class _Walk:
    """One pass in document order with a stack of its own; lines of one record share a paragraph."""

    def __init__(self) -> None:
        self.assembly = DocumentAssembly()
        self.title = ""
        self._lines: list[str] = []

    def visit(self, root: Element) -> None:
        """Take in the whole tree."""
        stack = [_Step(root, (), 0)]
        while stack:
            step = stack.pop()
            if not isinstance(step.element.tag, str):
                continue
            if step.depth <= 1 or (step.depth == 2 and len(self._lines) >= _RECORD_LINES):
                self._flush()
            if self._leaf(step):
                continue
            self._attributes(step)
            children = list(step.element)
            stack.extend(_Step(child, (*step.path, _local(child)), step.depth + 1) for child in reversed(children))
        self._flush()

    def _leaf(self, step: _Step) -> bool:
        """Whether the element was taken as a whole: a title, running text, or one value."""
        element, name = step.element, _local(step.element)
        if name in _TITLES and not _has_structure(element):
            text = _words(element)
            if text:
                self._flush()
                self.title = self.title or text
                self.assembly.heading(text, level=max(1, step.depth))
            return True
        if name in _PARAGRAPHS or _is_running_text(element):
            self._flush()
            self.assembly.add("paragraph", _words(element))
            return True
        if len(element):
            return False
        self._attributes(step)
        if text := _words(element):
            self._lines.append(data_line(step.path, text))
        return True

    def _attributes(self, step: _Step) -> None:
        for key, value in step.element.attrib.items():
            label = str(key).rpartition("}")[2]
            if text := collapse(str(value)):
                self._lines.append(data_line((*step.path, label), text))

    def _flush(self) -> None:
        self.assembly.add("paragraph", "\n".join(self._lines))
        self._lines.clear()


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _has_structure(element: Any) -> bool:
    return any(_local(child) in _TITLES for child in element.iter() if child is not element)


def _is_running_text(element: Any) -> bool:
    """Words and elements side by side, as in a sentence with a link."""
    if not len(element):
        return False
    parts = [element.text, *(child.tail for child in element)]
    return any(part and part.strip() for part in parts)


def _words(element: Any) -> str:
    text = str(element.xpath("string()"))
    if _MARKUP.search(text):
        from selectolax.lexbor import LexborHTMLParser

        body = LexborHTMLParser(text).body
        text = body.text(separator=" ") if body is not None else text
    return collapse(text)


def _certainty(sample: Sample) -> Certainty:
    if sample.text.lstrip().startswith("<?xml"):
        return 2
    return 1 if sample.ending in _ENDINGS else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    declared = _DECLARED_ENCODING.search(data[:200])
    text = decode(data, declared=declared[1].decode("ascii") if declared else None).text
    return load_xml(text, name=name)


LOADER = Loader("XML", _ENDINGS, _certainty, _load)
