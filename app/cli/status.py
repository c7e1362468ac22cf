"""``groundwork status``: what is in, and whether ledger and store agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.invocation import current

if TYPE_CHECKING:
    from app.schema import StatusReport


def status(
    context: typer.Context,
    as_json: Annotated[bool, typer.Option("--json", help="Print the status as JSON.")] = False,
) -> None:
    """Count documents and chunks, and compare the ledger with the store.

    Exit code 0 when they agree, 3 when they do not.

    Example: groundwork status
    """
    report = current(context).call(lambda client: client.status())
    if as_json:
        output.write_json(report)
    else:
        _print(report)
    raise typer.Exit(exits.DONE if report.consistent else exits.PARTIAL)


def _print(report: StatusReport) -> None:
    lines = [
        f"documents   {report.documents}",
        f"chunks      {report.chunks}",
        f"points      {report.points}",
        f"embedding   {report.embedding_model}",
        f"store       {report.store}",
        *(f"collection  {info.name}: {info.documents} documents, {info.chunks} chunks" for info in report.collections),
        *(f"failed      {record.source}: {record.reason}: {record.detail}" for record in report.failed),
    ]
    if report.consistent:
        lines.append("Ledger and store agree.")
    else:
        lines.append(
            f"Ledger and store differ: {report.missing_chunks} chunks are missing from the store, "
            f"{report.orphaned_points} points are in no document; run groundwork doctor --repair."
        )
    output.write_text("\n".join(lines) + "\n")
