"""Holds an evaluation against a baseline: a figure that falls beyond its tolerance is a breach. Pure but for files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.eval_schema import EvalKind
from evals.answers_report import QuestionsReport
from evals.errors import BaselineUnreadable

TOLERANCES: dict[EvalKind, dict[str, float]] = {
    "retrieval": {"hit@1": 0.04, "hit@3": 0.04, "hit@5": 0.0, "hit@10": 0.0, "ndcg@10": 0.02, "mrr@10": 0.02},
    "answers": {
        "answer_match": 0.08,
        "answered_of_answerable": 0.08,
        "citation_precision": 0.05,
        "citation_relevance": 0.05,
        "citation_recall": 0.05,
        "unsupported_claim_rate": 0.02,
        "abstention.precision": 0.1,
        "abstention.recall": 0.1,
    },
}
"""How far a figure may fall. One question of the sample's 30 is 0.033: search may lose one first place and no answer
among the first five; answers of a small model change with the processor, so they may lose two."""
_LOWER_IS_BETTER = frozenset({"unsupported_claim_rate"})


class Bound(BaseModel):
    """A figure as it was, and how far it may fall."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: float
    tolerance: float = Field(ge=0)


class Baseline(BaseModel):
    """The figures of one evaluation that later ones are held against."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: EvalKind
    name: str
    questions: int
    metrics: dict[str, Bound]
    note: str = ""
    """What was measured, for people: models and machine."""


class Breach(NamedTuple):
    """A figure that fell too far; ``now`` is None when nothing was measured for it."""

    metric: str
    was: float
    now: float | None
    tolerance: float


class GateReport(BaseModel):
    """The JSON shape of ``eval gate --json``."""

    questions: int
    metrics: dict[str, float]
    breaches: tuple[Breach, ...]
    """Empty: the gate holds."""


def breaches(report: QuestionsReport, baseline: Baseline) -> list[Breach]:
    """Figures of the baseline that the evaluation does not hold, in the baseline's order."""
    found: list[Breach] = []
    for metric, bound in baseline.metrics.items():
        now = report.metrics.get(metric)
        fall = None if now is None else now - bound.value if metric in _LOWER_IS_BETTER else bound.value - now
        if fall is None or fall > bound.tolerance + 1e-9:
            found.append(Breach(metric, bound.value, now, bound.tolerance))
    return found


def baseline_of(report: QuestionsReport) -> Baseline:
    """The baseline that an evaluation gives."""
    model = report.config.get("model")
    parts = [str(report.config.get("embedding_model", "")), *([str(model)] if model else [])]
    return Baseline(
        kind=report.kind,
        name=report.name,
        questions=report.questions,
        metrics={
            metric: Bound(value=report.metrics[metric], tolerance=tolerance)
            for metric, tolerance in TOLERANCES[report.kind].items()
            if metric in report.metrics
        },
        note=", ".join(parts),
    )


def read_baseline(path: Path) -> Baseline:
    """A baseline from its file.

    Raises:
        BaselineUnreadable: It is missing, or no baseline.
    """
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BaselineUnreadable(f"There is no baseline {str(path)!r}; make one with --update.") from error
    except ValidationError as error:
        raise BaselineUnreadable(f"The file {str(path)!r} is no baseline; make one with --update.") from error


def write_baseline(path: Path, baseline: Baseline) -> None:
    """Write or replace a baseline."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(baseline.model_dump_json(indent=2) + "\n", encoding="utf-8")
