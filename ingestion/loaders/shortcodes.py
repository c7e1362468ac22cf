"""Template marks of documentation generators (Hugo) to the words a reader sees; HTML comments to nothing.

Code blocks stay as they are. The result is what is stored and cited: a citation shows words, not marks.
"""

from __future__ import annotations

import re

_FENCE = re.compile(r"^[ \t>]*(?:[-*+]|\d+[.)])?[ \t]*(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_SHORTCODE = re.compile(r"\{\{([<%])\s*(/?)\s*([A-Za-z][\w/-]*)\s*((?:\"[^\"]*\"|[^\"}])*?)\s*/?\1?[>%]\}\}")
_ARGUMENT = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s"]+))|"([^"]*)"|([^\s"=]+)""")
_ADMONITIONS = ("note", "caution", "warning", "tip", "info", "danger", "important")
_CODE = ("highlight", "mermaid")
_HEADINGS = {"whatsnext": "What's next", "prerequisites": "Before you begin", "seealso": "See also"}
"""Words that the documentation theme gives to its standard sections."""
_VISIBLE = ("text", "title", "caption", "name", "term_id", "file", "prepend")


def clean_shortcodes(source: str) -> str:
    """The Markdown source with shortcodes resolved to words and HTML comments removed, outside code blocks."""
    if "{{" not in source and "<!--" not in source:
        return source
    parts: list[str] = []
    position = 0
    for start, end in _code_spans(source):
        parts.append(_clean(source[position:start]))
        parts.append(source[start:end])
        position = end
    parts.append(_clean(source[position:]))
    return "".join(parts)


def _code_spans(source: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    opening: tuple[int, str] | None = None
    for match in _FENCE.finditer(source):
        marks = match[1]
        if opening is None:
            opening = (match.start(), marks)
        elif marks[0] == opening[1][0] and len(marks) >= len(opening[1]) and not match[2].strip():
            spans.append((opening[0], match.end()))
            opening = None
    if opening is not None:
        spans.append((opening[0], len(source)))
    return spans


def _clean(text: str) -> str:
    return _SHORTCODE.sub(_visible_words, _COMMENT.sub("", text))


def _visible_words(match: re.Match[str]) -> str:
    name = match[3].lower()
    if name in _CODE:
        return _code_mark(match, name)
    if match[2]:
        return ""
    named, positional = _arguments(match[4])
    if name in _ADMONITIONS:
        return f"{name.capitalize()}:\n"
    if name == "heading":
        key = positional[0] if positional else ""
        return _HEADINGS.get(key, key.capitalize())
    if name == "feature-state":
        version, state = named.get("for_k8s_version", ""), named.get("state", "")
        return f"Feature state: Kubernetes {version} [{state}]" if version else ""
    if name in ("skew", "param"):
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", positional[0]).lower() if positional else ""
    return _words_of_arguments(name, named)


def _words_of_arguments(name: str, named: dict[str, str]) -> str:
    value = next((named[key] for key in _VISIBLE if named.get(key)), "")
    if name == "tabs" or not value:
        return ""
    if "text" not in named and named.get("term_id") == value:
        return value.replace("-", " ")
    if named.get("file") == value:
        return f"`{value}`"
    return f"{value}:" if name in ("tab", "alert") else value


def _code_mark(match: re.Match[str], name: str) -> str:
    if "hl_inline" in match[4]:
        return "`"
    if match[2]:
        before = match.string[: match.start()].rpartition("\n")[2]
        return "`" if before.strip() else "```"
    _, positional = _arguments(match[4])
    language = positional[0] if name == "highlight" and positional else name
    return f"```{language}"


def _arguments(source: str) -> tuple[dict[str, str], list[str]]:
    named: dict[str, str] = {}
    positional: list[str] = []
    for match in _ARGUMENT.finditer(source):
        if match[1]:
            named[match[1]] = match[2] if match[2] is not None else match[3]
        else:
            positional.append(match[4] if match[4] is not None else match[5])
    return named, positional
