"""A report as three files: ``report.json``, ``report.md`` and ``report.html``."""

from __future__ import annotations

from pathlib import Path

from app.eval_schema import EvalComparison
from evals.answers_report import QuestionsReport
from evals.reports.html import render_html
from evals.reports.markdown import render_markdown


def write_report(folder: Path, report: QuestionsReport, comparison: EvalComparison | None = None) -> None:
    """Write the files, the folder where it is missing; files of that name are replaced.

    Args:
        folder: Where.
        report: The evaluation.
        comparison: Another evaluation held against it, written as well, and to ``comparison.json``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(report.model_dump_json(indent=2) + "\n", encoding="utf-8")
    (folder / "report.md").write_text(render_markdown(report, comparison), encoding="utf-8")
    (folder / "report.html").write_text(render_html(report, comparison), encoding="utf-8")
    if comparison is not None:
        (folder / "comparison.json").write_text(comparison.model_dump_json(indent=2) + "\n", encoding="utf-8")
