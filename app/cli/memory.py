"""``groundwork memory``: what is remembered about you."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current, parse_request

if TYPE_CHECKING:
    from tools.facts import Fact

commands = typer.Typer(help="List, add, edit and delete what is remembered about you.", no_args_is_help=True)

FactId = Annotated[str, typer.Argument(metavar="ID", help="Id of the fact, from memory list.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print as JSON.")]


@commands.command("list")
def list_(context: typer.Context, as_json: AsJson = False) -> None:
    """List remembered facts: pinned ones first, then the latest.

    Example: groundwork memory list --json
    """
    listing = current(context).call(lambda client: client.facts())
    if as_json:
        output.write_json(listing)
        return
    from rich.table import Table

    table = Table("id", "pinned", "since", "by", "fact", box=None)
    for fact in listing.facts:
        by = "a tool call" if fact.call_id else "you"
        table.add_row(fact.fact_id, "yes" if fact.pinned else "", f"{fact.created_at:%Y-%m-%d}", by, fact.text)
    output.results().print(table)


@commands.command()
def add(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The fact, one short sentence.")],
    pin: Annotated[bool, typer.Option("--pin", help="Put it before all others.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remember a fact in every later chat.

    Example: groundwork memory add "I am on call for orders-api."
    """
    from app.memory_schema import FactCreate

    request = parse_request(FactCreate, text=text, pinned=pin)
    _show(current(context).call(lambda client: client.add_fact(request)), as_json=as_json)


@commands.command()
def edit(
    context: typer.Context,
    fact_id: FactId,
    text: Annotated[str | None, typer.Option(help="New words.")] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Put it before all others, or no longer.")] = None,
    as_json: AsJson = False,
) -> None:
    """Change a remembered fact.

    Example: groundwork memory edit 4f9c21aa03 --text "I am on call next week."
    """
    from app.memory_schema import FactEdit

    if text is None and pin is None:
        raise typer.BadParameter("say what changes: --text, --pin or --unpin.")
    request = parse_request(FactEdit, text=text, pinned=pin)
    _show(current(context).call(lambda client: client.edit_fact(fact_id, request)), as_json=as_json)


@commands.command()
def delete(context: typer.Context, fact_id: FactId, as_json: AsJson = False) -> None:
    """Forget a fact.

    Example: groundwork memory delete 4f9c21aa03
    """
    fact = current(context).call(lambda client: client.delete_fact(fact_id))
    if as_json:
        output.write_json(fact)
    else:
        output.write_text(f"Forgotten: {fact.text}\n")


def _show(fact: Fact, *, as_json: bool) -> None:
    if as_json:
        output.write_json(fact)
    else:
        output.write_text(f"{fact.fact_id}  {fact.text}{' (pinned)' if fact.pinned else ''}\n")
