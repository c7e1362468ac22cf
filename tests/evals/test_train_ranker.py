from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from evals.datasets import read_dataset
from evals.train_ranker import JudgedPool, coefficients, fit, gain, in_half, indexed, judged_pools, leave_one_out
from retrieval.rerankers.features import FEATURES
from tests.retrieval.points import EMBEDDER

_TELLING = FEATURES.index("coverage")


def _pools(seed: int, *, telling: float = 2.0) -> list[JudgedPool]:
    """Pools of 20 candidates, one relevant: the order before says a little of it, one feature much."""
    generator = np.random.default_rng(seed)
    pools: list[JudgedPool] = []
    for _ in range(40):
        features = generator.normal(size=(20, len(FEATURES)))
        relevance = features[:, 0] + telling * features[:, _TELLING]
        features = features[np.argsort(-features[:, 0], kind="stable")]
        relevance = features[:, 0] + telling * features[:, _TELLING]
        pools.append(JudgedPool(features, (relevance == relevance.max()).astype(np.float64), 1.0))
    return pools


def test_what_tells_relevant_passages_is_learned_and_holds_elsewhere() -> None:
    weights = fit(_pools(1))
    assert weights[0] == 1.0
    assert np.argmax(np.abs(weights[1:])) + 1 == _TELLING
    elsewhere = gain(_pools(2), weights)
    assert elsewhere.learned > elsewhere.fused + 0.2
    assert elsewhere.p_value < 0.001


def test_the_same_order_is_no_gain() -> None:
    alone = np.zeros(len(FEATURES))
    alone[0] = 1.0
    pools = _pools(3)
    assert gain(pools, alone) == (pytest.approx(gain(pools, alone).fused), gain(pools, alone).fused, 1.0)


def test_a_corpus_is_never_reported_by_a_ranker_that_saw_it() -> None:
    sets = {"one:train": _pools(4), "one:test": _pools(5), "two:test": _pools(6, telling=-2.0)}
    table = leave_one_out(sets)
    assert table["one:train"] == gain(sets["one:train"], fit(sets["two:test"]))
    assert table["two:test"] == gain(sets["two:test"], fit([*sets["one:train"], *sets["one:test"]]))
    assert table["two:test"].learned < table["two:test"].fused


def test_halves_share_no_query_and_are_the_same_each_time() -> None:
    judgements = {str(number): {"a": 1} for number in range(7)}
    first, second = in_half(judgements, "first"), in_half(judgements, "second")
    assert (len(first), len(second), first.keys() & second.keys()) == (4, 3, set())
    assert in_half(dict(reversed(judgements.items())), "first") == first
    assert in_half(judgements, "") == judgements


def test_the_file_names_its_training_sets() -> None:
    ranker = coefficients({"one:train": _pools(7)}, version=3)
    assert (ranker.version, ranker.trained_on, ranker.queries) == (3, ("one:train",), 40)
    assert ranker.coefficients["order"] == 1.0


def test_pools_come_from_the_search_itself(tmp_path: Path) -> None:
    documents = {"d1": "The pod was OOMKilled.", "d2": "Rotate certificates.", "d3": "A quota limits memory."}
    lines = [json.dumps({"_id": name, "title": "", "text": text}) for name, text in documents.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "memory quota"}', encoding="utf-8")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td3\t1\n", encoding="utf-8")
    dataset = read_dataset(tmp_path)
    with indexed(dataset, EMBEDDER) as retriever:
        (pool,) = judged_pools(retriever, dataset.queries, dataset.judgements)
    assert pool.features.shape == (3, len(FEATURES))
    assert pool.grades.tolist() == [1.0, 0.0, 0.0]
    assert pool.ideal == 1.0
