"""A report in Markdown. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.eval_schema import EvalComparison
from evals.answers_report import QuestionsReport


def render_markdown(report: QuestionsReport, comparison: EvalComparison | None = None) -> str:
    """Figures, figures by kind, the comparison, and every question that did not pass."""
    lines = [f"# {_cell(report.name)}: {report.kind}", "", f"{report.questions} of {report.total} questions.", ""]
    lines += table(["figure", "value"], [[name, figure(name, value)] for name, value in report.metrics.items()])
    nothing: Mapping[str, float] = {}
    names = [name for name in next(iter(report.by_kind.values()), nothing) if not name.startswith("latency")]
    if names:
        rows = [
            [kind, *(figure(name, own[name]) if name in own else "" for name in names)]
            for kind, own in report.by_kind.items()
        ]
        lines += ["", "## By kind", "", *table(["kind", *names], rows)]
    if comparison is not None:
        lines += ["", *_comparison(comparison)]
    failed = [case for case in report.cases if not case.passed]
    lines += ["", f"## Not passed: {len(failed)}", ""]
    rows = [[f"{case.question_id}: {case.question}", case.kind, case.why_not] for case in failed]
    lines += table(["question", "kind", "why"], rows)
    return "\n".join(lines) + "\n"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table; none without rows."""
    if not rows:
        return []
    marks = ["---"] * len(head)
    return [f"| {' | '.join(map(_cell, row))} |" for row in (head, marks, *rows)]


def figure(name: str, value: float) -> str:
    """A figure as people read it: counts whole, times in milliseconds, shares with three digits."""
    if "latency_ms" in name:
        return f"{value:.0f} ms"
    return f"{value:.0f}" if name in ("questions", "failed") else f"{value:.3f}"


def _comparison(comparison: EvalComparison) -> list[str]:
    rows = [
        [
            measure.measure,
            str(measure.questions),
            f"{measure.values[0]:.3f}",
            f"{measure.values[1]:.3f}",
            f"{measure.difference:+.3f} [{measure.interval[0]:+.3f}, {measure.interval[1]:+.3f}]",
            f"{measure.p_value:.3f}",
            f"{measure.better} / {measure.worse}",
        ]
        for measure in comparison.measures
    ]
    head = ["measure", "questions", *comparison.names, "difference, 95 %", "p", "better / worse"]
    return ["## Compared in pairs", "", *table(head, rows)]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
