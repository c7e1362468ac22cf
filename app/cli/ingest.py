"""``groundwork ingest``: files, folders, globs, web pages and buckets into the store."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.invocation import current, parse_request
from app.cli.progress import OnIngest, ingest_progress

if TYPE_CHECKING:
    from app.client import ApiClient
    from app.schema import IngestRequest
    from ingestion.types import IngestReport

_POLL_SECONDS = 0.2


def ingest(
    context: typer.Context,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders, globs, URLs or s3://bucket/prefix.")
    ],
    collection: Annotated[str, typer.Option(help="Collection the documents belong to.")] = "default",
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents under PATH whose file is gone.")] = False,
    exclude: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Leave out what matches, as in .gitignore; may be repeated."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would happen and change nothing.")] = False,
    engine: Annotated[str, typer.Option(metavar="local|ray", help="Where files are parsed and embedded.")] = "local",
    ocr: Annotated[
        str | None, typer.Option(metavar="auto|always|never", help="When text is read from pictures.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Go on ingesting what changes, until Ctrl-C.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Read files, cut them into chunks and index them.

    A URL is a page, or a sitemap whose pages are all taken. Unchanged files cost nothing. Exit code 3 when files failed
    and the rest is in, 2 when no PATH exists, 4 when nothing could be written.

    Example: groundwork ingest handbook/ 'notes/*.md' https://docs.example/sitemap.xml --exclude 'drafts/' --prune
    """
    from app.schema import IngestRequest

    request = parse_request(
        IngestRequest,
        paths=tuple(_absolute(path) for path in paths),
        collection=collection,
        prune=prune,
        dry_run=dry_run,
        exclude=tuple(exclude or ()),
        engine=engine,
        ocr=ocr,
    )
    if watch:
        _watch(context, request, as_json=as_json)
        return
    with ingest_progress() as show:
        report = current(context).call(lambda client: run_ingest(client, request, show))
    if as_json:
        output.write_json(report)
    else:
        _print(report, dry_run=dry_run)
    raise typer.Exit(exit_code(report))


async def run_ingest(client: ApiClient, request: IngestRequest, on_progress: OnIngest) -> IngestReport:
    """Report of an ingest that the API carries out.

    Raises:
        JobFailed: The ingest as a whole failed; the message says why.
    """
    from app.errors import JobFailed

    job = await client.ingest(request)
    while job.state in ("queued", "running"):
        on_progress(job.progress)
        await asyncio.sleep(_POLL_SECONDS)
        job = await client.job(job.job_id)
    on_progress(job.progress)
    if job.report is None:
        raise JobFailed(job.error or "The ingest failed and gave no reason; see the log of the API.")
    return job.report


async def watch_ingest(client: ApiClient, request: IngestRequest, on_report: Callable[[IngestReport], None]) -> None:
    """Ingest, then ingest what changes under the paths, for ever; each report is told as it comes."""
    from app.cli.watching import changes

    async with aclosing(changes(request.paths)) as batches:
        # Watched from before the first look, so that what changes meanwhile is not missed.
        upcoming = asyncio.ensure_future(anext(batches))
        try:
            on_report(await run_ingest(client, request, lambda _: None))
            while True:
                changed = await upcoming
                upcoming = asyncio.ensure_future(anext(batches))
                paths = changed if request.prune else tuple(path for path in changed if Path(path).exists())
                if paths:
                    on_report(await run_ingest(client, request.model_copy(update={"paths": paths}), lambda _: None))
        finally:
            upcoming.cancel()
            await asyncio.wait([upcoming])


def exit_code(report: IngestReport) -> int:
    """0 all in, 3 some files failed, 2 nothing that was named exists, 4 nothing could be written."""
    reasons = {file.reason for file in report.files if file.status == "failed"}
    if not reasons:
        return exits.DONE
    if any(file.status != "failed" for file in report.files):
        return exits.PARTIAL
    if reasons == {"not_found"}:
        return exits.USAGE
    return exits.UNAVAILABLE if reasons <= {"store_failed", "embedding_failed"} else exits.PARTIAL


def _watch(context: typer.Context, request: IngestRequest, *, as_json: bool) -> None:
    """Ends with Ctrl-C, which is how it is meant to end."""

    def show(report: IngestReport) -> None:
        if as_json:
            output.write_text(report.model_dump_json() + "\n")
        elif any(file.status != "unchanged" and file.reason != "not_found" for file in report.files):
            _print(report, dry_run=request.dry_run)

    if not as_json:
        output.write_error("Watching; Ctrl-C ends it.")
    with suppress(KeyboardInterrupt):
        current(context).call(lambda client: watch_ingest(client, request, show))


def _absolute(path: str) -> str:
    """The path as the API, whose working folder is another, must see it. URLs and globs keep their form."""
    return path if "://" in path else str(Path(path).expanduser().absolute())


def _print(report: IngestReport, *, dry_run: bool) -> None:
    for file in report.files:
        if file.status == "failed":
            output.write_error(f"{file.source}: {file.reason}: {file.detail}")
    counts = ", ".join(f"{count} {status}" for status, count in report.totals.items() if count)
    chunks = sum(file.chunks for file in report.files if file.status in ("indexed", "updated"))
    prefix = "Would be: " if dry_run else ""
    output.write_text(f"{prefix}{counts or 'no files'}; {chunks} new chunks; {report.seconds:.1f} s\n")
