"""Calls of the API about presets."""

from __future__ import annotations

from app.preset_schema import Preset, PresetHistory, PresetList, PresetSwitch, SavedPreset
from app.schema import ThreadChange, ThreadInfo
from ui.api_http import HttpApi, segment


class PresetCalls:
    """Presets and their versions. Errors as of ``HttpApi``."""

    def __init__(self, http: HttpApi) -> None:
        self._http = http

    def list(self) -> list[SavedPreset]:
        """The current version of every preset, by name."""
        return self._http.get("/api/presets", PresetList).presets

    def get(self, name: str, *, version: int | None = None) -> SavedPreset:
        """The current version of a preset, or another one."""
        query = None if version is None else {"version": version}
        return self._http.get(_path(name), SavedPreset, query=query)

    def versions(self, name: str) -> list[SavedPreset]:
        """All versions of a preset, newest first."""
        return self._http.get(f"{_path(name)}/versions", PresetHistory).versions

    def save(self, name: str, preset: Preset) -> SavedPreset:
        """Save a new version, which becomes the current one; one without a change is returned as it stands."""
        return self._http.send("PUT", _path(name), SavedPreset, body=preset)

    def make_current(self, name: str, version: int) -> SavedPreset:
        """Take a version for the questions to come."""
        return self._http.send("PUT", f"{_path(name)}/current", SavedPreset, body=PresetSwitch(version=version))

    def delete(self, name: str) -> None:
        """Delete a preset with all its versions."""
        self._http.delete(_path(name))

    def set_for_thread(self, thread_id: str, name: str) -> ThreadInfo:
        """Take this preset for questions of a thread that name none; an empty name takes it off."""
        path = f"/api/threads/{segment(thread_id)}"
        return self._http.send_changes("PATCH", path, ThreadInfo, body=ThreadChange(preset=name))


def _path(name: str) -> str:
    return f"/api/presets/{segment(name)}"
