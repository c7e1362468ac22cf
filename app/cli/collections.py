"""``groundwork collections``: list, create, describe and delete."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli import output
from app.cli.invocation import current, parse_request

commands = typer.Typer(help="List, create and delete collections.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the collection.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List collections with their sizes.

    Example: groundwork collections list
    """
    listing = current(context).call(lambda client: client.collections())
    if as_json:
        output.write_json(listing)
        return
    from rich.table import Table

    table = Table("name", "documents", "chunks", "description", box=None)
    for info in listing.collections:
        table.add_row(info.name, str(info.documents), str(info.chunks), info.description)
    output.results().print(table)


@commands.command()
def create(
    context: typer.Context,
    name: Name,
    description: Annotated[str, typer.Option(help="What it holds, for people.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create a collection, or describe one that is there already.

    Example: groundwork collections create handbook --description 'How we run the platform'
    """
    from app.ledger_schema import CollectionCreate

    request = parse_request(CollectionCreate, name=name, description=description)
    info = current(context).call(lambda client: client.create_collection(request))
    if as_json:
        output.write_json(info)
    else:
        output.write_text(f"{info.name}: {info.documents} documents, {info.chunks} chunks\n")


@commands.command()
def delete(context: typer.Context, name: Name, as_json: AsJson = False) -> None:
    """Delete a collection with all its documents; the chunks left are counted in the store afterwards.

    Example: groundwork collections delete handbook
    """
    receipt = current(context).call(lambda client: client.delete_collection(name))
    if as_json:
        output.write_json(receipt)
    else:
        output.write_text(
            f"Deleted {receipt.name} with {receipt.documents} documents; {receipt.chunks_left} chunks of it are left.\n"
        )
