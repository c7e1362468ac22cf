"""Versions of a preset, and presets as files."""

from __future__ import annotations

from datetime import datetime

import streamlit as st
from pydantic import ValidationError

from app.preset_schema import PresetFile, SavedPreset
from ui import session
from ui.call_wording import moment
from ui.errors import UiError
from ui.preset_picker import described
from ui.wording import literal


def draw_versions(versions: list[SavedPreset]) -> None:
    """Draw all versions, newest first, each to be made the current one."""
    for saved in versions:
        with st.container(border=True):
            with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
                when = moment(datetime.fromisoformat(saved.saved_at))
                st.markdown(f"**Version {saved.version}** :gray[{literal(f'{when}, {saved.saved_by}')}]")
                if saved.current:
                    st.badge("Current", icon=":material/check:", color="green")
                else:
                    st.button(
                        "Make current", key=f"current-{saved.name}-{saved.version}", icon=":material/history:",
                        type="tertiary", on_click=_make_current, args=(saved,),
                    )  # fmt: skip
            if line := described(saved.preset):
                st.caption(literal(line))
            if saved.preset.system_prompt:
                st.text(saved.preset.system_prompt)


def draw_export(saved: SavedPreset) -> None:
    """Draw the button that saves the preset as a file."""
    st.download_button(
        "Export",
        data=PresetFile(name=saved.name, preset=saved.preset).model_dump_json(indent=2, exclude_none=True) + "\n",
        file_name=f"{saved.name}.preset.json",
        mime="application/json",
        icon=":material/download:",
        key=f"export-{saved.name}",
        on_click="ignore",
        help="One file without the history; groundwork presets save reads it too.",
    )


def draw_import() -> None:
    """Draw the place that takes a preset's file; what it holds becomes a new version of the name in it."""
    with st.popover("Import", icon=":material/upload:", key="import-preset"):
        file = st.file_uploader("File of a preset", type="json", key="preset-file")
        if file is not None and st.button("Save it", key="save-import", type="primary"):
            _import(file.getvalue())


def _import(data: bytes) -> None:
    try:
        read = PresetFile.model_validate_json(data)
    except ValidationError as error:
        first = error.errors()[0]
        st.error(literal(f"This is no file of a preset: {'.'.join(map(str, first['loc']))} {first['msg']}."))
        return
    try:
        saved = session.client().presets.save(read.name, read.preset)
    except UiError as error:
        st.error(literal(str(error)), icon=":material/error:")
        return
    session.open_preset(saved.name)
    session.notify("success", f"Imported {saved.name}, version {saved.version}.")
    st.rerun()


def _make_current(saved: SavedPreset) -> None:
    try:
        session.client().presets.make_current(saved.name, saved.version)
    except UiError as error:
        session.notify("error", str(error))
    else:
        session.notify("success", f"Version {saved.version} of {saved.name} is the current one.")
