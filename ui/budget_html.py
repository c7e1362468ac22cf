"""How the context window of an answer was filled and what was left out, as HTML; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from agents.answer import ContextReport
from ui.markup import styled
from ui.wording import plural, shorten

COLOURS: Final = {
    "system": "#6b7a90",
    "memory": "#b0566f",
    "history": "#9a6fb0",
    "evidence": "#1f8a8a",
    "pictures": "#4f7fd0",
    "tools": "#c98a2b",
    "reserve": "#b9c2cc",
}
_WORDS: Final = {
    "system": "instructions",
    "memory": "memory",
    "history": "earlier turns",
    "evidence": "passages and question",
    "pictures": "pictures",
    "tools": "tools",
    "reserve": "kept for the answer",
}
_REASONS: Final = {"budget": "did not fit", "duplicate": "said the same as another"}
QUESTION_LENGTH = 120


def budget_html(context: ContextReport) -> str:
    """Bar, legend and what was left out, all of it open."""
    size = f"<p>{plural(context.budget_tokens, 'token')} of context</p>"
    return styled(f"{size}{_bar(context)}{_legend(context)}{_dropped(context)}")


def budget_line_html(context: ContextReport) -> str:
    """A thin bar with one line, to fold open; empty where nothing is known of the window."""
    used = sum(context.used.model_dump().values()) - context.used.reserve
    if not used:
        return ""
    line = f"{used:,} of {context.budget_tokens:,} tokens of context"
    if left_out := ", ".join(_counts(context)):
        line += f" · left out: {left_out}"
    return styled(
        f'<details class="gw-budget"><summary>{_bar(context)}<small>{line}</small></summary>'
        f"{_legend(context)}{_dropped(context)}</details>"
    )


def _bar(context: ContextReport) -> str:
    used = _used(context)
    total = max(context.budget_tokens, sum(used.values()), 1)
    parts = "".join(
        f'<span style="width:{100 * count / total:.2f}%;background:{COLOURS[name]}" title="{_WORDS[name]}"></span>'
        for name, count in used.items()
    )
    return f'<div class="gw-bar">{parts}</div>'


def _legend(context: ContextReport) -> str:
    parts = "".join(
        f'<span><i style="background:{COLOURS[name]}"></i>{_WORDS[name]} {count:,}</span>'
        for name, count in _used(context).items()
    )
    return f'<p class="gw-legend">{parts}</p>'


def _used(context: ContextReport) -> dict[str, int]:
    return {name: count for name in COLOURS if (count := getattr(context.used, name))}


def _counts(context: ContextReport) -> Iterator[str]:
    if context.dropped:
        yield plural(len(context.dropped), "passage")
    if context.dropped_turns:
        yield plural(len(context.dropped_turns), "earlier question")
    if context.dropped_steps:
        yield plural(context.dropped_steps, "early step")


def _dropped(context: ContextReport) -> str:
    passages = "".join(
        f"<li>{escape(entry.source)}: {plural(entry.tokens, 'token')}, {_REASONS[entry.reason]}</li>"
        for entry in context.dropped
    )
    turns = "".join(
        f"<li>earlier question: {escape(shorten(question, QUESTION_LENGTH))}</li>" for question in context.dropped_turns
    )
    left_out = ", ".join(_counts(context))
    return f"<p>Left out: {left_out}</p><ul>{passages}{turns}</ul>" if left_out else ""
