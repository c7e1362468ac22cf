"""``groundwork eval compare``: two evaluations held against each other in pairs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import output
from app.cli.invocation import current

if TYPE_CHECKING:
    from app.client import ApiClient
    from app.eval_schema import EvalCase, EvalComparison, EvalDetail

_SHOWN_CHANGES = 20


def compare(
    context: typer.Context,
    first: Annotated[str, typer.Argument(metavar="FIRST", help="Report in JSON, or id of a kept evaluation.")],
    second: Annotated[str, typer.Argument(metavar="SECOND", help="What is held against it.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Compare two evaluations over the questions both have: difference, 95 % interval, p-value, what changed sides.

    Example: groundwork eval compare before.json after.json
    """
    from app.eval_compare import compare_cases

    cases = [_cases(context, name) for name in (first, second)]
    comparison = compare_cases(cases[0], cases[1], names=(first, second))
    if not comparison.questions:
        raise typer.BadParameter("the two have no question in common.")
    if as_json:
        output.write_json(comparison)
    else:
        print_comparison(comparison)


def print_comparison(comparison: EvalComparison) -> None:
    """The measures as a table, then the questions that pass in one alone."""
    first, second = comparison.names
    lines = [
        f"{comparison.questions} questions, first: {first}, second: {second}",
        f"  {'measure':<22}{'first':>9}{'second':>9}{'difference':>12}   {'95 % interval':<22}{'p':>7}  better  worse",
    ]
    for measure in comparison.measures:
        low, high = measure.interval
        lines.append(
            f"  {measure.measure:<22}{measure.values[0]:>9.3f}{measure.values[1]:>9.3f}{measure.difference:>+12.3f}   "
            f"{f'[{low:+.3f}, {high:+.3f}]':<22}{measure.p_value:>7.3f}{measure.better:>8}{measure.worse:>7}"
        )
    lines += [f"  {note}" for note in comparison.differences]
    for changed in comparison.changed[:_SHOWN_CHANGES]:
        now = "passes now" if changed.passed[1] else f"no longer passes: {changed.why_not[1]}"
        lines.append(f"  {changed.question_id}: {now}")
    if len(comparison.changed) > _SHOWN_CHANGES:
        lines.append(f"  and {len(comparison.changed) - _SHOWN_CHANGES} more questions changed sides")
    output.write_text("\n".join(lines) + "\n")


def _cases(context: typer.Context, name: str) -> list[EvalCase]:
    from pydantic import ValidationError

    from evals.answers_report import CasesReport

    path = Path(name)
    if not path.is_file():
        if path.suffix:
            raise typer.BadParameter(f"there is no report {name!r}; write one with --json.")

        async def fetch(client: ApiClient) -> EvalDetail:
            return await client.eval(name)

        return current(context).call(fetch).cases
    try:
        return CasesReport.model_validate_json(path.read_bytes()).cases
    except ValidationError as error:
        raise typer.BadParameter(f"{name!r} is no report of groundwork eval with --json.") from error
