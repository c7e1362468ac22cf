"""The keyboard's place: on the safe choice, where a page offers a dangerous one."""

from __future__ import annotations

from functools import cache

from streamlit.components import v2
from streamlit.components.v2.types import ComponentRenderer

from ui.markup import ASSETS


def focus_once(key: str) -> None:
    """Move the keyboard to the button with this key when it first appears."""
    _component()(key=f"focus-{key}", data={"key": key})


@cache
def _component() -> ComponentRenderer:
    script = (ASSETS / "focus.js").read_text(encoding="utf-8")
    return v2.component("groundwork_focus", js=script)
