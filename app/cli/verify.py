"""``groundwork verify`` and ``groundwork receipt``: an answer as one file, and what of it still holds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.invocation import Invocation, current

if TYPE_CHECKING:
    from app.receipts.report import ReceiptState, VerifyReport
    from app.receipts.schema import Receipt

_CODES: dict[ReceiptState, int] = {"holds": exits.DONE, "changed": exits.PARTIAL, "altered": exits.ALTERED}


def receipt(
    context: typer.Context,
    run_id: Annotated[str, typer.Argument(metavar="RUN", help="Id of the run, from `ask --json` or the chat.")],
    to: Annotated[Path | None, typer.Option(help="File to write; by default one named after the run.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it for people to read instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the receipt instead of writing a file.")] = False,
) -> None:
    """Export the answer of a run as one file that can be checked.

    Example: groundwork receipt 51f2... --to incident-42.receipt.json
    """
    written = current(context).call(lambda client: client.receipt(run_id))
    if as_json:
        output.write_json(written)
    elif markdown:
        from app.receipts.render import receipt_markdown

        output.write_text(receipt_markdown(written))
    else:
        write_receipt(written, to)


def verify(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The receipt.")],
    originals: Annotated[
        list[Path] | None, typer.Option(help="Check against these files or folders alone; may be repeated.")
    ] = None,
    key: Annotated[str, typer.Option(metavar="HEX", help="Public key that must have signed it.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, not as Markdown.")] = False,
) -> None:
    """Check an exported answer, sentence by sentence: what still holds, and what has changed since.

    Against the store of this home, or with --originals against original files alone: no store, no model, no network.
    Exit code 0 when every sentence holds, 3 when some no longer do, 5 when the file was altered, 2 when it is no
    receipt.

    Example: groundwork verify incident-42.receipt.json --originals ./handbook
    """
    for path in (file, *(originals or ())):
        if not path.exists():
            raise typer.BadParameter(f"there is no {str(path)!r}.")
    report = _checked(current(context), file, originals or [], key)
    if as_json:
        output.write_json(report)
    else:
        from app.receipts.render import report_markdown

        output.write_text(report_markdown(report))
    raise typer.Exit(_CODES[report.state])


def write_receipt(written: Receipt, to: Path | None) -> None:
    """Write a receipt to a file, of the run's name where none is given, and say where."""
    from app.receipts.schema import file_name

    path = to or Path(file_name(written.run.run_id))
    path.write_text(written.model_dump_json(indent=2) + "\n", encoding="utf-8")
    output.write_error(f"Receipt written to {path}.")


def _checked(invocation: Invocation, file: Path, originals: list[Path], key: str) -> VerifyReport:
    from app.receipts import check_file, signing

    settings = invocation.settings()
    home_key = signing.public_key(settings.home.receipt_key)
    if originals:
        return check_file.check_against_files(originals, file, settings.ingestion, home_key=home_key, key=key)
    if not settings.home.root.exists():
        raise typer.BadParameter(
            f"there is no home at {str(settings.home.root)!r}; give --originals DIR to check against files."
        )
    return invocation.call(lambda client: check_file.check_against_store(client, file, home_key=home_key, key=key))
