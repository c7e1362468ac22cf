"""Reports of an evaluation over a question set: the JSON shapes of ``eval answers`` and ``eval retrieval``. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, JsonValue

from app.eval_schema import EvalCase, EvalDetail, EvalKind, EvalState

if TYPE_CHECKING:
    from evals.retrieval import RetrievalReport


class CasesReport(BaseModel):
    """What two reports are compared by; ``eval retrieval``, ``eval answers`` and the API all have it."""

    cases: list[EvalCase]


class QuestionsReport(BaseModel):
    """One evaluation. Figures stand under their names as well, those with a dot nested: ``abstention.f1``."""

    model_config = ConfigDict(extra="allow")

    eval_id: str
    kind: EvalKind
    name: str
    state: EvalState
    questions: int
    total: int
    error: str = ""
    metrics: dict[str, float]
    """Every figure by its full name."""
    by_kind: dict[str, dict[str, float]]
    config: dict[str, JsonValue]
    cases: list[EvalCase]


def report_of(detail: EvalDetail) -> QuestionsReport:
    """The report of an evaluation as it stands.

    ``metrics`` holds what was measured; of the promised names one that nothing was measured for is null.
    """
    run = detail.run
    metrics = {name: value for name, value in run.summary.metrics.items() if name != "questions"}
    figures: dict[str, JsonValue] = {}
    for name in (*_PROMISED[run.kind], *metrics):
        group, dot, field = name.partition(".")
        value = metrics.get(name)
        if not dot:
            figures[name] = value
            continue
        inner = figures.setdefault(group, {})
        assert isinstance(inner, dict)
        inner[field] = value
    return QuestionsReport.model_validate(
        {
            "eval_id": run.eval_id,
            "kind": run.kind,
            "name": run.name,
            "state": run.state,
            "questions": len(detail.cases),
            "total": run.total,
            "error": run.error,
            **figures,
            "metrics": metrics,
            "by_kind": run.summary.by_kind,
            "config": run.config,
            "cases": detail.cases,
        }
    )


def report_of_dataset(report: RetrievalReport) -> QuestionsReport:
    """The report of a judged corpus in the shape of the others."""
    metrics = {
        "ndcg@10": report.ndcg_at_10,
        "recall@10": report.recall_at_10,
        "recall@100": report.recall_at_100,
        "mrr@10": report.mrr_at_10,
        "map": report.map,
        "latency_ms.p50": report.latency_ms.p50,
        "latency_ms.p95": report.latency_ms.p95,
    }
    return QuestionsReport(
        eval_id="",
        kind="retrieval",
        name=report.dataset,
        state="done",
        questions=report.queries,
        total=report.queries,
        metrics=metrics,
        by_kind={},
        config=report.config.model_dump(mode="json"),
        cases=list(report.cases),
    )


_PROMISED: dict[EvalKind, tuple[str, ...]] = {
    "answers": (
        "answer_match",
        "answered_of_answerable",
        "citation_precision",
        "citation_recall",
        "unsupported_claim_rate",
        "abstention.precision",
        "abstention.recall",
        "abstention.f1",
        "latency_ms.p50",
        "latency_ms.p95",
    ),
    "retrieval": ("hit@1", "hit@3", "hit@5", "hit@10", "ndcg@10", "mrr@10", "latency_ms.p50", "latency_ms.p95"),
}
