"""HTML of trees and passages for places that take no component; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from html import escape
from pathlib import Path

from ui.markdown_tree import Element, Node, parse

ASSETS = Path(__file__).parent / "assets"


@cache
def stylesheet() -> str:
    """The style that the component and this module share."""
    return (ASSETS / "answer.css").read_text(encoding="utf-8")


def markdown_html(text: str) -> str:
    """Markdown as styled HTML that holds no markup, image or script of the text's own."""
    return styled(_html(parse(text)))


def sentence_html(text: str) -> str:
    """A piece of Markdown without the paragraph around it, to stand inside other HTML."""
    return "".join(
        _html(node.children if isinstance(node, Element) and node.tag == "p" else (node,)) for node in parse(text)
    )


def text_html(text: str, spans: Iterable[tuple[int, int]] = ()) -> str:
    """Plain text, as it is, with spans of it marked."""
    return styled(f'<div class="gw-passage">{marks(text, spans)}</div>')


def marks(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Escaped text with spans marked; they are in order and do not overlap."""
    pieces: list[str] = []
    position = 0
    for start, end in spans:
        pieces += [escape(text[position:start]), f"<mark>{escape(text[start:end])}</mark>"]
        position = end
    return "".join([*pieces, escape(text[position:])])


def busy_html(text: str) -> str:
    """A line that says what goes on, beside a sign that moves."""
    return styled(f'<div class="gw-busy" role="status"><i></i>{escape(text)}</div>')


def styled(body: str) -> str:
    """HTML with the style it needs; the caller has escaped all text in it."""
    return f'<style>{stylesheet()}</style><div class="gw">{body}</div>'


def _html(nodes: Iterable[Node]) -> str:
    return "".join(_node(node) for node in nodes)


def _node(node: Node) -> str:
    if isinstance(node, str):
        return escape(node)
    inner = _html(node.children)
    match node.tag:
        case "citation" | "verdict":
            return ""
        case "br" | "hr":
            return f"<{node.tag}>"
        case "span":
            return inner
        case "table":
            return f'<div class="gw-scroll"><table>{inner}</table></div>'
        case "a":
            href = escape(node.attributes.get("href", ""))
            return f'<a href="{href}" target="_blank" rel="noopener noreferrer nofollow">{inner}</a>' if href else inner
        case "ol":
            return f'<ol start="{escape(node.attributes.get("start", "1"))}">{inner}</ol>'
        case _:
            return f"<{node.tag}>{inner}</{node.tag}>"
