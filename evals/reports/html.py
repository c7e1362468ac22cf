"""A report as one HTML file: figures, plots as inline SVG, every question with its passages. No script, no network."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from app.eval_schema import EvalCase, EvalComparison
from evals.answers_report import QuestionsReport
from evals.reports.markdown import figure
from evals.reports.plots import Bar, Difference, bars, differences, strip

_STYLE = """
:root{color-scheme:light dark;--line:#8884;--good:#2a8f5c;--bad:#c4472f;--ink:#2563b0}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.25rem .6rem;border-bottom:1px solid var(--line)}
svg{width:100%;height:auto;font-size:12px}svg text{fill:currentColor}
.track{fill:#8882}.bar,.dot{fill:var(--ink)}.axis,.interval{stroke:currentColor}.interval{stroke-width:2}
.pass{fill:var(--good)}.fail{fill:var(--bad)}
details{border-bottom:1px solid var(--line);padding:.3rem 0}summary{cursor:pointer}
blockquote{margin:.4rem 0;padding-left:.8rem;border-left:3px solid var(--line);white-space:pre-wrap}
.wide{overflow-x:auto}.small{opacity:.75;font-size:.9em}
"""
_COUNTS = ("questions", "failed")


def render_html(report: QuestionsReport, comparison: EvalComparison | None = None) -> str:
    """The whole page."""
    title = f"{report.name}: {report.kind}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{report.questions} of {report.total} questions.</p>",
        "<h2>Figures</h2>",
        _shares(report),
        _table(["figure", "value"], [[name, figure(name, value)] for name, value in report.metrics.items()]),
        "<h2>Questions</h2>",
        strip([(f"{case.question_id}: {case.question}", case.passed) for case in report.cases], title="All questions"),
        _kinds(report),
        _comparison(comparison),
        f"<h2>Not passed: {sum(not case.passed for case in report.cases)}</h2>",
        *(_case(case) for case in report.cases if not case.passed),
        "<h2>Passed</h2>",
        *(_case(case) for case in report.cases if case.passed),
        "<h2>Measured with</h2>",
        _table(["setting", "value"], [[name, str(value)] for name, value in report.config.items()]),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _shares(report: QuestionsReport) -> str:
    rows = [
        Bar(name, value, f"{value:.3f}")
        for name, value in report.metrics.items()
        if "latency" not in name and name not in _COUNTS
    ]
    return bars(rows, title="Figures") if rows else ""


def _kinds(report: QuestionsReport) -> str:
    shown = "answer_match" if report.kind == "answers" else "hit@5"
    rows = [
        Bar(kind, own[shown], f"{own[shown]:.2f} of {own['questions']:.0f}")
        for kind, own in report.by_kind.items()
        if shown in own
    ]
    return f"<h3>{shown} by kind</h3>{bars(rows, title=f'{shown} by kind')}" if rows else ""


def _comparison(comparison: EvalComparison | None) -> str:
    if comparison is None:
        return ""
    shares = [measure for measure in comparison.measures if "latency" not in measure.measure]
    plot = differences(
        [Difference(m.measure, m.difference, *m.interval) for m in shares], title="Differences with 95 % intervals"
    )
    rows = [
        [
            m.measure,
            f"{m.values[0]:.3f}",
            f"{m.values[1]:.3f}",
            f"{m.difference:+.3f} [{m.interval[0]:+.3f}, {m.interval[1]:+.3f}]",
            f"{m.p_value:.3f}",
            f"{m.better} / {m.worse}",
        ]
        for m in comparison.measures
    ]
    head = ["measure", *comparison.names, "difference, 95 %", "p", "better / worse"]
    return f"<h2>Compared in pairs</h2>{plot}{_table(head, rows)}"


def _case(case: EvalCase) -> str:
    inner = [f"<p class='small'>{escape(case.why_not)}</p>"]
    if case.answer:
        inner.append(f"<blockquote>{escape(case.answer)}</blockquote>")
    if case.expected:
        inner.append(f"<p class='small'>Expected: {escape(case.expected)}</p>")
    for passage in case.passages:
        mark = "relevant, " if passage.relevant else ""
        where = f"{passage.rank}. {mark}{passage.source} {passage.section}"
        inner.append(f"<p class='small'>{escape(where)}</p><blockquote>{escape(passage.text)}</blockquote>")
    head = f"{case.question_id} ({case.kind}): {case.question}"
    return f"<details><summary>{escape(head)}</summary>{''.join(inner)}</details>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<div class='wide'><table><tr>{heads}</tr>{body}</table></div>"
