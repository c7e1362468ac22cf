"""Presets: saved ways to be answered, edited field by field, with their versions."""

from __future__ import annotations

import streamlit as st

from app.preset_schema import Preset, SavedPreset
from ui import session
from ui.errors import UiError
from ui.preset_form import Choices, FormInvalid, draw_form, filled_preset, forget_draft
from ui.preset_versions import draw_export, draw_import, draw_versions
from ui.problem import draw_notice
from ui.wording import literal

NEW = "New preset"


def draw() -> None:
    """Draw the presets page."""
    client = session.client()
    st.subheader("Presets", anchor=False)
    st.caption("A name for a way to be answered: words for the model, sampling, what is searched, who acts.")
    draw_notice()
    presets = client.presets.list()
    name = _chosen([saved.name for saved in presets])
    saved = next((one for one in presets if one.name == name), None)
    choices = Choices(
        models=[model.name for model in client.models.list()],
        collections=[collection.name for collection in client.collections()],
        agents=[agent.name for agent in client.agents()],
    )
    if saved is None:
        _draw_new(choices)
        return
    versions = client.presets.versions(saved.name)
    editor, history = st.tabs(["Edit", f"Versions ({len(versions)})"])
    with editor:
        _draw_editor(saved, choices)
    with history:
        draw_versions(versions)


def _chosen(names: list[str]) -> str | None:
    """The preset that is open; none for a new one."""
    current = session.preset_name()
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        key = f"open-preset-{current}-{len(names)}"
        st.selectbox(
            "Preset",
            [NEW, *names],
            index=names.index(current) + 1 if current in names else 0,
            key=key,
            on_change=_open,
            args=(key,),
        )
        draw_import()
    return current


def _open(key: str) -> None:
    chosen = st.session_state[key]
    forget_draft()
    session.open_preset(None if chosen == NEW else chosen)


def _draw_new(choices: Choices) -> None:
    name = st.text_input(
        "Name", key="preset-name", max_chars=64, placeholder="on-call", help="Small letters, digits, '-', '_' and '.'."
    )
    draw_form(Preset(), choices, key="preset-new")
    if st.button("Save", key="save-preset", type="primary", icon=":material/save:", disabled=not name.strip()):
        _save(name.strip(), Preset(), "preset-new")


def _draw_editor(saved: SavedPreset, choices: Choices) -> None:
    key = f"preset-{saved.name}-{saved.version}"
    draw_form(saved.preset, choices, key=key)
    with st.container(horizontal=True, gap="small"):
        save = st.button("Save", key="save-preset", type="primary", icon=":material/save:")
        draw_export(saved)
        if st.button("Delete", key="delete-preset", icon=":material/delete:"):
            _confirm(saved)
    if save:
        _save(saved.name, saved.preset, key)


def _save(name: str, before: Preset, key: str) -> None:
    try:
        saved = session.client().presets.save(name, filled_preset(before, key=key))
    except (FormInvalid, UiError) as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    forget_draft()
    session.open_preset(saved.name)
    session.notify("success", f"Saved {saved.name}, version {saved.version}.")
    st.rerun()


@st.dialog("Delete this preset?", icon=":material/delete:")
def _confirm(saved: SavedPreset) -> None:
    st.markdown(f"**{literal(saved.name)}**")
    st.caption("All its versions are deleted; answers that were given with it stay.")
    with st.container(horizontal=True):
        if st.button("Keep", key="keep-preset", type="primary"):
            st.rerun()
        if st.button("Delete", key="confirm-delete-preset", on_click=_delete, args=(saved.name,)):
            st.rerun()


def _delete(name: str) -> None:
    try:
        session.client().presets.delete(name)
    except UiError as error:
        session.notify("error", str(error))
        return
    session.open_preset(None)
    session.notify("success", f"Deleted {name}.")


draw()
