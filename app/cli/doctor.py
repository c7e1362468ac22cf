"""``groundwork doctor``: is everything in place, and what to do where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.invocation import Invocation, current
from app.cli.models import model_files

if TYPE_CHECKING:
    from app.checks import Check, DoctorReport
    from app.client import ApiClient

_SIGNS = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}


def doctor(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what differs between ledger and store.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check Python, home, disk, models, ports, the API, and whether ledger and store agree.

    With --repair, chunks that the store has lost are made again from the ledger, and chunks of no document are taken
    out. Exit code 0 when nothing failed, 4 otherwise.

    Example: groundwork doctor --repair
    """
    from app.checks import check_machine, report

    invocation = current(context)
    settings = invocation.settings()
    checks = check_machine(settings, model_files(settings))
    if settings.home.database.exists() and all(check.state != "failed" for check in checks):
        checks += _check_api(invocation, repair=repair)
    findings = report(checks)
    if as_json:
        output.write_json(findings)
    else:
        _print(findings)
    raise typer.Exit(exits.DONE if findings.healthy else exits.UNAVAILABLE)


def _check_api(invocation: Invocation, *, repair: bool) -> list[Check]:
    from app.checks import Check, check_consistency, check_readiness, check_repair
    from app.home_lock import running_api

    runs = running_api(invocation.settings().home) is not None

    async def ask(client: ApiClient) -> list[Check]:
        # An API inside this process has just begun to load its model; its readiness says nothing.
        readiness = check_readiness(await client.readiness()) if runs else []
        mended = [check_repair(await client.repair())] if repair else []
        return [*readiness, *mended, check_consistency(await client.status())]

    try:
        return invocation.call(ask)
    except Exception as error:
        failure = exits.describe(error)
        if failure is None:
            raise
        return [Check(name="documents", state="failed", detail=failure.sentence, remedy="Do what the sentence says.")]


def _print(findings: DoctorReport) -> None:
    for check in findings.checks:
        output.write_text(f"{_SIGNS[check.state]}  {check.name}: {check.detail}\n")
        if check.remedy:
            output.write_text(f"         {check.remedy}\n")
