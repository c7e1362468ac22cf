"""``groundwork grants``: what agents may do without asking."""

from __future__ import annotations

from typing import Annotated

import typer

from app.cli import output
from app.cli.approval_card import print_grants
from app.cli.invocation import current

commands = typer.Typer(help="See and revoke what agents may do without asking.", no_args_is_help=True)


@commands.command("list")
def list_(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the grants as JSON.")] = False,
) -> None:
    """List standing grants.

    Example: groundwork grants list
    """
    listing = current(context).call(lambda client: client.grants())
    if as_json:
        output.write_json(listing)
    elif listing.grants:
        print_grants(listing.grants)
    else:
        output.write_text("No grants stand; every call is decided by the policy or by a person.\n")


@commands.command()
def revoke(
    context: typer.Context,
    grant_id: Annotated[str, typer.Argument(metavar="ID", help="Id of the grant, from grants list.")],
) -> None:
    """Take a grant back; calls are asked for again from now on.

    Example: groundwork grants revoke 51f2...
    """
    current(context).call(lambda client: client.revoke_grant(grant_id))
    output.write_text("Revoked.\n")
