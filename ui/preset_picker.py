"""The preset of a chat: picked in the panel beside the question box, kept by the API for the thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from app.preset_schema import Preset, SavedPreset
from app.schema import ThreadInfo
from ui import asked_with, session
from ui.errors import UiError
from ui.sampling_form import summary
from ui.wording import literal, plural

PRESETS_PAGE = "views/presets.py"


def preset_of(thread: ThreadInfo | None) -> str:
    """Name of the preset that questions of the thread, or of the one about to begin, are asked with."""
    return thread.preset if thread else asked_with.chosen(None).preset


def draw_preset_picker(presets: Sequence[SavedPreset], thread: ThreadInfo | None) -> None:
    """Draw the choice among presets and what the chosen one says; where there is none, how to make one."""
    current = preset_of(thread)
    names = [saved.name for saved in presets]
    if names:
        thread_id = thread.thread_id if thread else None
        key = f"preset-of-{thread_id or ''}-{current}"
        st.selectbox(
            "Preset",
            ["", *names],
            index=names.index(current) + 1 if current in names else 0,
            format_func=lambda name: name or "None",
            key=key,
            on_change=_take,
            args=(thread_id, key),
        )
    chosen = next((saved for saved in presets if saved.name == current), None)
    if chosen:
        st.caption(literal(described(chosen.preset)) or "It says nothing beside its name.")
    st.page_link(PRESETS_PAGE, label="Edit presets" if names else "Make a preset", icon=":material/tune:")


def described(preset: Preset) -> str:
    """What a preset says, on one line."""
    parts = [
        preset.description,
        f"model {preset.model}" if preset.model else "",
        summary(preset.sampling),
        f"searches {', '.join(preset.collections)}" if preset.collections else "",
        f"given to the agent {preset.agent}" if preset.agent else "",
        "answers as an object" if preset.output_schema is not None else "",
        plural(len(preset.examples), "example") if preset.examples else "",
    ]
    return " · ".join(part for part in parts if part)


def _take(thread_id: str | None, key: str) -> None:
    name: str = st.session_state[key]
    if thread_id is None:
        asked_with.keep(None, replace(asked_with.chosen(None), preset=name))
        return
    try:
        session.client().presets.set_for_thread(thread_id, name)
    except UiError as error:
        session.notify("error", str(error))
