"""``groundwork documents``: the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current

if TYPE_CHECKING:
    from app.ledger_schema import StageList
    from app.schema import ChunkList
    from ingestion.types import DocumentRecord

commands = typer.Typer(help="List, show and delete documents.", no_args_is_help=True)

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="Id of the document, from documents list.")]


@commands.command("list")
def list_(
    context: typer.Context,
    collection: Annotated[str | None, typer.Option(help="This collection alone.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the documents as JSON.")] = False,
) -> None:
    """List documents, failed ones too.

    Example: groundwork documents list --collection handbook
    """
    listing = current(context).call(lambda client: client.documents(collection=collection))
    if as_json:
        output.write_json(listing)
        return
    from rich.table import Table

    table = Table("id", "title", "collection", "status", "chunks", "source", box=None)
    for record in listing.documents:
        state = record.status if record.reason is None else f"{record.status}: {record.reason}"
        table.add_row(record.document_id, record.title, record.collection, state, str(record.chunks), record.source)
    output.results().print(table)


@commands.command()
def show(
    context: typer.Context,
    document_id: DocumentId,
    text: Annotated[bool, typer.Option("--text", help="Print the stored text.")] = False,
    chunks: Annotated[bool, typer.Option("--chunks", help="Print the chunks with their offsets.")] = False,
    stages: Annotated[bool, typer.Option("--stages", help="Print how far the latest attempt came.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Show a document: its record, its text, its chunks, or its stages.

    Example: groundwork documents show 4f9c... --chunks --json
    """
    if text + chunks + stages > 1:
        raise typer.BadParameter("choose one of --text, --chunks and --stages.")
    invocation = current(context)
    if text:
        stored = invocation.call(lambda client: client.document_text(document_id))
        output.write_json(stored) if as_json else output.write_text(stored.text)
    elif chunks:
        listing = invocation.call(lambda client: client.document_chunks(document_id))
        output.write_json(listing) if as_json else _print_chunks(listing)
    elif stages:
        passed = invocation.call(lambda client: client.document_stages(document_id))
        output.write_json(passed) if as_json else _print_stages(passed)
    else:
        record = invocation.call(lambda client: client.document(document_id))
        output.write_json(record) if as_json else _print_record(record)


@commands.command()
def delete(
    context: typer.Context,
    document_id: DocumentId,
    as_json: Annotated[bool, typer.Option("--json", help="Print the receipt as JSON.")] = False,
) -> None:
    """Delete a document with all its chunks; the chunks left are counted in the store afterwards.

    Example: groundwork documents delete 4f9c...
    """
    receipt = current(context).call(lambda client: client.delete_document(document_id))
    if as_json:
        output.write_json(receipt)
    else:
        output.write_text(f"Deleted {receipt.source}; {receipt.chunks_left} chunks of it are left.\n")


def _print_record(record: DocumentRecord) -> None:
    for name, value in record.model_dump(exclude_none=True).items():
        if value not in ("", {}):
            output.write_text(f"{name:16}{value}\n")


def _print_stages(passed: StageList) -> None:
    for record in passed.stages:
        why = f"  {record.reason}: {record.detail}" if record.reason else ""
        output.write_text(f"{record.stage:9} {record.state:7} {record.finished_at}  attempt {record.attempt}{why}\n")


def _print_chunks(listing: ChunkList) -> None:
    for chunk in listing.chunks:
        where = output.place(chunk.page, chunk.section)
        output.write_text(
            f"--- {chunk.position} [{chunk.char_start}:{chunk.char_end}] {chunk.token_count} tokens"
            f"{f', {where}' if where else ''}\n{chunk.text}\n"
        )
