from __future__ import annotations

import pytest

from agents.queries import MAX_PARTS, parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "How many times does a Job retry, and where is the delay capped?",
            ("How many times does a Job retry", "Job where is the delay capped?"),
        ),
        (
            "A node runs out of disk. Which condition is reported, which taint is added, and with which effect?",
            (
                "A node runs out of disk. Which condition is reported",
                "A node runs out of disk. which taint is added",
                "A node runs out of disk. with which effect?",
            ),
        ),
        (
            "I delete a StatefulSet and later delete its PersistentVolumeClaims. What remains?",
            ("I delete a StatefulSet What remains?", "delete its PersistentVolumeClaims What remains?"),
        ),
        (
            "With FeatureA on in the cluster and maxPeriod set to 100s, what is the first delay?",
            ("FeatureA on in the cluster what is the first delay?", "maxPeriod set to 100s what is the first delay?"),
        ),
        (
            "PodResizePending: difference between reason Infeasible and reason Deferred",
            ("PodResizePending reason Infeasible", "PodResizePending reason Deferred"),
        ),
        (
            "Compare the restart cap of the kubelet with the one of Velero.",
            ("the restart cap of the kubelet", "the restart cap of the kubelet the one of Velero"),
        ),
    ],
)
def test_question_for_several_things_has_a_query_for_each(question: str, parts: tuple[str, ...]) -> None:
    assert parts_of(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "What is the maximum size of the data stored in one ConfigMap?",
        "If a workload burns more processor time than it was granted, does the platform kill it?",
        "At the 2011 census, what was the population of the city?",
        "The Jump is a series about winter sports, which is on Channel 4, who hosts it?",
        "Init:CrashLoopBackOff",
        "",
        "What is it and why?",
        "log line and where " * 100,
    ],
)
def test_question_for_one_thing_has_no_parts(question: str) -> None:
    assert parts_of(question) == ()


def test_parts_are_bounded() -> None:
    question = "What is a Pod, and what is a Job, and what is a Node, and what is a Service, and what is a Secret?"
    assert len(parts_of(question)) <= MAX_PARTS
