"""Calls of the API about presets, a part of ``app.client.ApiClient``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import httpx

from app.client_wire import segment
from app.preset_schema import Preset, PresetHistory, PresetList, PresetSwitch, SavedPreset


class PresetCalls:
    """Presets and their versions; errors as of ``ApiClient``."""

    def __init__(self, http: httpx.AsyncClient, send: Callable[[httpx.Request], Awaitable[httpx.Response]]) -> None:
        self._http = http
        self._send = send

    async def list(self) -> PresetList:
        """The current version of every preset, by name."""
        response = await self._send(self._http.build_request("GET", "/api/presets"))
        return PresetList.model_validate_json(response.content)

    async def get(self, name: str, *, version: int | None = None) -> SavedPreset:
        """The current version of a preset, or another one."""
        query = {} if version is None else {"version": version}
        response = await self._send(self._http.build_request("GET", _path(name), params=query))
        return SavedPreset.model_validate_json(response.content)

    async def versions(self, name: str) -> PresetHistory:
        """All versions of a preset, newest first."""
        response = await self._send(self._http.build_request("GET", f"{_path(name)}/versions"))
        return PresetHistory.model_validate_json(response.content)

    async def save(self, name: str, preset: Preset) -> SavedPreset:
        """Save a new version, which becomes the current one."""
        body = preset.model_dump(mode="json")
        response = await self._send(self._http.build_request("PUT", _path(name), json=body))
        return SavedPreset.model_validate_json(response.content)

    async def make_current(self, name: str, version: int) -> SavedPreset:
        """Take a version for the questions to come."""
        body = PresetSwitch(version=version).model_dump(mode="json")
        response = await self._send(self._http.build_request("PUT", f"{_path(name)}/current", json=body))
        return SavedPreset.model_validate_json(response.content)

    async def delete(self, name: str) -> None:
        """Delete a preset with all its versions."""
        await self._send(self._http.build_request("DELETE", _path(name)))


def _path(name: str) -> str:
    return f"/api/presets/{segment(name)}"
