"""The promise of ``Reranker``, over every kind: learned, cross-encoder, a server."""

from __future__ import annotations

import json
import math
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from retrieval.analyser import analyse
from retrieval.candidates import Candidate, fuse_legs
from retrieval.errors import RerankTimedOut
from retrieval.rerankers.cross_encoder import CrossEncoderReranker
from retrieval.rerankers.features import FEATURES
from retrieval.rerankers.learned import LearnedReranker, RankerCoefficients
from retrieval.rerankers.protocol import Reranker
from retrieval.rerankers.remote import RemoteReranker
from retrieval.types import LegResult, ScoredId
from tests.retrieval.points import make_chunk
from tests.retrieval.rerankers.cross_encoder import make_cross_encoder
from tests.retrieval.rerankers.server import rerank_server

_TEXTS = ("The pod was OOMKilled.", "Rotate certificates.", "A quota limits memory.", "Exit code 137.", "漢字 🚀 \x00")
_LONG = 60.0


def candidates_of(*texts: str) -> list[Candidate]:
    """Candidates in the order of the texts, best first in both legs."""
    chunks = [make_chunk(text, position=position) for position, text in enumerate(texts)]
    found = [ScoredId(chunk.chunk_id, 1 / (1 + place)) for place, chunk in enumerate(chunks)]
    fused = fuse_legs(LegResult(found), LegResult(found), method="minmax", dense_weight=0.5)
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    return [Candidate(by_id[one.chunk_id], one) for one in fused]


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


@pytest.fixture(params=["learned", "cross-encoder", "url"])
def reranker(request: pytest.FixtureRequest, model_folder: Path) -> Generator[Reranker]:
    match request.param:
        case "learned":
            coefficients = {name: 1 / (1 + place) for place, name in enumerate(FEATURES)}
            yield LearnedReranker(
                RankerCoefficients(version=1, trained_on=("a test",), queries=1, coefficients=coefficients)
            )
        case "cross-encoder":
            yield CrossEncoderReranker(str(model_folder), batch_size=2)
        case _:
            with rerank_server(_shared_terms) as url, httpx.Client() as client:
                yield RemoteReranker(client, url, model="shared-terms", batch_size=2)


def _shared_terms(body: bytes) -> bytes:
    request = json.loads(body)
    wanted = set(analyse(request["query"]))
    scored = [
        {"index": index, "relevance_score": len(wanted & set(analyse(text)))}
        for index, text in enumerate(request["documents"])
    ]
    return json.dumps({"id": "1", "results": scored[::-1]}).encode()


def test_every_candidate_has_a_finite_score(reranker: Reranker) -> None:
    scores = reranker.rerank("What was OOMKilled?", candidates_of(*_TEXTS), seconds=_LONG)
    assert len(scores) == len(_TEXTS)
    assert all(math.isfinite(score.score) for score in scores)


def test_scores_belong_to_the_candidates_whatever_their_order(reranker: Reranker) -> None:
    candidates = candidates_of(*_TEXTS[:4])
    query = "Which memory limits does a quota have?"
    forwards = [score.score for score in reranker.rerank(query, candidates, seconds=_LONG)]
    backwards = [score.score for score in reranker.rerank(query, candidates[::-1], seconds=_LONG)]
    assert backwards[::-1] == pytest.approx(forwards, abs=1e-5)
    assert len(set(forwards)) > 1


def test_no_candidates_have_no_scores(reranker: Reranker) -> None:
    assert reranker.rerank("OOMKilled", [], seconds=_LONG) == []


def test_features_add_up_to_the_score(reranker: Reranker) -> None:
    for score in reranker.rerank("OOMKilled", candidates_of(*_TEXTS), seconds=_LONG):
        if features := score.explain():
            assert score.score == pytest.approx(sum(feature.contribution for feature in features))


def test_threads_get_the_scores_that_one_thread_gets(reranker: Reranker) -> None:
    candidates = candidates_of(*_TEXTS)

    def scores(query: str) -> list[float]:
        return [score.score for score in reranker.rerank(query, candidates, seconds=_LONG)]

    queries = ["memory quota", "exit code"] * 4
    with ThreadPoolExecutor(4) as pool:
        for query, found in zip(queries, pool.map(scores, queries), strict=True):
            assert found == pytest.approx(scores(query), abs=1e-5)


def test_a_name_says_what_it_is(reranker: Reranker) -> None:
    assert reranker.name


def test_kinds_that_take_time_stop_when_it_is_over(reranker: Reranker) -> None:
    if isinstance(reranker, LearnedReranker):
        assert len(reranker.rerank("OOMKilled", candidates_of(*_TEXTS), seconds=1e-9)) == len(_TEXTS)
        return
    with pytest.raises(RerankTimedOut):
        reranker.rerank("OOMKilled", candidates_of(*_TEXTS), seconds=1e-9)
