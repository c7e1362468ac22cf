from __future__ import annotations

import json
from pathlib import Path

import pytest

from retrieval.errors import RerankFailed
from retrieval.rerankers.features import FEATURES, exact_names, feature_matrix
from retrieval.rerankers.learned import read_ranker
from tests.retrieval.ranked import passage, ranked


def _feature(name: str, query: str, *texts: str) -> list[float]:
    candidates = ranked(*(passage(f"page {place}", text) for place, text in enumerate(texts)))
    return feature_matrix(query, candidates)[:, FEATURES.index(name)].tolist()


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("What does OOMKilled mean?", ("OOMKilled",)),
        ("exit code 137", ("137",)),
        ("set --max-old-space-size now", ("--max-old-space-size",)),
        ("is CVE-2024-3094 in v1.29.3?", ("CVE-2024-3094", "v1.29.3")),
        ("kube_pod_status and CPU", ("kube_pod_status", "CPU")),
        ("How do I restart a pod?", ()),
        ("Kubernetes keeps pods", ()),
        ("", ()),
    ],
)
def test_exact_names_are_what_people_type_letter_for_letter(query: str, names: tuple[str, ...]) -> None:
    assert exact_names(query) == names


def test_rare_words_of_the_question_count_more_than_common_ones() -> None:
    rare, common = _feature("coverage", "pod quota", "a quota", "a pod", "the pod", "one pod", "pods")[:2]
    assert 1 > rare > common > 0


def test_neighbours_in_the_question_are_looked_for_as_neighbours() -> None:
    assert _feature("phrase", "memory limit", "the memory limit", "limit of memory") == [1.0, 0.0]


def test_found_words_near_each_other_are_worth_more() -> None:
    near, far, single = _feature("proximity", "memory quota", "memory quota", f"memory {'x ' * 30} quota", "memory")
    assert near == 1.0
    assert 0 < far < 0.1
    assert single == 0.0


def test_names_must_stand_letter_for_letter() -> None:
    assert _feature("names", "OOMKilled", "was OOMKilled", "was oom killed") == [1.0, 0.0]
    assert _feature("names", "plain words", "plain words") == [0.0]


def test_no_candidates_and_no_words_give_no_errors() -> None:
    assert feature_matrix("pod", []).shape == (0, len(FEATURES))
    assert _feature("coverage", "?!", "a pod") == [0.0]


def test_the_ranker_of_the_package_says_what_it_was_trained_on() -> None:
    ranker = read_ranker().ranker
    assert ranker.coefficients["order"] == 1.0
    assert "scifact:train" in ranker.trained_on
    assert not [name for name in ranker.trained_on if "scifact:test" in name]


def test_a_ranker_of_other_features_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "ranker.json"
    file.write_text(json.dumps({"version": 1, "trained_on": [], "queries": 0, "coefficients": {"order": 1.0}}))
    with pytest.raises(RerankFailed):
        read_ranker(file)
    with pytest.raises(RerankFailed):
        read_ranker(tmp_path / "nowhere.json")
