"""``groundwork models``: the model store of this home."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current
from app.cli.progress import pull_progress

if TYPE_CHECKING:
    from pydantic import BaseModel

    from app.models.store import ModelStore
    from app.schema import ModelFile
    from app.settings import Settings

commands = typer.Typer(help="List, fetch and check the models of this home.", no_args_is_help=True)

Names = Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Models; default those in use.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List the models that can be pulled and what is here.

    Example: groundwork models list
    """
    files = model_files(current(context).settings())
    if as_json:
        output.write_json(_listing(files))
        return
    from rich.table import Table

    table = Table("name", "kind", "state", "in use", "size", "licence", box=None)
    for file in files:
        used = "yes" if file.used else ""
        table.add_row(file.name, file.kind, file.state, used, output.size(file.size_bytes), file.licence)
    output.results().print(table)


@commands.command()
def pull(context: typer.Context, names: Names = None, as_json: AsJson = False) -> None:
    """Fetch models; an interrupted pull goes on where it stopped.

    Exit code 4 when no source delivers, 2 when what came is not what is pinned.

    Example: groundwork models pull
    """
    settings = current(context).settings()
    for name in names or used_models(settings):
        pull_model(settings, name)
    if as_json:
        output.write_json(_listing(model_files(settings)))


@commands.command()
def verify(context: typer.Context, names: Names = None) -> None:
    """Hash the files of models again and compare with what is pinned.

    Exit code 2 when a file differs, 4 when a model is not here.

    Example: groundwork models verify
    """
    settings = current(context).settings()
    for name in names or used_models(settings):
        with pull_progress(name) as show:
            _store(settings).verify(name, show)
        output.write_text(f"{name}: every file is what is pinned\n")


def used_models(settings: Settings) -> list[str]:
    """Names of the models that these settings need on this machine."""
    chat = [] if settings.model.base_url else [settings.model.name]
    return [settings.embedding.model, *chat]


def model_files(settings: Settings) -> list[ModelFile]:
    """Every model that the store knows, with its state."""
    return _store(settings).files(used=used_models(settings))


def pull_model(settings: Settings, name: str) -> None:
    """Make a model usable, with progress; says nothing when it is there already."""
    with pull_progress(name) as show:
        _store(settings).pull(name, show)


def _store(settings: Settings) -> ModelStore:
    from app.models.store import ModelStore

    return ModelStore(settings.home, settings.models)


def _listing(files: list[ModelFile]) -> BaseModel:
    from app.schema import ModelList

    return ModelList(models=files)
