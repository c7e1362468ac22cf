"""Web pages: headings, paragraphs, lists, tables and code of the content, without navigation and banners.

The tree is walked with a stack of our own: depth of nesting is the page's choice, not the interpreter's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.grid import Cell, lay_out, render
from ingestion.loaders.html_boilerplate import content_root, is_boilerplate, text_length
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.normalise import collapse
from ingestion.types import BlockKind, ParsedDocument
from retrieval.types import MetadataValue

_ENDINGS = frozenset((".html", ".htm", ".xhtml"))
_BEFORE = r"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*"
_PAGE = re.compile(_BEFORE + r"<(?:!doctype\s+html|html)\b", re.I | re.S)
_PART_OF_PAGE = re.compile(_BEFORE + r"<(?:head|body)\b", re.I | re.S)
_CHARSET = re.compile(rb"""<(?:meta[^>]*?|\?xml[^>]*?)(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_:.-]+)""", re.I)
_DECLARATION_BYTES = 4096
_INLINE = frozenset(
    (
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "img",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    )
)
_LANGUAGE = re.compile(r"(?:^|\s)(?:lang(?:uage)?|highlight|brush:?|sourceCode)[-_ ]([\w+#-]+)", re.IGNORECASE)
_META = {"description": "description", "author": "author", "article:published_time": "published"}


def load_html(data: bytes, *, name: str) -> ParsedDocument:
    """The document of a web page in its declared or found encoding.

    Raises:
        LoadFailed: ``empty`` without visible text; ``undecodable`` when no encoding fits.
    """
    declared = _CHARSET.search(data[:_DECLARATION_BYTES])
    source = decode(data, declared=declared[1].decode("ascii") if declared else None).text
    tree = LexborHTMLParser(source.replace("\0", ""))
    if tree.body is None:
        raise LoadFailed("empty", "The page holds no text.")
    walk = _ContentWalk(keep_all=False)
    walk.visit(content_root(tree.body))
    if walk.characters < 0.05 * text_length(tree.body):
        walk = _ContentWalk(keep_all=True)
        walk.visit(tree.body)
    title = walk.first_heading or _page_title(tree) or title_from_name(name)
    return walk.assembly.finish(title=title, media_type="text/html", metadata=_metadata(tree))


def _page_title(tree: LexborHTMLParser) -> str:
    node = tree.css_first("title")
    return collapse(node.text()) if node is not None else ""


def _metadata(tree: LexborHTMLParser) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {}
    for node in tree.css("meta[content]"):
        key = (node.attributes.get("name") or node.attributes.get("property") or "").lower()
        value = collapse(node.attributes.get("content") or "")
        if key in _META and value:
            found.setdefault(_META[key], value)
    root = tree.root
    language = (root.attributes.get("lang") or "") if root is not None else ""
    if language:
        found["language"] = language.lower()
    return found


class _Step(NamedTuple):
    node: LexborNode
    entering: bool


class _ContentWalk:
    """One pass over the content; ``characters`` counts what was kept."""

    def __init__(self, *, keep_all: bool) -> None:
        self.assembly = DocumentAssembly()
        self.characters = 0
        self.first_heading = ""
        self._keep_all = keep_all
        self._inline: list[str] = []
        self._lists: list[int | None] = []
        self._items: list[str] = []
        self._marker = ""
        self._quotes = 0

    def visit(self, root: LexborNode) -> None:
        """Take in everything below an element, in document order."""
        stack = [_Step(root, False), _Step(root, True)]
        while stack:
            node, entering = stack.pop()
            if not entering:
                self._leave(node)
                continue
            if node.is_text_node:
                self._inline.append(node.text_content or "")
            if not node.is_element_node or not self._enter(node):
                continue
            stack.extend(reversed([step for child in _children(node) for step in _steps(child)]))
        self._flush()
        self._end_list()

    def _enter(self, node: LexborNode) -> bool:
        """Handle an element's start; False when nothing below it is to be visited."""
        tag = node.tag or ""
        if is_boilerplate(node) and (not self._keep_all or tag in ("script", "style", "head", "template")):
            return False
        if tag == "br":
            self._inline.append("\n")
            return False
        if tag in _INLINE:
            self._inline.append("`" if tag == "code" else "")
            return True
        self._flush()
        if tag == "pre":
            self._code(node)
            return False
        if tag == "table" and _is_data_table(node):
            self._table(node)
            return False
        self._open(node, tag)
        return True

    def _open(self, node: LexborNode, tag: str) -> None:
        if tag in ("ul", "ol"):
            start = node.attributes.get("start") or "1"
            self._lists.append((int(start) if start.isdigit() else 1) if tag == "ol" else None)
        elif tag == "li":
            self._marker = self._next_marker()
        elif tag == "blockquote":
            self._quotes += 1

    def _leave(self, node: LexborNode) -> None:
        tag = node.tag or ""
        if tag in _INLINE:
            self._inline.append("`" if tag == "code" else "")
        elif re.fullmatch("h[1-6]", tag):
            self._heading(int(tag[1]))
        elif node.is_element_node and tag != "br":
            self._flush()
            self._close(tag)

    def _close(self, tag: str) -> None:
        if tag in ("ul", "ol") and self._lists:
            self._lists.pop()
            if not self._lists:
                self._end_list()
        elif tag == "blockquote":
            self._quotes = max(0, self._quotes - 1)

    def _next_marker(self) -> str:
        if not self._lists:
            return "- "
        number = self._lists[-1]
        if number is None:
            return "- "
        self._lists[-1] = number + 1
        return f"{number}. "

    def _heading(self, level: int) -> None:
        text = collapse("".join(self._inline)).rstrip("#\u00b6").strip()
        self._inline.clear()
        self._end_list()
        self.characters += len(text)
        if level == 1 and not self.first_heading:
            self.first_heading = text
        self.assembly.heading(text, level=level)

    def _flush(self) -> None:
        lines = [collapse(line) for line in _join(self._inline).split("\n")]
        self._inline.clear()
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        self.characters += len(text)
        if self._lists:
            indent = "  " * (len(self._lists) - 1)
            self._items.append(f"{indent}{self._marker or '  '}{text}")
            self._marker = ""
        else:
            self._end_list()
            kind: BlockKind = "quote" if self._quotes else "paragraph"
            self.assembly.add(kind, text)

    def _end_list(self) -> None:
        if self._items:
            self.assembly.add("list", "\n".join(self._items))
            self._items.clear()

    def _code(self, node: LexborNode) -> None:
        text = node.text().strip("\n")
        self._end_list()
        if text.strip():
            self.characters += len(text)
            self.assembly.code(text, language=_code_language(node))

    def _table(self, node: LexborNode) -> None:
        self._end_list()
        caption = node.css_first("caption")
        if caption is not None:
            self.assembly.add("paragraph", collapse(caption.text()))
        rows = [[_cell(cell) for cell in _children(row) if cell.tag in ("td", "th")] for row in node.css("tr")]
        text = render(lay_out(rows))
        self.characters += len(text)
        self.assembly.add("table", text)


def _join(parts: list[str]) -> str:
    """Inline text; line ends of the source are blanks, those of ``br`` stay."""
    return "".join(part if part == "\n" else re.sub(r"\s+", " ", part) for part in parts)


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _steps(node: LexborNode) -> tuple[_Step, ...]:
    return (_Step(node, True), _Step(node, False)) if node.is_element_node else (_Step(node, True),)


def _is_data_table(node: LexborNode) -> bool:
    """Two columns and rows at least, and no table within: the rest are frames for layout."""
    rows = node.css("tr")
    nested = any(table.mem_id != node.mem_id for table in node.css("table"))
    if nested or len(rows) < 2:
        return False
    return any(sum(1 for cell in _children(row) if cell.tag in ("td", "th")) > 1 for row in rows)


def _cell(node: LexborNode) -> Cell:
    parts: list[str] = []
    stack = [node.child]
    while stack:
        current = stack.pop()
        if current is None:
            continue
        stack.append(current.next)
        if current.is_text_node:
            parts.append(current.text_content or "")
        elif current.is_element_node and current.tag not in ("script", "style", "template"):
            parts.append("" if current.tag in _INLINE else " ")
            stack.append(current.child)
    return Cell(collapse("".join(parts)), _span(node, "colspan"), _span(node, "rowspan"))


def _span(node: LexborNode, attribute: str) -> int:
    value = (node.attributes.get(attribute) or "1").strip()
    return max(1, int(value)) if value.isdigit() and len(value) < 6 else 1


def _code_language(node: LexborNode) -> str:
    code = node.css_first("code")
    for candidate in (node, code, node.parent):
        if candidate is not None and (match := _LANGUAGE.search(candidate.attributes.get("class") or "")):
            return match[1].lower()
    return ""


def _certainty(sample: Sample) -> Certainty:
    if _PAGE.match(sample.text):
        return 3
    if _PART_OF_PAGE.match(sample.text):
        return 2
    return 1 if sample.ending in _ENDINGS else 0


def _load(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    return load_html(data, name=name)


LOADER = Loader("HTML", _ENDINGS, _certainty, _load)
