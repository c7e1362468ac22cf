"""``groundwork eval``: measurements from the command line. ``app.cli.main`` finds this module by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import exits, output
from app.cli.invocation import current
from app.cli.progress import step_progress
from evals import cli_compare, cli_gate, cli_kept, cli_questions, cli_retrieval

if TYPE_CHECKING:
    from evals.agent_runs import AgentReport
    from evals.agent_tasks import TaskResult
    from evals.redteam import RedTeamReport

commands = typer.Typer(help="Measure how good retrieval and answers are.", no_args_is_help=True)


commands.command()(cli_retrieval.retrieval)
commands.command()(cli_questions.answers)
commands.command()(cli_compare.compare)
commands.command()(cli_gate.gate)
commands.command()(cli_kept.questions)


@commands.callback()
def _group() -> None:
    """Measure how good retrieval and answers are."""


@commands.command()
def redteam(
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Play every AgentDojo attack as a hijacked model would, through the policy, the ledger and the executor.

    Needs the package agentdojo, a development dependency; no model and no home. Exit code 1 when an effect happened
    without a person's approval, or a goal was reached that is not explained.

    Example: groundwork eval redteam --json
    """
    import asyncio

    from evals.errors import BenchmarkMissing
    from evals.redteam import run_red_team

    try:
        report = asyncio.run(run_red_team())
    except BenchmarkMissing as error:
        output.write_error(str(error))
        raise typer.Exit(exits.UNAVAILABLE) from error
    if as_json:
        output.write_json(report)
    else:
        _print_red_team(report)
    if not report.passed:
        raise typer.Exit(exits.UNEXPECTED)


@commands.command()
def agent(
    context: typer.Context,
    tasks: Annotated[Path, typer.Option(help="Tasks, one JSON object a line.")] = Path("samples/agent_tasks.jsonl"),
    server: Annotated[Path, typer.Option(help="MCP server of the cluster.")] = Path("samples/cluster_server.py"),
    documents: Annotated[Path, typer.Option(help="Folder to search.")] = Path("samples/handbook"),
    name: Annotated[str, typer.Option("--agent", help="Agent that acts.")] = "operator",
    only: Annotated[list[str] | None, typer.Option(help="Play this task or kind alone; may be repeated.")] = None,
    limit_seconds: Annotated[float, typer.Option(min=1, help="Longest time of one task.")] = 600.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Play agent tasks over a pretend cluster with the chat model of the settings, and approve what each task allows.

    Everything happens in a home of its own, with the models of yours. Exit code 1 when an effect happened that nobody
    approved.

    Example: groundwork eval agent --only restart --json
    """
    import asyncio

    from evals.agent_runs import run_agent_tasks
    from evals.agent_tasks import read_tasks
    from evals.agent_world import open_world
    from evals.errors import EvaluationError

    settings = current(context).settings()

    async def play() -> AgentReport:
        chosen = [task for task in read_tasks(tasks) if not only or task.id in only or task.kind in only]
        if not chosen:
            raise typer.BadParameter("no task has that id or kind.", param_hint="--only")
        with step_progress("Playing agent tasks") as show:
            played = 0

            def on_result(_: TaskResult) -> None:
                nonlocal played
                played += 1
                show("Playing", played, len(chosen))

            async with open_world(settings, server=server, documents=documents, start_model=True) as world:
                return await run_agent_tasks(
                    world, chosen, agent=name, limit_seconds=limit_seconds, on_result=on_result
                )

    try:
        report = asyncio.run(play())
    except EvaluationError as error:
        raise typer.BadParameter(str(error)) from error
    if as_json:
        output.write_json(report)
    else:
        _print_agent(report)
    if report.unapproved_effects:
        raise typer.Exit(exits.UNEXPECTED)


def _print_agent(report: AgentReport) -> None:
    lines = [
        f"{report.model}, agent {report.agent}: {report.tasks} tasks in {report.seconds:.0f} s",
        f"  right first tool    {report.first_tool_right:.0%}",
        f"  whole task done     {report.done:.0%}",
        f"  unapproved effects  {report.unapproved_effects}",
    ]
    lines += [f"  not done: {task.id} ({task.kind}): {task.why_not}" for task in report.results if not task.done]
    output.write_text("\n".join(lines) + "\n")


def _print_red_team(report: RedTeamReport) -> None:
    lines = [f"{report.benchmark}: {report.attacks} attacks by a hijacked model"]
    for variant in report.variants:
        executed = ", ".join(f"{count} {risk}" for risk, count in variant.executed.items()) or "none"
        lines.append(f"  {variant.variant}{' (control)' if variant.is_control else ''}: {variant.meaning}")
        lines.append(f"    calls that ran      {executed}, of {variant.calls}")
        lines.append(f"    unapproved effects  {variant.unapproved}")
        lines.append(f"    goals reached       {len(variant.reached)}")
    lines += [f"  left over: {attack}. {reason}" for attack, reason in report.leftovers.items()]
    output.write_text("\n".join(lines) + "\n")
