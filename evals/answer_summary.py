"""Answered questions summed up: rates over all, and over each kind. A rate of nothing is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from app.eval_schema import EvalCase, EvalSummary


def summarise_answers(cases: Sequence[EvalCase]) -> EvalSummary:
    """Figures of these cases; shares are in [0, 1].

    Rates over citations and claims count each of them once, whatever the question. Abstaining is the thing found:
    precision is the share of abstentions that were right, recall the share of questions without an answer that it met.
    """
    kinds = sorted({case.kind for case in cases})
    return EvalSummary(
        metrics=_figures(cases),
        by_kind={kind: _figures([case for case in cases if case.kind == kind]) for kind in kinds},
    )


def _figures(cases: Sequence[EvalCase]) -> dict[str, float]:
    counts = _sums(cases)
    answerable = [case for case in cases if case.answerable]
    matched = sum(case.passed for case in answerable)
    answered = sum(case.status == "answered" for case in answerable)
    shares = {
        "answer_match": (matched, len(answerable)),
        "answered_of_answerable": (answered, len(answerable)),
        "match_of_answered": (matched, answered),
        "citation_precision": (counts["citations_supporting"], counts["citations"]),
        "citation_relevance": (counts["citations_relevant"], counts["citations"]),
        "citation_recall": (counts["claims_cited"], counts["claims"]),
        "evidence_recall": (counts["evidence_files_cited"], counts["evidence_files"]),
        "unsupported_claim_rate": (counts["claims_unmarked_unsupported"], counts["claims_unmarked"]),
        "marked_claim_rate": (counts["claims_marked"] + counts["claims_partial"], counts["claims"]),
        "abstention.precision": (counts["abstained_rightly"], counts["abstained"]),
        "abstention.recall": (counts["abstained_rightly"], len(cases) - len(answerable)),
    }
    figures = {name: round(part / whole, 4) for name, (part, whole) in shares.items() if whole}
    figures |= _f1(counts["abstained_rightly"], counts["abstained"], len(cases) - len(answerable))
    figures |= latency([case.values["latency_ms"] for case in cases if "latency_ms" in case.values])
    return {"questions": float(len(cases)), "failed": float(counts["failed"]), **figures}


def latency(milliseconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile."""
    if not milliseconds:
        return {}
    return {f"latency_ms.p{share}": round(float(np.percentile(milliseconds, share)), 1) for share in (50, 95)}


def _f1(right: int, abstained: int, unanswerable: int) -> dict[str, float]:
    whole = abstained + unanswerable
    return {"abstention.f1": round(2 * right / whole, 4)} if whole else {}


def _sums(cases: Sequence[EvalCase]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for case in cases:
        sums.update(case.counts)
    return sums
