"""What makes two texts alike, and what keeps them apart however alike they are."""

from __future__ import annotations

import pytest

from retrieval.resemblance import resemblance, say_the_same

LIMIT = (
    "The liveness probe of the orders service is asked every 30 seconds and may fail 3 times before the kubelet "
    "restarts the container, which takes it out of the load balancer until it is ready again."
)


def test_resemblance_counts_runs_of_words_and_nothing_else() -> None:
    assert resemblance("Drain the node first", "**drain**  THE\nnode, first.") == 1.0
    assert resemblance("one two three four", "two three four five") == pytest.approx(1 / 3)
    assert resemblance("pod", "pod") == 1.0
    assert resemblance("pod", "node") == resemblance("", "pod here now") == 0.0


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("30 seconds", "60 seconds"),
        ("30 seconds", "30 minutes"),
        ("3 times", "3.5 times"),
        ("may fail", "may not fail"),
        ("orders service", "orders-v2 service"),
    ],
)
def test_another_figure_unit_name_or_denial_says_something_else(said: str, instead: str) -> None:
    other = LIMIT.replace(said, instead)

    assert other != LIMIT
    assert resemblance(LIMIT, other) > 0.7
    assert not say_the_same(LIMIT, other, threshold=0.7)


@pytest.mark.parametrize(
    "other",
    [
        LIMIT.upper(),
        LIMIT.replace("30 seconds", "**30  seconds**").replace(",", " -"),
        LIMIT.replace("restarts", "starts"),
        f"| {LIMIT} |",
    ],
)
def test_markup_case_and_a_word_make_no_difference(other: str) -> None:
    assert say_the_same(LIMIT, other, threshold=0.7)


def test_a_threshold_above_one_calls_nothing_the_same() -> None:
    assert not say_the_same(LIMIT, LIMIT, threshold=1.1)
