from __future__ import annotations

import json

import httpx
import pytest

from retrieval.errors import RerankFailed, RerankTimedOut
from retrieval.rerankers.remote import RemoteReranker
from tests.retrieval.ranked import passage, ranked
from tests.retrieval.rerankers.server import rerank_server

_CANDIDATES = ranked(passage("a", "one"), passage("b", "two"))


def _answer(*scores: float | str) -> bytes:
    return json.dumps({"results": [{"index": i, "relevance_score": score} for i, score in enumerate(scores)]}).encode()


def test_the_request_is_the_one_that_servers_know() -> None:
    seen: list[dict[str, object]] = []

    def answer(body: bytes) -> bytes:
        seen.append(json.loads(body))
        return _answer(0.1, 0.9)

    with rerank_server(answer, key="secret") as url, httpx.Client() as client:
        reranker = RemoteReranker(client, url, model="a-model", api_key="secret")
        assert [score.score for score in reranker.rerank("which?", _CANDIDATES, seconds=30)] == [0.1, 0.9]
    assert [(body["model"], body["query"], body["documents"]) for body in seen] == [
        ("a-model", "which?", ["A\none", "B\ntwo"])
    ]


@pytest.mark.parametrize(
    "content", [b"", b"[]", b'{"results": 3}', _answer(0.5), _answer(0.5, 0.5, 0.5), _answer("high", "low")]
)
def test_an_answer_without_a_score_for_each_passage_is_refused(content: bytes) -> None:
    with rerank_server(lambda _: content) as url, httpx.Client() as client, pytest.raises(RerankFailed):
        RemoteReranker(client, url, model="a-model").rerank("which?", _CANDIDATES, seconds=30)


def test_a_status_that_is_no_success_is_a_failure() -> None:
    with (
        rerank_server(lambda _: _answer(1, 2), status=500) as url,
        httpx.Client() as client,
        pytest.raises(RerankFailed),
    ):
        RemoteReranker(client, url, model="a-model").rerank("which?", _CANDIDATES, seconds=30)
    with rerank_server(lambda _: _answer(1, 2), key="k") as url, httpx.Client() as client, pytest.raises(RerankFailed):
        RemoteReranker(client, url, model="a-model", api_key="wrong").rerank("which?", _CANDIDATES, seconds=30)


def test_a_server_that_drips_runs_into_the_time_limit() -> None:
    slow = rerank_server(lambda _: _answer(1, 2), drip_seconds=0.05)
    with slow as url, httpx.Client() as client, pytest.raises(RerankTimedOut):
        RemoteReranker(client, url, model="a-model").rerank("which?", _CANDIDATES, seconds=0.3)


def test_no_server_is_a_failure() -> None:
    with rerank_server(lambda _: b"") as url:
        gone = url
    with httpx.Client() as client, pytest.raises(RerankFailed):
        RemoteReranker(client, gone, model="a-model").rerank("which?", _CANDIDATES, seconds=5)
