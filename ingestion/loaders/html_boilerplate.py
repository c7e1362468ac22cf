"""What of a web page is not its content: navigation, banners, forms, hidden parts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode

_NEVER_TEXT = frozenset(
    (
        "script",
        "style",
        "noscript",
        "template",
        "svg",
        "iframe",
        "object",
        "canvas",
        "head",
        "button",
        "select",
        "input",
        "textarea",
        "dialog",
        "menu",
        "nav",
        "audio",
        "video",
        "map",
    )
)
_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "menu", "menubar", "tablist", "toolbar")
)
_WORDS = re.compile(
    r"(?:^|[\s_-])(?:cookie|cookies|consent|gdpr|navbar|nav|navigation|menu|sidebar|breadcrumbs?|skip|advert|ads"
    r"|newsletter|popup|modal|share|sharing|social|pagination|toc|tableofcontents|noprint|printfooter|catlinks"
    r"|editsection|sr-only|visually-hidden|announcement)(?:$|[\s_-])",
    re.IGNORECASE,
)
_COMPOUND = re.compile(
    r"cookie-?(?:banner|consent|notice|bar)|skip-?(?:link|to)|page-?nav|site-?(?:header|footer)", re.I
)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_MAIN_SELECTORS = ("main", "[role=main]", "article")
_MIN_MAIN_SHARE = 0.3
"""Least share of a page's text that its main part must hold to be taken alone."""


def content_root(body: LexborNode) -> LexborNode:
    """The page's main part when it is marked and holds a fair share of the text, else the whole body."""
    total = text_length(body)
    for selector in _MAIN_SELECTORS:
        found = body.css(selector)
        if len(found) == 1 and text_length(found[0]) >= _MIN_MAIN_SHARE * total:
            return found[0]
    return body


def is_boilerplate(node: LexborNode) -> bool:
    """Whether an element and all within it is left out."""
    tag = node.tag or ""
    if tag in _NEVER_TEXT:
        return True
    if tag in ("body", "main", "article", "html"):
        return False
    attributes = node.attributes
    if "hidden" in attributes or attributes.get("aria-hidden") == "true" or attributes.get("role") in _ROLES:
        return True
    if _HIDDEN.search(attributes.get("style") or ""):
        return True
    if tag in ("header", "footer") and not _within_article(node):
        return tag == "footer" or node.css_first("h1") is None
    marks = f"{attributes.get('class') or ''} {attributes.get('id') or ''}"
    return bool(_WORDS.search(marks) or _COMPOUND.search(marks)) and not _is_wide(node)


def _within_article(node: LexborNode) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag in ("article", "main", "section", "blockquote"):
            return True
        parent = parent.parent
    return False


def _is_wide(node: LexborNode) -> bool:
    """An element named like a menu that holds the page's own heading is a layout frame, not a menu."""
    return node.css_first("h1, main, article") is not None


def text_length(root: LexborNode) -> int:
    """Number of characters of visible text below an element, white space not counted."""
    return sum(len("".join(text.split())) for text in _visible_texts(root))


def _visible_texts(root: LexborNode) -> Iterator[str]:
    stack = [root.child]
    while stack:
        node = stack.pop()
        if node is None:
            continue
        stack.append(node.next)
        if node.is_text_node:
            yield node.text_content or ""
        elif node.is_element_node and node.tag not in _NEVER_TEXT:
            stack.append(node.child)
