"""Blanks of prompts and of templates of resources, with what the server suggests for them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

import streamlit as st

from app.tool_schema import CompletionAsk, PromptBlank
from ui import session
from ui.errors import UiError
from ui.wording import literal

_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]+)\}")
_SUGGESTIONS = "suggested_values"
_CHOICE = "-choice"
"""Behind the key of a blank that is chosen from a list; the same blank may be typed before anything is suggested."""


def template_blanks(template: str) -> list[PromptBlank]:
    """The blanks of an address with ``{names}`` in it (RFC 6570)."""
    names = [name for _, inside in _EXPRESSION.findall(template) for name in _names(inside)]
    return [PromptBlank(name=name, description="", required=True) for name in dict.fromkeys(names)]


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """The address with its blanks filled in; blanks without a value are left out."""

    def expand(match: re.Match[str]) -> str:
        operator = match[1]
        given = {name: values[name] for name in _names(match[2]) if values.get(name)}
        if operator in ("?", "&"):
            return f"{operator}{urlencode(given, quote_via=quote)}" if given else ""
        safe = "/:?#[]@!$&'()*+,;=" if operator in ("+", "#") else ""
        text = ",".join(quote(value, safe=safe) for value in given.values())
        return f"{operator}{text}" if text and operator in ("#", ".", "/", ";") else text

    return _EXPRESSION.sub(expand, template)


def draw_blanks(blanks: Sequence[PromptBlank], *, server: str, key: str, prompt: str = "", template: str = "") -> None:
    """Draw an input for each blank; where the server suggests values, they can be chosen, and others typed.

    What a server suggests may hang on what stands in the other blanks.
    """
    written = values_of(blanks, key=key)
    for blank in blanks:
        label = literal(blank.name) + (" \\*" if blank.required else "")
        others = {name: value for name, value in written.items() if name != blank.name}
        asked = CompletionAsk(prompt=prompt, template=template, argument=blank.name, others=others)
        suggested = _suggested(server, asked)
        tip = literal(blank.description) or None
        if suggested:
            st.selectbox(
                label,
                suggested,
                index=None,
                accept_new_options=True,
                key=f"{key}-{blank.name}{_CHOICE}",
                help=tip,
                placeholder="Choose or type",
            )
        else:
            st.text_input(label, key=f"{key}-{blank.name}", help=tip)


def values_of(blanks: Sequence[PromptBlank], *, key: str) -> dict[str, str]:
    """What stands in the blanks; empty ones are left out."""
    written = {blank.name: _written(f"{key}-{blank.name}") for blank in blanks}
    return {name: value for name, value in written.items() if value}


def missing(blanks: Sequence[PromptBlank], values: Mapping[str, str]) -> list[str]:
    """Names of blanks that must be filled in and are not."""
    return [blank.name for blank in blanks if blank.required and not values.get(blank.name)]


def forget_suggestions() -> None:
    """Ask the servers anew."""
    st.session_state.pop(_SUGGESTIONS, None)


def _suggested(server: str, asked: CompletionAsk) -> list[str]:
    """Values for an empty blank, asked for once; a server that fails at it suggests nothing."""
    known: dict[tuple[str, str], list[str]] = st.session_state.setdefault(_SUGGESTIONS, {})
    key = (server, asked.model_dump_json())
    if key not in known:
        try:
            known[key] = session.client().tools.complete(server, asked).values
        except UiError:
            known[key] = []
    return known[key]


def _written(key: str) -> str:
    return str(st.session_state.get(f"{key}{_CHOICE}") or st.session_state.get(key) or "").strip()


def _names(inside: str) -> list[str]:
    return [part.strip().rstrip("*").partition(":")[0] for part in inside.split(",")]
