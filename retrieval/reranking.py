"""The second look at the best candidates: a reranker's order, or the order before it and a warning when it fails."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from retrieval.candidates import Candidate
from retrieval.errors import RerankFailed, RerankTimedOut
from retrieval.explanation import RerankShare
from retrieval.rerankers.protocol import Reranker
from retrieval.types import SearchWarning

logger = logging.getLogger(__name__)


class Reranked(NamedTuple):
    """Candidates in the order to go on with, and what to tell people when that is not the reranker's."""

    candidates: list[Candidate]
    warnings: tuple[SearchWarning, ...] = ()


def reranked(
    reranker: Reranker | None, query: str, candidates: Sequence[Candidate], *, seconds: float, explain: bool
) -> Reranked:
    """Candidates in the reranker's order, equal scores in the order before; a failing reranker changes nothing.

    Args:
        reranker: None leaves the order.
        query: The question as typed.
        candidates: Best first.
        seconds: Time limit of the reranker.
        explain: Say what each score is made of.
    """
    if reranker is None or not candidates:
        return Reranked(list(candidates))
    try:
        scores = reranker.rerank(query, candidates, seconds=seconds)
    except RerankFailed as error:
        code = "rerank_timeout" if isinstance(error, RerankTimedOut) else "rerank_failed"
        logger.warning(
            "Search goes on without its reranker", extra={"reranker": reranker.name, "code": code, "reason": str(error)}
        )
        return Reranked(list(candidates), (SearchWarning(code, str(error)),))
    order = sorted(range(len(candidates)), key=lambda index: (-scores[index].score, index))
    return Reranked(
        [
            replace(
                candidates[index],
                rerank=RerankShare(
                    reranker.name,
                    scores[index].score,
                    index + 1,
                    place,
                    scores[index].explain() if explain else (),
                ),
            )
            for place, index in enumerate(order, start=1)
        ]
    )
