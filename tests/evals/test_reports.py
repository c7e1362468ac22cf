from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from app.eval_compare import compare_cases
from app.eval_schema import EvalCase, EvalPassage
from evals.answers_report import QuestionsReport
from evals.reports.html import render_html
from evals.reports.markdown import render_markdown
from evals.reports.write import write_report

HOSTILE = "<script>alert(1)</script> | a"


def case(question_id: str, *, passed: bool, **values: float) -> EvalCase:
    passage = EvalPassage(
        rank=1, chunk_id="c", document_id="d", source="a.md", title="A", text=HOSTILE, relevant=passed
    )
    return EvalCase(
        question_id=question_id,
        kind="lookup",
        answerable=True,
        question=HOSTILE,
        values=values,
        passed=passed,
        why_not="" if passed else "The answer lacks '6'.",
        status="answered",
        answer=HOSTILE,
        passages=(passage,),
    )


CASES = [case("q1", passed=True, answer_match=1.0), case("q2", passed=False, answer_match=0.0)]
OTHER = [case("q1", passed=True, answer_match=1.0), case("q2", passed=True, answer_match=1.0)]
REPORT = QuestionsReport(
    eval_id="e",
    kind="answers",
    name="set",
    state="done",
    questions=2,
    total=2,
    metrics={"answer_match": 0.5, "failed": 0.0, "latency_ms.p50": 1234.5},
    by_kind={"lookup": {"questions": 2.0, "answer_match": 0.5}},
    config={"model": HOSTILE},
    cases=CASES,
)
COMPARISON = compare_cases(CASES, OTHER, names=("old", "new"))


def test_markdown_has_the_figures_the_kinds_and_what_did_not_pass() -> None:
    text = render_markdown(REPORT, COMPARISON)
    assert "| answer_match | 0.500 |" in text
    assert "| latency_ms.p50 | 1234 ms |" in text
    assert "| lookup | 2 | 0.500 |" in text
    assert "## Not passed: 1" in text
    assert "q2: <script>alert(1)</script> \\| a" in text
    assert "| answer_match | 2 | 0.500 | 1.000 | +0.500" in text


def test_html_is_one_file_without_scripts_links_or_markup_of_its_texts() -> None:
    page = render_html(REPORT, COMPARISON)
    assert "<script" not in page
    assert re.findall(r"(?:src|href)=", page) == []
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 5
    assert page.count("<svg") == 4


def test_every_plot_is_well_formed() -> None:
    plots = re.findall(r"<svg.*?</svg>", render_html(REPORT, COMPARISON))
    figures, strip, *_ = [ElementTree.fromstring(plot) for plot in plots]
    (bar,) = [node for node in figures.iter("rect") if node.get("class") == "bar"]
    assert float(bar.get("width", 0)) == 200.0
    assert [node.get("class") for node in strip.iter("rect")] == ["pass", "fail"]


def test_a_report_is_written_as_three_files_and_its_comparison(tmp_path: Path) -> None:
    write_report(tmp_path / "out", REPORT, COMPARISON)
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"report.json", "report.md", "report.html", "comparison.json"}
    assert QuestionsReport.model_validate_json((tmp_path / "out" / "report.json").read_bytes()) == REPORT
