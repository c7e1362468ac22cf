"""``groundwork eval gate``: the sample handbook measured and held against the baselines of the repository."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.invocation import current
from app.cli.progress import step_progress
from evals.cli_questions import SetOption, follow, question_request

if TYPE_CHECKING:
    from app.eval_schema import EvalKind, EvalRequest
    from app.settings import Settings
    from evals.answers_report import QuestionsReport
    from evals.gate import Baseline, Breach

BASELINES = Path(__file__).with_name("baselines")


def gate(
    context: typer.Context,
    questions: Annotated[Path, typer.Option(help="Questions, one JSON object a line.")] = Path(
        "samples/questions.jsonl"
    ),
    documents: Annotated[Path, typer.Option(help="Folder they are about.")] = Path("samples/handbook"),
    baseline: Annotated[Path | None, typer.Option(help="Baseline instead of the repository's own.")] = None,
    answers: Annotated[bool, typer.Option("--answers", help="Measure answers, with the chat model.")] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    settings: SetOption = None,
    update: Annotated[bool, typer.Option("--update", help="Write the baseline instead of holding to it.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write JSON, Markdown and HTML into this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures and the breaches as JSON.")] = False,
) -> None:
    """Measure the sample handbook in a home of its own; exit code 1 when a figure falls beyond its tolerance.

    Search is measured, answers with --answers. Models are those of your home, nothing else of it is used.

    Example: groundwork eval gate
    """
    from evals.errors import EvaluationError
    from evals.gate import GateReport, baseline_of, breaches, read_baseline, write_baseline
    from evals.reports.write import write_report

    kind: EvalKind = "answers" if answers else "retrieval"
    path = baseline or BASELINES / f"{documents.resolve().parent.name}-{kind}.json"
    request = question_request(
        kind,
        questions,
        collection=None,
        limit=limit,
        only=None,
        limit_seconds=None,
        settings=settings,
        fresh=True,
    )
    try:
        expected = None if update else read_baseline(path)
        measured = asyncio.run(_measure(current(context).settings(), documents, request))
    except EvaluationError as error:
        raise typer.BadParameter(str(error)) from error
    if report is not None:
        write_report(report, measured)
    if measured.state != "done":
        output.write_error(measured.error or "The evaluation was not finished.")
        raise typer.Exit(exits.UNAVAILABLE)
    if expected is None:
        write_baseline(path, baseline_of(measured))
        output.write_error(f"{path} holds {measured.questions} questions now.")
    found = breaches(measured, expected) if expected else []
    if as_json:
        output.write_json(GateReport(questions=measured.questions, metrics=measured.metrics, breaches=tuple(found)))
    elif expected:
        _print(measured, expected, found)
    if found:
        raise typer.Exit(exits.UNEXPECTED)


async def _measure(settings: Settings, documents: Path, request: EvalRequest) -> QuestionsReport:
    from evals.answers_report import report_of
    from evals.sample_home import open_sample_home

    with step_progress(f"Measuring {request.name}") as show:
        async with open_sample_home(settings, documents) as api:
            return report_of(await follow(api, request, show))


def _print(report: QuestionsReport, baseline: Baseline, found: list[Breach]) -> None:
    broken = {breach.metric for breach in found}
    lines = [f"{report.name}: {report.questions} questions, {report.kind}"]
    for metric, bound in baseline.metrics.items():
        now = report.metrics.get(metric)
        value = "not measured" if now is None else f"{now:.3f}"
        verdict = "BREACH" if metric in broken else "holds"
        lines.append(f"  {metric:<24}{value:>8}, was {bound.value:.3f}, may fall by {bound.tolerance:.3f}: {verdict}")
    if report.questions != baseline.questions:
        lines.append(f"  The baseline is of {baseline.questions} questions; the figures do not compare.")
    if found:
        lines += [f"  not passed: {case.question_id}: {case.why_not}" for case in report.cases if not case.passed]
    output.write_text("\n".join(lines) + "\n")
