"""Presets in the database: a name, and versions of it that are never changed. Knows nothing of what they say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.errors import PresetUnknown
from app.preset_schema import Preset, SavedPreset
from app.tables import preset_versions, presets, threads
from app.threads import utc_now


@dataclass(frozen=True, slots=True)
class PresetStore:
    """Presets of one database; everybody sees all of them."""

    engine: AsyncEngine

    async def list(self) -> list[SavedPreset]:
        """The current version of every preset, by name."""
        query = _select().where(preset_versions.c.version == presets.c.current_version).order_by(presets.c.name)
        async with self.engine.connect() as connection:
            return [_saved(row) for row in (await connection.execute(query)).mappings()]

    async def get(self, name: str, *, version: int | None = None) -> SavedPreset:
        """A version of a preset, the current one when None; raises ``PresetUnknown``."""
        query = _select().where(
            presets.c.name == name,
            preset_versions.c.version == (presets.c.current_version if version is None else version),
        )
        async with self.engine.connect() as connection:
            row = (await connection.execute(query)).mappings().first()
        if row is None:
            raise await self._unknown(name, version)
        return _saved(row)

    async def history(self, name: str) -> list[SavedPreset]:
        """All versions of a preset, newest first; raises ``PresetUnknown``."""
        query = _select().where(presets.c.name == name).order_by(preset_versions.c.version.desc())
        async with self.engine.connect() as connection:
            found = [_saved(row) for row in (await connection.execute(query)).mappings()]
        if not found:
            raise await self._unknown(name, None)
        return found

    async def save(self, name: str, preset: Preset, *, user: str) -> SavedPreset:
        """Add a version and make it the current one; a preset that already says this is returned as it stands."""
        known = [entry for entry in await self.list() if entry.name == name]
        if known and known[0].preset == preset:
            return known[0]
        async with self.engine.begin() as connection:
            version = cast(int, await connection.scalar(_next_version(connection, name)))
            values = {
                "name": name,
                "version": version,
                "saved_at": utc_now(),
                "saved_by": user,
                "data": preset.model_dump_json(),
            }
            await connection.execute(preset_versions.insert().values(values))
        return await self.get(name, version=version)

    async def make_current(self, name: str, version: int) -> SavedPreset:
        """Take a version for the questions to come; raises ``PresetUnknown``."""
        await self.get(name, version=version)
        async with self.engine.begin() as connection:
            await connection.execute(presets.update().where(presets.c.name == name).values(current_version=version))
        return await self.get(name, version=version)

    async def delete(self, name: str) -> None:
        """Delete all versions of a preset, and take it off the threads that have it; raises ``PresetUnknown``."""
        async with self.engine.begin() as connection:
            deleted = await connection.execute(preset_versions.delete().where(preset_versions.c.name == name))
            await connection.execute(presets.update().where(presets.c.name == name).values(current_version=0))
            await connection.execute(threads.update().where(threads.c.preset == name).values(preset=""))
        if not deleted.rowcount:
            raise await self._unknown(name, None)

    async def _unknown(self, name: str, version: int | None) -> PresetUnknown:
        names = [entry.name for entry in await self.list()]
        if version is not None and name in names:
            return PresetUnknown(f"The preset {name!r} has no version {version}; see groundwork presets history.")
        there = f"there are: {', '.join(names)}" if names else "none has been saved"
        return PresetUnknown(f"There is no preset {name!r}; {there}.")


def _next_version(connection: AsyncConnection, name: str) -> sa.Executable:
    """The statement that counts on and says the new number; two at once get two numbers."""
    insert = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    counted = presets.c.last_version + 1
    first = insert(presets).values(name=name, current_version=1, last_version=1)
    return first.on_conflict_do_update(
        index_elements=[presets.c.name], set_={"current_version": counted, "last_version": counted}
    ).returning(presets.c.last_version)


def _select() -> sa.Select[tuple[object, ...]]:
    joined = preset_versions.join(presets, presets.c.name == preset_versions.c.name)
    return sa.select(preset_versions, presets.c.current_version).select_from(joined)


def _saved(row: sa.RowMapping) -> SavedPreset:
    return SavedPreset(
        name=row["name"],
        version=row["version"],
        current=row["version"] == row["current_version"],
        saved_at=row["saved_at"],
        saved_by=row["saved_by"],
        preset=Preset.model_validate_json(row["data"]),
    )
