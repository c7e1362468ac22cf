"""What one sentence says is not said of what its neighbour speaks of, unless something joins the two."""

from __future__ import annotations

import pytest

from agents.proof.verdicts import judge
from tests.agents.passages import evidence


def verdict(passage: str, claim: str) -> str:
    return judge(claim, evidence(passage), given=frozenset()).verdict


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (
            "The retention of logs is 14 days. Backups are kept for a longer time in the archive.",
            "Backups are kept for 14 days in the archive.",
        ),
        (
            "Backups are kept for a longer time in the archive. The retention of logs is 14 days.",
            "Backups are kept for 14 days in the archive.",
        ),
        ("The service runs on port 8080. The metrics port is set in the chart.", "The metrics port is 8080."),
        (
            "Four Deployments run in the cluster. The minimum number of replicas is set for each service.",
            "The minimum number of replicas is 4.",
        ),
        (
            "Requests are limited to 256 MiB. The memory limit of the orders service is raised by its owner.",
            "The memory limit of the orders service is 256 MiB.",
        ),
        ("Orders uses PostgreSQL. Billing uses MySQL.", "Billing uses PostgreSQL."),
        (
            "The orders service has a limit of 256 MiB. The billing service has a limit that its team set.",
            "The billing service has a limit of 256 MiB.",
        ),
        ("The primary database runs in Frankfurt. The replica runs in Dublin.", "The replica runs in Frankfurt."),
    ],
)
def test_value_of_another_sentence_is_found_in_part(passage: str, claim: str) -> None:
    assert verdict(passage, claim) == "partial"


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (
            "The platform team owns the pager of the night. The billing database is backed up to the archive.",
            "The platform team backs up the billing database.",
        ),
        (
            "The scheduler places pods on nodes with room. Certificates of the cluster are renewed before they expire.",
            "The scheduler renews certificates of the cluster.",
        ),
        (
            "Alerts of the orders service wake an engineer. Reports about costs are sent to the owner of the team.",
            "Alerts of the orders service are sent to the owner of the team.",
        ),
    ],
)
def test_words_of_two_sentences_that_nothing_joins_are_found_in_part(passage: str, claim: str) -> None:
    assert verdict(passage, claim) == "partial"


@pytest.mark.parametrize(
    ("passage", "claim"),
    [
        (
            "Backups of the billing database run at night. They are kept for 14 days.",
            "Backups of the billing database are kept for 14 days.",
        ),
        (
            "The memory limit of the orders service protects the node. It is 256 MiB.",
            "The memory limit of the orders service is 256 MiB.",
        ),
        (
            "You can set terminationGracePeriodSeconds for the Pod. The default is 30 seconds.",
            "The terminationGracePeriodSeconds for the Pod is 30 seconds by default.",
        ),
        (
            "You can set terminationGracePeriodSeconds for the Pod. If you do not set it, 30 seconds are used.",
            "The terminationGracePeriodSeconds for the Pod is 30 seconds.",
        ),
        (
            "Limits of the orders service:\n\n- memory: 256 MiB\n- CPU: 500m",
            "The memory limit of the orders service is 256 MiB.",
        ),
        (
            "The kubelet restarts a container with a back-off delay. The delay is capped at 5 minutes.",
            "The back-off delay is capped at 5 minutes.",
        ),
        (
            "A ConfigMap stores configuration. Pods consume it as environment variables.",
            "Pods consume a ConfigMap as environment variables.",
        ),
        ("Orders uses PostgreSQL. Billing uses MySQL.", "Orders uses PostgreSQL and billing uses MySQL."),
        (
            "A pod that exceeds its memory limit is OOMKilled. Exit code 137 is shown.",
            "A pod that exceeds its memory limit is OOMKilled with exit code 137.",
        ),
    ],
)
def test_value_of_a_sentence_that_is_joined_is_verified(passage: str, claim: str) -> None:
    assert verdict(passage, claim) == "verified"
