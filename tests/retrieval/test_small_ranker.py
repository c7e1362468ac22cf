from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.small_ranker import rank_small

OOM = "The kernel ends the container with the reason OOMKilled and exit code 137."
PROBE = "A failing liveness probe restarts the container."
QUIET = "Nothing happens on the weekend."


def test_the_text_with_the_rare_terms_comes_first_and_strangers_score_nothing() -> None:
    ranked = rank_small("Why OOMKilled, exit code 137?", [QUIET, PROBE, OOM])
    assert [entry.position for entry in ranked] == [2, 0, 1]
    assert ranked[0].score > 0
    assert [entry.score for entry in ranked[1:]] == [0.0, 0.0]


def test_a_term_that_every_text_holds_still_counts() -> None:
    ranked = rank_small("container", [f"{PROBE} {QUIET} {QUIET}", "container"])
    assert [entry.position for entry in ranked] == [1, 0]
    assert all(entry.score > 0 for entry in ranked)


@pytest.mark.parametrize(("query", "texts"), [("", [OOM, PROBE]), ("the of", [OOM, PROBE]), ("pod", ["", "..."])])
def test_without_anything_to_compare_the_order_stays(query: str, texts: list[str]) -> None:
    assert [tuple(entry) for entry in rank_small(query, texts)] == [(0, 0.0), (1, 0.0)]


def test_no_texts_give_no_ranking() -> None:
    assert rank_small("pod", []) == []


@given(st.text(), st.lists(st.text(), max_size=6))
def test_every_text_is_ranked_once_best_first(query: str, texts: list[str]) -> None:
    ranked = rank_small(query, texts)
    assert sorted(entry.position for entry in ranked) == list(range(len(texts)))
    scores = [entry.score for entry in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(score >= 0 for score in scores)
