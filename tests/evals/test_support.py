from __future__ import annotations

import pytest

from evals.support import is_supported

QUOTE = "The `.spec.backoffLimit` is set by default to 6. Failed Pods are recreated with a delay capped at six minutes."


@pytest.mark.parametrize(
    "claim",
    [
        "By default backoffLimit is 6.",
        "A Job retries six times by default.",
        "The delay is capped at 6 minutes.",
        "Failed Pods are recreated after a delay.",
    ],
)
def test_what_the_quote_says_in_other_words_is_supported(claim: str) -> None:
    assert is_supported(claim, [QUOTE], question="How many times does a Job retry?")


@pytest.mark.parametrize(
    "claim",
    [
        "By default backoffLimit is 5.",
        "The delay is not capped.",
        "Completed Jobs are deleted by the garbage collector of the control plane.",
    ],
)
def test_other_figures_denials_and_subjects_are_not(claim: str) -> None:
    assert not is_supported(claim, [QUOTE], question="How many times does a Job retry?")


def test_bound_is_no_denial() -> None:
    quote = ["Kubernetes supports clusters with up to 5,000 nodes."]
    assert is_supported("No more than 5,000 nodes.", quote)
    assert not is_supported("Kubernetes supports no clusters with 5,000 nodes.", quote)


def test_without_a_quote_nothing_is_supported() -> None:
    assert not is_supported("A Job retries.", [], question="Does a Job retry?")


def test_figures_of_the_question_need_no_support() -> None:
    assert is_supported("On 3 nodes the delay is capped.", [QUOTE], question="And on 3 nodes?")
