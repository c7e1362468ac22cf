"""Profiles: named values of ``ServingSettings`` for a kind of machine, as TOML files.

A profile may hold a table ``notes`` (``machine``, ``run``, ``not_run``), which is for people.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from app.serving.errors import ProfileInvalid
from app.serving.settings import ServingSettings

PROFILE_FOLDER = Path(__file__).parents[2] / "deploy" / "profiles"


class ProfileNotes(BaseModel):
    """What a profile says to people."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    machine: str
    """The machine it is for."""
    run: str
    """What of it was run by this project, and where."""
    not_run: str
    """What of it was not run by this project."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile as it stands in its file."""

    path: Path
    notes: ProfileNotes
    values: Mapping[str, Any]
    """Only what the file sets; all of it valid in ``ServingSettings``."""

    @property
    def name(self) -> str:
        """What people call it."""
        return self.path.stem

    @property
    def settings(self) -> ServingSettings:
        """Its values over the defaults."""
        return ServingSettings.model_validate(self.values)


def profile_names() -> list[str]:
    """Names of the profiles that come with Groundwork, sorted."""
    return sorted(path.stem for path in PROFILE_FOLDER.glob("*.toml"))


def read_profile(name: str) -> Profile:
    """The profile of that name, or at that path.

    Raises:
        ProfileInvalid: There is none, it is no TOML, or a key or value does not fit.
    """
    path = Path(name) if name.endswith(".toml") else PROFILE_FOLDER / f"{name}.toml"
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        known = ", ".join(profile_names()) or "none"
        raise ProfileInvalid(
            f"There is no profile {name!r}; take one of {known}, or the path of a .toml file."
        ) from error
    except OSError as error:
        raise ProfileInvalid(f"Cannot read the profile {str(path)!r}: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ProfileInvalid(f"The profile {str(path)!r} is not valid TOML: {error}.") from error
    try:
        notes = ProfileNotes.model_validate(values.pop("notes", {"machine": "", "run": "", "not_run": ""}))
        ServingSettings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ProfileInvalid(f"{key!r} in the profile {str(path)!r} does not fit: {first['msg']}.") from error
    return Profile(path, notes, values)


def resolve(section: ServingSettings, options: Mapping[str, object]) -> ServingSettings:
    """Settings of one start: the profile, over it what the section sets, over that the options of the command.

    Args:
        section: The section ``serving`` of the settings; what nobody set in it does not cover the profile.
        options: Values of the command line by field name; None leaves a field as it is.

    Raises:
        ProfileInvalid: The profile is missing or does not fit, or the values do not fit together.
    """
    given = {name: value for name, value in options.items() if value is not None}
    name = str(given.get("profile") or section.profile)
    base = dict(read_profile(name).values) if name else {}
    chosen = {field: getattr(section, field) for field in section.model_fields_set}
    try:
        return ServingSettings.model_validate({**base, **chosen, **given})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ProfileInvalid(f"The serving setting {key!r} does not fit: {first['msg']}.") from error
