"""One question searched, and searches summed up: where files that hold the answer stand among the hits. Pure.

``hit@k`` is over passages as a person sees them: whether one of the first k is from a relevant file. The ranking
measures are over files, each at its best passage; a question without an answer has nothing to be found.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.event_stream import found_passage
from app.eval_schema import EvalCase, EvalQuestion, EvalSummary
from evals.answer_case import eval_passages
from evals.answer_summary import latency
from evals.metrics import ranking_metrics
from evals.questions import is_from, relevant_files
from retrieval.types import SearchResult

SEARCH_DEPTH = 50
"""Passages asked for: several of the first can be from one file, and the ranking measures look at ten files."""
SHOWN = 10
"""Passages that a case keeps."""
CUTS = (1, 3, 5, 10)
PASSING_CUT = 5
"""A question passes when a relevant file is among the first five: about as many passages enter a prompt."""


def judge_search(question: EvalQuestion, result: SearchResult) -> EvalCase:
    """The case of one question."""
    passages = eval_passages(question, [found_passage(hit) for hit in result.hits])
    values: dict[str, float] = {"latency_ms": result.timings.total}
    rank = next((passage.rank for passage in passages if passage.relevant), None)
    if question.answerable:
        values |= {f"hit@{cut}": float(rank is not None and rank <= cut) for cut in CUTS}
        sources = list(dict.fromkeys(passage.source for passage in passages))
        values |= _file_measures(question, sources)
        if len(question.relevant_files) > 1:
            for cut in (5, 10):
                seen = [passage.source for passage in passages[:cut]]
                found = sum(any(is_from(source, [file]) for source in seen) for file in question.relevant_files)
                values[f"all_files@{cut}"] = float(found == len(question.relevant_files))
    passed = not question.answerable or (rank is not None and rank <= PASSING_CUT)
    return EvalCase(
        question_id=question.id,
        kind=question.kind,
        answerable=question.answerable,
        question=question.question,
        values=values,
        passed=passed,
        why_not="" if passed else _why_not(rank),
        expected=question.answer,
        passages=passages[:SHOWN],
    )


def summarise_searches(cases: Sequence[EvalCase]) -> EvalSummary:
    """Averages over the answerable questions, and over those of each kind."""
    judged = [case for case in cases if case.answerable]
    kinds = sorted({case.kind for case in judged})
    by_kind = {kind: _averages([case for case in judged if case.kind == kind]) for kind in kinds}
    return EvalSummary(metrics=_averages(judged), by_kind=by_kind)


def _averages(cases: Sequence[EvalCase]) -> dict[str, float]:
    names = list(dict.fromkeys(name for case in cases for name in case.values if name != "latency_ms"))
    figures = {"questions": float(len(cases))}
    for name in names:
        values = [case.values[name] for case in cases if name in case.values]
        figures[name] = round(sum(values) / len(values), 4)
    return figures | latency([case.values["latency_ms"] for case in cases])


def _file_measures(question: EvalQuestion, sources: Sequence[str]) -> dict[str, float]:
    """nDCG@10, recall@10 and MRR@10 over files.

    A file of ``also_relevant`` stands for one that is wanted: it counts as found, and is missed by nobody.
    """
    files = relevant_files(question)
    found = [source for source in sources if is_from(source, files)]
    wanted = dict.fromkeys(found, 1) | {
        file: 1 for file in question.relevant_files if not any(is_from(source, [file]) for source in found)
    }
    scores = {source: 1 / rank for rank, source in enumerate(sources, start=1)}
    measured = ranking_metrics({question.id: wanted}, {question.id: scores})
    return {"ndcg@10": measured.ndcg_at_10, "mrr@10": measured.mrr_at_10}


def _why_not(rank: int | None) -> str:
    return "No passage of a relevant file was found." if rank is None else f"The first relevant passage is at {rank}."
