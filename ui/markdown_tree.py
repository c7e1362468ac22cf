"""Markdown that a model or a document wrote, as a tree of a few known elements.

Nothing else leaves this module: no HTML of the text, no images, no links but http, https and mailto. Citation markers
and the ends of claims become elements of their own, so that whoever draws the tree needs no string handling.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, TypeAlias

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agents.answer import Claim

Tag: TypeAlias = Literal[
    "a", "blockquote", "br", "code", "em", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul", "span", "mark", "citation", "verdict",
]  # fmt: skip
"""``citation`` (attribute ``number``) and ``verdict`` (attribute ``claim``, an index) are not HTML elements."""

_TAGS: Mapping[str, Tag] = {
    "a": "a", "blockquote": "blockquote", "em": "em", "li": "li", "ol": "ol", "p": "p", "s": "s", "strong": "strong",
    "table": "table", "tbody": "tbody", "td": "td", "th": "th", "thead": "thead", "tr": "tr", "ul": "ul",
    "h1": "h4", "h2": "h4", "h3": "h5", "h4": "h5", "h5": "h6", "h6": "h6",
}  # fmt: skip

_OPEN, _CLOSE = "\u2045", "\u2046"
"""Borders of the signs put into the text before it is parsed. They are punctuation, which keeps emphasis and code
next to them working; the text's own ones are taken out first."""
_SIGN = re.compile(f"{_OPEN}([cse])([0-9]+){_CLOSE}")
_MARKER = re.compile(r"\[([0-9]{1,4})\]")
_MARKERS_BEHIND = re.compile(r"(?:[ \t]*\[[0-9]{1,4}\])+")
_LINE_PREFIX = re.compile(r"[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)]|#{1,6}|>)[ \t]+|\|[ \t]*)*")
_LINE_END = re.compile(r"[ \t]*\|?[ \t]*$")
_SCHEMES = frozenset({"http", "https", "mailto"})


@dataclass(frozen=True, slots=True)
class Element:
    """An element with its children in order; attribute values are plain text, not escaped."""

    tag: Tag
    children: tuple[Node, ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict[str, str])


Node: TypeAlias = Element | str


def parse(text: str, *, citations: Collection[int] = (), claims: Sequence[Claim] = ()) -> tuple[Node, ...]:
    """The tree of a Markdown text.

    Args:
        text: Markdown, complete or still being written.
        citations: Numbers that exist; ``[n]`` of another number stays text.
        claims: Statements of the text. One that is not verified is wrapped in ``span`` elements (attribute ``claim``);
            behind each stands a ``verdict`` element. One that cannot be placed has none.
    """
    tokens = _parser().parse(_with_signs(text, frozenset(citations), claims))
    return _Builder(claims).build(tokens)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    # A link definition in the text must not turn a citation marker into a link of the model's choice.
    return parser.disable("reference")


def _with_signs(text: str, citations: frozenset[int], claims: Sequence[Claim]) -> str:
    """The text with signs for markers and claims in it; offsets of claims count in the text as given."""
    fences = list(_fenced(text))
    signs: list[tuple[int, int, str]] = []
    for index, claim in enumerate(claims):
        if not 0 <= claim.char_start < claim.char_end <= len(text):
            continue
        start, end = _claim_span(text, claim)
        if start < end and not any(start < right and left < end for left, right in fences):
            signs += [(start, start, f"{_OPEN}s{index}{_CLOSE}"), (end, end, f"{_OPEN}e{index}{_CLOSE}")]
    for match in _MARKER.finditer(text):
        number = int(match.group(1))
        if number in citations and not any(left <= match.start() < right for left, right in fences):
            signs.append((match.start(), match.end(), f"{_OPEN}c{number}{_CLOSE}"))
    pieces: list[str] = []
    position = 0
    for start, end, sign in sorted(signs, key=lambda entry: (entry[0], entry[1])):
        pieces += [_without_borders(text[position:start]), sign]
        position = end
    return "".join([*pieces, _without_borders(text[position:])])


def _claim_span(text: str, claim: Claim) -> tuple[int, int]:
    """The claim's span moved to where signs do no harm: behind a list or table mark, behind its own markers."""
    start = claim.char_start
    line_start = text.rfind("\n", 0, start) + 1
    if prefix := _LINE_PREFIX.match(text, line_start):
        start = max(start, prefix.end())
    end = claim.char_end
    if markers := _MARKERS_BEHIND.match(text, end):
        end = markers.end()
    stripped = text[start:end].rstrip()
    if tail := _LINE_END.search(stripped):
        stripped = stripped[: tail.start()]
    return start, start + len(stripped)


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """Spans of code blocks, whose text is left alone."""
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    for token in _parser().parse(text):
        if token.type in ("fence", "code_block") and token.map:
            yield starts[token.map[0]], starts[min(token.map[1], len(starts) - 1)]


def _without_borders(text: str) -> str:
    return text.replace(_OPEN, "[").replace(_CLOSE, "]")


class _Builder:
    """Walks tokens in order; the claim that is open goes along, for it may stretch over several of them."""

    def __init__(self, claims: Sequence[Claim]) -> None:
        self._claims = claims
        self._claim: int | None = None

    def build(self, tokens: Sequence[Token]) -> tuple[Node, ...]:
        stack: list[tuple[Token | None, list[Node]]] = [(None, [])]
        for token in tokens:
            if token.nesting > 0:
                stack.append((token, []))
            elif token.nesting < 0 and len(stack) > 1:
                opened, children = stack.pop()
                stack[-1][1].extend(_wrap(opened, children))
            else:
                stack[-1][1].extend(self._leaf(token))
        return tuple(stack[0][1])

    def _leaf(self, token: Token) -> list[Node]:
        match token.type:
            case "inline":
                return list(self.build(token.children or []))
            case "text":
                return self._signs(token.content)
            case "softbreak":
                return [" "]
            case "hardbreak":
                return [Element("br")]
            case "code_inline":
                return self._code(token.content)
            case "fence" | "code_block":
                return [Element("pre", (Element("code", (_SIGN.sub("", token.content),)),))]
            case "hr":
                return [Element("hr")]
            case "image":
                return [f"[image: {_SIGN.sub('', token.content) or 'no description'}]"]
            case _:
                return self._signs(token.content)

    def _signs(self, text: str) -> list[Node]:
        nodes: list[Node] = []
        position = 0
        for match in _SIGN.finditer(text):
            nodes += self._claimed(text[position : match.start()], before_sign=True)
            position = match.end()
            nodes += self._sign(match.group(1), int(match.group(2)))
        return nodes + self._claimed(text[position:])

    def _sign(self, kind: str, value: int) -> list[Node]:
        if kind == "c":
            return [Element("citation", attributes={"number": str(value)})]
        if kind == "s":
            self._claim = value
            return []
        self._claim = None
        return [Element("verdict", attributes={"claim": str(value)})]

    def _claimed(self, text: str, *, before_sign: bool = False) -> list[Node]:
        if not text:
            return []
        if self._claim is None or not text.strip() or self._claims[self._claim].verdict == "verified":
            return [text]
        core = text.rstrip() if before_sign else text
        rest: list[Node] = [text[len(core) :]] if len(core) < len(text) else []
        return [Element("span", (core,), {"claim": str(self._claim)}), *rest]

    def _code(self, text: str) -> list[Node]:
        """Inline code; signs inside it stand behind it."""
        behind = [node for match in _SIGN.finditer(text) for node in self._sign(match.group(1), int(match.group(2)))]
        return [Element("code", (_SIGN.sub("", text),)), *behind]


def _wrap(opened: Token | None, children: list[Node]) -> list[Node]:
    if opened is None or opened.hidden:
        return children
    tag = _TAGS.get(opened.tag)
    if tag is None:
        return children
    return [Element(tag, tuple(children), _attributes(opened))]


def _attributes(token: Token) -> dict[str, str]:
    if token.tag == "a":
        href = _SIGN.sub("", str(token.attrGet("href") or ""))
        return {"href": href} if href.partition(":")[0].lower() in _SCHEMES else {}
    if token.tag == "ol" and (start := token.attrGet("start")) is not None:
        return {"start": str(start)}
    return {}
