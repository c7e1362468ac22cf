"""Presets: saved ways to be answered, each version of which stays readable."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from app.actor import ActorDep
from app.openapi import problems
from app.preset_schema import Preset, PresetHistory, PresetList, PresetSwitch, SavedPreset
from app.routes.platform import PlatformDep

router = APIRouter(prefix="/api/presets", tags=["presets"])


@router.get("", operation_id="list_presets")
async def list_presets(platform: PlatformDep) -> PresetList:
    """The current version of every preset, by name."""
    return PresetList(presets=await platform.presets.store.list())


@router.get("/{name}", operation_id="get_preset", responses=problems(404, 422))
async def get_preset(
    name: str,
    platform: PlatformDep,
    version: Annotated[int | None, Query(ge=1, description="Another version than the current one.")] = None,
) -> SavedPreset:
    """A preset as it stands, or an earlier version of it."""
    return await platform.presets.store.get(name, version=version)


@router.get("/{name}/versions", operation_id="list_preset_versions", responses=problems(404))
async def list_preset_versions(name: str, platform: PlatformDep) -> PresetHistory:
    """All versions of a preset, newest first."""
    return PresetHistory(name=name, versions=await platform.presets.store.history(name))


@router.put("/{name}", operation_id="save_preset", responses=problems(403, 404, 422))
async def save_preset(name: str, preset: Preset, platform: PlatformDep, user: ActorDep) -> SavedPreset:
    """Save a new version, which becomes the current one; one without a change is returned as it stands."""
    return await platform.presets.save(name, preset, user=user)


@router.put("/{name}/current", operation_id="switch_preset", responses=problems(403, 404, 422))
async def switch_preset(name: str, request: PresetSwitch, platform: PlatformDep, _user: ActorDep) -> SavedPreset:
    """Make a version the current one again; no version is added."""
    return await platform.presets.store.make_current(name, request.version)


@router.delete("/{name}", status_code=204, operation_id="delete_preset", responses=problems(403, 404))
async def delete_preset(name: str, platform: PlatformDep, _user: ActorDep) -> None:
    """Delete a preset with all its versions, and take it off the threads that have it. Runs keep name and version."""
    await platform.presets.store.delete(name)
