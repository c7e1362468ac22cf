"""Ranking metrics of each query and averaged over queries, by ``ir_measures``, which runs the code of trec_eval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import ir_measures
from ir_measures import AP, RR, Qrel, R, ScoredDoc, nDCG

_NDCG_10, _RECALL_10, _RECALL_100, _MRR_10 = nDCG @ 10, R @ 10, R @ 100, RR @ 10
_MEASURES = (_NDCG_10, _RECALL_10, _RECALL_100, _MRR_10, AP)


class RankingMetrics(NamedTuple):
    """Averages over all judged queries, each in [0, 1]; a query without results counts as 0.

    ``ndcg_at_10`` takes the grade as gain and discounts it by ``log2(rank + 1)``; ``map`` is over all results given.
    """

    ndcg_at_10: float
    recall_at_10: float
    recall_at_100: float
    mrr_at_10: float
    map: float


def ranking_metrics(
    judgements: Mapping[str, Mapping[str, int]], results: Mapping[str, Mapping[str, float]]
) -> RankingMetrics:
    """Score results against judgements.

    Args:
        judgements: Grade by document id by query id; at least one query.
        results: Score by document id by query id, higher is better; unjudged queries are left out.
    """
    judged, scored = _trec(judgements, results)
    values = ir_measures.calc_aggregate(_MEASURES, judged, scored)
    return RankingMetrics(*(float(values[measure]) for measure in _MEASURES))


def metrics_by_query(
    judgements: Mapping[str, Mapping[str, int]], results: Mapping[str, Mapping[str, float]]
) -> dict[str, RankingMetrics]:
    """The same of each judged query; one without results has 0 in everything."""
    judged, scored = _trec(judgements, results)
    values: dict[str, dict[object, float]] = {query: {} for query in judgements}
    for one in ir_measures.iter_calc(_MEASURES, judged, scored):
        values[one.query_id][one.measure] = float(one.value)
    return {query: RankingMetrics(*(own.get(measure, 0.0) for measure in _MEASURES)) for query, own in values.items()}


def _trec(
    judgements: Mapping[str, Mapping[str, int]], results: Mapping[str, Mapping[str, float]]
) -> tuple[list[Qrel], list[ScoredDoc]]:
    judged = [
        Qrel(query, document, grade) for query, grades in judgements.items() for document, grade in grades.items()
    ]
    scored = [
        ScoredDoc(query, document, score) for query in judgements for document, score in results.get(query, {}).items()
    ]
    return judged, scored
