"""``groundwork reindex``: another embedding model for all documents, and the way back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.cli import output
from app.cli.invocation import current
from app.cli.progress import step_progress


def reindex(
    context: typer.Context,
    embedding_model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Model of the model store, or the folder of one.")
    ] = None,
    rollback: Annotated[bool, typer.Option("--rollback", help="Go back to the model before.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Embed all documents by another model, beside the vectors that are there, and switch when all are in.

    No file is needed: the ledger has the texts. A call that was interrupted goes on where it was. Stop the API first;
    it searches with the new model when it starts again. The vectors before are kept for --rollback.

    Example: groundwork reindex --embedding-model ./models/bge-small
    """
    from app.reindexing import reindex as build
    from app.reindexing import roll_back

    if (embedding_model is None) is not rollback:
        raise typer.BadParameter("give either --embedding-model NAME or --rollback.")
    settings = current(context).settings()
    with step_progress("Embedding") as show:

        def on_progress(done: int, total: int, chunks: int) -> None:
            show(f"{chunks} chunks", done, total)

        if embedding_model is None:
            report = asyncio.run(roll_back(settings, on_progress=on_progress))
        else:
            folder = Path(embedding_model).expanduser()
            name = str(folder.absolute()) if folder.is_dir() else embedding_model
            report = asyncio.run(build(settings, name, on_progress=on_progress))
    if as_json:
        output.write_json(report)
    else:
        output.write_text(
            f"{report.documents} documents with {report.chunks} chunks are searched with {report.embedding_model}; "
            f"{report.embedded} chunks were embedded.\n"
        )
