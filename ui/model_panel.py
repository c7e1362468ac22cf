"""Beside the question box: which model answers, what it can, and how tokens are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import streamlit as st

from app.model_schema import ChatModelInfo
from app.preset_schema import Preset, SavedPreset
from app.schema import ThreadInfo
from ui import asked_with
from ui.preset_picker import draw_preset_picker, preset_of
from ui.sampling_form import draw_sampling, filled_in
from ui.wording import literal, plural, shorten

NAME_LENGTH = 24
_TOOLS: Final = {"native": "calls tools itself", "constrained": "calls tools through a grammar"}
_SERVERS: Final = {"vllm": "vLLM", "llama.cpp": "llama.cpp", "other": ""}


def draw_model_panel(
    models: Sequence[ChatModelInfo], presets: Sequence[SavedPreset], thread: ThreadInfo | None
) -> None:
    """Draw the button that shows what a question is asked with, and the panel behind it."""
    thread_id = thread.thread_id if thread else None
    before = asked_with.chosen(thread_id)
    key = f"asked-with-{thread_id or ''}-{before.generation}"
    picked = st.session_state.get(f"{key}-model", before.model)
    model = next((model.name for model in models if model.name == picked), "")
    choice = replace(before, model=model, sampling=filled_in(before.sampling, key=key))
    asked_with.keep(thread_id, choice)
    preset = next((saved.preset for saved in presets if saved.name == preset_of(thread)), Preset())
    named = _named(models, choice.model or preset.model)
    changed = len(choice.sampling.chosen())
    parts = [shorten(named.name, NAME_LENGTH), preset_of(thread), f"{plural(changed, 'value')} set" if changed else ""]
    label = literal(" · ".join(part for part in parts if part))
    with st.popover(label, icon=":material/tune:", type="tertiary", key="model-panel"):
        draw_preset_picker(presets, thread)
        _draw_picker(models, before.model, key)
        st.caption(f"**{literal(named.name)}** · {literal(abilities(named))}")
        draw_sampling(before.sampling, key=key)
        with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
            st.button(
                "Reset",
                key="reset-asked-with",
                icon=":material/restart_alt:",
                disabled=not changed and not choice.model,
                on_click=asked_with.reset,
                args=(thread_id,),
            )
            st.caption("An empty field leaves the value to the preset, the settings or the model's server.")


def abilities(model: ChatModelInfo) -> str:
    """What a model can, on one line, as far as anybody has said."""
    parts = [
        _SERVERS[model.server],
        f"{model.context_tokens:,} tokens of context" if model.context_tokens else "",
        _TOOLS[model.tools] if model.tools else "",
        "keeps to a JSON Schema" if model.structured else "",
        "reads pictures" if model.images else "",
        f"stands aside for {', '.join(model.fallback)} when it fails" if model.fallback else "",
        "failed several times and is left alone for a moment" if model.state == "held_back" else "",
    ]
    return " · ".join(part for part in parts if part)


def _draw_picker(models: Sequence[ChatModelInfo], chosen: str, key: str) -> None:
    """The choice among several models; one alone is none."""
    if len(models) < 2:
        return
    names = [model.name for model in models]
    st.selectbox(
        "Model",
        ["", *names],
        index=names.index(chosen) + 1 if chosen in names else 0,
        # The same words on every page: Streamlit knows an option by them.
        format_func=lambda name: name or "As set",
        key=f"{key}-model",
    )


def _named(models: Sequence[ChatModelInfo], name: str) -> ChatModelInfo:
    """The model of that name, or the default one."""
    return next((model for model in models if model.name == name), None) or next(
        model for model in models if model.default
    )
