"""``groundwork eval``: measurements from the command line. ``app.cli.main`` finds this module by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.cli import output
from app.cli.invocation import current

commands = typer.Typer(help="Measure how good retrieval and answers are.", no_args_is_help=True)


@commands.callback()
def _group() -> None:
    """Measure how good retrieval and answers are."""


@commands.command()
def retrieval(
    context: typer.Context,
    dataset: Annotated[Path, typer.Option(help="Folder with corpus.jsonl, queries.jsonl and qrels/test.tsv.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Index a BEIR data set in a store of its own and score the search over it.

    Example: groundwork eval retrieval --dataset data/scifact --json
    """
    raise NotImplementedError
