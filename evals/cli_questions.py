"""``groundwork eval answers`` and question sets of ``eval retrieval``: started at the API, followed until they end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.invocation import current, parse_request, parse_setting
from app.cli.progress import OnStep, step_progress

if TYPE_CHECKING:
    from app.client import ApiClient
    from app.eval_schema import EvalDetail, EvalKind, EvalRequest
    from evals.answers_report import QuestionsReport

_POLL_SECONDS = 0.5

QuestionsOption = Annotated[Path, typer.Option(help="Questions, one JSON object a line.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Setting of this run alone, `search.fusion=rrf`."),
]


def answers(
    context: typer.Context,
    questions: QuestionsOption,
    collection: Annotated[list[str] | None, typer.Option(help="Search here alone; may be repeated.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    only: Annotated[list[str] | None, typer.Option(help="Only this question or kind; may be repeated.")] = None,
    limit_seconds: Annotated[float | None, typer.Option(min=1, help="Begin no question after that.")] = None,
    settings: SetOption = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew instead of going on with a run.")] = False,
    report: Annotated[Path | None, typer.Option(help="Write JSON, Markdown and HTML into this folder.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print figures and questions as JSON.")] = False,
) -> None:
    """Ask every question of a file through the graph of the chat, and judge answers, citations and abstentions.

    Each result is kept as it comes: a run that was stopped or killed goes on when the same command is given again.
    Exit code 3 when the time was up first, 4 when model or store are not available.

    Example: groundwork eval answers --questions samples/questions.jsonl --limit 5
    """
    request = question_request(
        "answers",
        questions,
        collection=collection,
        limit=limit,
        only=only,
        limit_seconds=limit_seconds,
        settings=settings,
        fresh=fresh,
    )
    measured = measure(context, request)
    if report is not None:
        from evals.reports.write import write_report

        write_report(report, measured)
    if as_json:
        output.write_json(measured)
    else:
        print_questions(measured)
    end(measured)


def question_request(
    kind: EvalKind,
    path: Path,
    *,
    collection: list[str] | None,
    limit: int | None,
    only: list[str] | None,
    limit_seconds: float | None,
    settings: list[str] | None,
    fresh: bool,
) -> EvalRequest:
    """The request of these options; raises ``typer.BadParameter``."""
    from app.eval_schema import EvalRequest
    from evals.errors import QuestionsUnreadable
    from evals.questions import read_questions

    try:
        chosen = read_questions(path)
    except QuestionsUnreadable as error:
        raise typer.BadParameter(str(error), param_hint="--questions") from error
    if only:
        chosen = tuple(question for question in chosen if question.id in only or question.kind in only)
        if not chosen:
            raise typer.BadParameter("no question has that id or kind.", param_hint="--only")
    return parse_request(
        EvalRequest,
        kind=kind,
        name=path.stem
        if path.stem not in ("dev", "test", "questions")
        else f"{path.resolve().parent.name}/{path.stem}",
        questions=chosen[:limit],
        collections=tuple(collection or ()),
        settings=dict(parse_setting(pair) for pair in settings or ()),
        limit_seconds=limit_seconds,
        fresh=fresh,
    )


def measure(context: typer.Context, request: EvalRequest) -> QuestionsReport:
    """Start an evaluation over the home, show how far it is, and return its report once it has ended."""
    from evals.answers_report import report_of

    with step_progress(f"Measuring {request.name}") as show:
        return report_of(current(context).call(lambda client: follow(client, request, show)))


async def follow(client: ApiClient, request: EvalRequest, show: OnStep) -> EvalDetail:
    """The evaluation once it has ended; cancelling the task stops it before its next question."""
    from app.eval_schema import ENDED

    run = await client.start_eval(request)
    try:
        while run.state not in ENDED:
            await asyncio.sleep(_POLL_SECONDS)
            run = await client.eval_progress(run.eval_id)
            show(request.kind, run.done, run.total)
    except asyncio.CancelledError:
        await client.stop_eval(run.eval_id)
        raise
    return await client.eval(run.eval_id)


def end(report: QuestionsReport) -> None:
    """Leave with the exit code of how the run ended."""
    if report.state == "failed":
        output.write_error(f"{report.error} The run is kept; give the command again to go on.")
        raise typer.Exit(exits.UNAVAILABLE)
    if report.state != "done":
        output.write_error(
            f"{report.questions} of {report.total} questions were measured; give the command again to go on."
        )
        raise typer.Exit(exits.PARTIAL)


def print_questions(report: QuestionsReport) -> None:
    """Figures, those of each kind, and what did not pass."""
    lines = [f"{report.name}: {report.questions} of {report.total} questions, {report.kind}"]
    lines += [f"  {name:<26}{_figure(name, value)}" for name, value in report.metrics.items()]
    shown = "answer_match" if report.kind == "answers" else "hit@5"
    for kind, figures in report.by_kind.items():
        value = f", {shown} {figures[shown]:.0%}" if shown in figures else ""
        lines.append(f"  {kind:<16} {figures['questions']:.0f} questions{value}")
    failures = [case for case in report.cases if not case.passed]
    lines += [f"  not passed: {case.question_id} ({case.kind}): {case.why_not}" for case in failures]
    output.write_text("\n".join(lines) + "\n")


def _figure(name: str, value: float) -> str:
    if name.startswith("latency_ms"):
        return f"{value:.0f} ms"
    return f"{value:.0f}" if name == "failed" else f"{value:.3f}"
