"""``groundwork presets``: saved ways to be answered, and their versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current

if TYPE_CHECKING:
    from app.preset_schema import PresetFile, SavedPreset

commands = typer.Typer(help="List, show, save, export and delete presets, and their versions.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the preset.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]
Version = Annotated[int | None, typer.Option(min=1, help="Another version than the current one.")]


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List presets, by name.

    Example: groundwork presets list
    """
    listing = current(context).call(lambda client: client.presets.list())
    if as_json:
        output.write_json(listing)
        return
    from rich.table import Table

    table = Table("name", "version", "saved", "by", "description", box=None)
    for entry in listing.presets:
        table.add_row(entry.name, str(entry.version), entry.saved_at[:10], entry.saved_by, entry.preset.description)
    output.results().print(table)


@commands.command()
def show(context: typer.Context, name: Name, version: Version = None, as_json: AsJson = False) -> None:
    """Show what a preset says.

    Example: groundwork presets show on-call --version 2
    """
    saved = current(context).call(lambda client: client.presets.get(name, version=version))
    if as_json:
        output.write_json(saved)
        return
    output.write_text(f"{_line(saved)}\n")
    values = saved.preset.model_dump(mode="json", exclude_defaults=True, exclude_none=True)
    for field, value in values.items():
        output.write_text(f"\n{field}:\n{_shown(value)}\n")


@commands.command()
def history(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """List all versions of a preset, newest first.

    Example: groundwork presets history on-call
    """
    found = current(context).call(lambda client: client.presets.versions(name))
    if as_json:
        output.write_json(found)
        return
    for entry in found.versions:
        output.write_text(f"{_line(entry)}\n")


@commands.command()
def save(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON file as `presets export` writes it.")],
    name: Annotated[str, typer.Option(help="Save it under this name instead of that in the file.")] = "",
    as_json: AsJson = False,
) -> None:
    """Save a preset from a file; a change is a new version, and that becomes the current one.

    Example: groundwork presets save on-call.json
    """
    read = _read(file)
    saved = current(context).call(lambda client: client.presets.save(name or read.name, read.preset))
    _tell(saved, as_json=as_json)


@commands.command()
def use(
    context: typer.Context,
    name: Name,
    version: Annotated[int, typer.Argument(min=1, metavar="VERSION", help="From presets history.")],
    as_json: AsJson = False,
) -> None:
    """Make a version of a preset the current one again.

    Example: groundwork presets use on-call 1
    """
    _tell(current(context).call(lambda client: client.presets.make_current(name, version)), as_json=as_json)


@commands.command()
def export(
    context: typer.Context,
    name: Name,
    file: Annotated[Path | None, typer.Option("--output", "-o", metavar="FILE", help="Instead of stdout.")] = None,
    version: Version = None,
) -> None:
    """Write a preset as a JSON file that `presets save` reads.

    Example: groundwork presets export on-call -o on-call.json
    """
    from app.preset_schema import PresetFile

    saved = current(context).call(lambda client: client.presets.get(name, version=version))
    written = PresetFile(name=saved.name, preset=saved.preset)
    if file is None:
        output.write_json(written)
    else:
        file.write_text(written.model_dump_json(indent=2) + "\n", encoding="utf-8")


@commands.command()
def delete(context: typer.Context, name: Name) -> None:
    """Delete a preset with all its versions.

    Example: groundwork presets delete on-call
    """
    current(context).call(lambda client: client.presets.delete(name))
    output.write_text(f"Deleted: {name}\n")


def parse_preset(named: str) -> dict[str, object]:
    """Fields of a question for ``NAME`` or ``NAME@VERSION``; none for an empty text.

    Raises:
        typer.BadParameter: The version is no number from 1.
    """
    if not named:
        return {}
    name, separator, version = named.partition("@")
    if not separator:
        return {"preset": name}
    if not name or not version.isascii() or not version.isdigit() or int(version) < 1:
        raise typer.BadParameter(f"{named!r} is not NAME or NAME@VERSION.", param_hint="--preset")
    return {"preset": name, "preset_version": int(version)}


def _read(path: Path) -> PresetFile:
    from pydantic import ValidationError

    from app.preset_schema import PresetFile

    try:
        return PresetFile.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise typer.BadParameter(f"{str(path)!r} cannot be read: {reason}.", param_hint="FILE") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        detail = f"{place}: {first['msg']}" if place else first["msg"]
        raise typer.BadParameter(f"{str(path)!r} is no preset: {detail}.", param_hint="FILE") from error


def _tell(saved: SavedPreset, *, as_json: bool) -> None:
    if as_json:
        output.write_json(saved)
    else:
        output.write_text(f"{_line(saved)}\n")


def _line(saved: SavedPreset) -> str:
    mark = " (current)" if saved.current else ""
    return (
        f"{saved.name} version {saved.version}{mark}, saved {saved.saved_at[:16].replace('T', ' ')} by {saved.saved_by}"
    )


def _shown(value: object) -> str:
    import json

    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
