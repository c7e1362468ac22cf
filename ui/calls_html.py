"""Arguments, results and changed definitions of tools as HTML; every text is escaped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import unified_diff
from html import escape

from pydantic import JsonValue

from ui.markup import markdown_html, styled

SHORT_CHARACTERS = 700
"""Longest result that is shown without a click."""
SHORT_LINES = 12
_DIFF_CLASSES = {"+": "added", "-": "removed", "@": "place"}


def arguments_html(arguments: Mapping[str, JsonValue], *, original: Mapping[str, JsonValue] | None = None) -> str:
    """Arguments as a table by name; with ``original``, what a person changed is marked and both are shown."""
    if not arguments and not original:
        return styled('<p class="gw-note">Without arguments.</p>')
    names = [*(original or {}), *(name for name in arguments if name not in (original or {}))]
    rows = "".join(_row(name, arguments, original) for name in names)
    return styled(f'<div class="gw-scroll"><table class="gw-args"><tbody>{rows}</tbody></table></div>')


def result_html(text: str) -> str:
    """A result as it is; a long one is folded behind its beginning."""
    text = pretty(text)
    if len(text) <= SHORT_CHARACTERS and text.count("\n") < SHORT_LINES:
        return styled(f"<pre><code>{escape(text)}</code></pre>")
    head = "\n".join(text[:SHORT_CHARACTERS].splitlines()[:SHORT_LINES])
    summary = f"<summary>Show all<pre><code>{escape(head)} …</code></pre></summary>"
    return styled(f'<details class="gw-result">{summary}<pre><code>{escape(text)}</code></pre></details>')


def thought_html(text: str) -> str:
    """What an agent said on its way to a call."""
    return f'<div class="gw-thought">{markdown_html(text)}</div>'


def diff_html(before: Mapping[str, JsonValue], after: Mapping[str, JsonValue]) -> str:
    """Two definitions, line by line."""
    lines = list(unified_diff(_lines(before), _lines(after), lineterm="", n=3))[2:]
    body = "".join(f'<span class="{_DIFF_CLASSES.get(line[:1], "same")}">{escape(line)}\n</span>' for line in lines)
    return styled(f'<pre class="gw-diff"><code>{body}</code></pre>')


def pretty(text: str) -> str:
    """JSON with its lines indented; any other text as it is."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def pretty_json(value: Mapping[str, JsonValue]) -> str:
    """A value as JSON with its lines indented."""
    return json.dumps(dict(value), indent=2, ensure_ascii=False)


def value_text(value: JsonValue) -> str:
    """A value as a person reads it: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def _row(name: str, arguments: Mapping[str, JsonValue], original: Mapping[str, JsonValue] | None) -> str:
    now = escape(value_text(arguments[name])) if name in arguments else ""
    if original is None or (name in original and name in arguments and original[name] == arguments[name]):
        return f'<tr><th scope="row">{escape(name)}</th><td>{now}</td></tr>'
    before = escape(value_text(original[name])) if name in original else ""
    removed = f"<del>{before}</del> " if before else ""
    added = f"<ins>{now}</ins>" if name in arguments else ""
    return f'<tr><th scope="row">{escape(name)}</th><td>{removed}{added}</td></tr>'


def _lines(definition: Mapping[str, JsonValue]) -> list[str]:
    text = json.dumps(dict(definition), indent=2, sort_keys=True, ensure_ascii=False)
    # Long descriptions are one line of JSON; a change inside one is found faster in short lines.
    return [piece for line in text.splitlines() for piece in line.replace("\\n", "\\n\n").split("\n")]
