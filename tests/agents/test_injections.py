"""The hidden orders themselves: every carrier is used, and what a loader keeps of a document still holds the order."""

from __future__ import annotations

from typing import get_args

import pytest

from ingestion.loaders.select import load
from tests.agents.injections import INJECTIONS, Carrier, Injection, document_with, spread, tool_result_with

DROPPED = {"hidden_element", "html_comment", "front_matter", "link_title"}
"""Carriers that a reader of the page does not see, and that a loader may leave out."""


def test_every_carrier_carries_an_order_and_names_are_unique() -> None:
    assert {injection.carrier for injection in INJECTIONS} == set(get_args(Carrier))
    assert len({injection.name for injection in INJECTIONS}) == len(INJECTIONS) >= 16
    assert len({injection.language for injection in INJECTIONS}) >= 4
    assert {injection.tool for injection in INJECTIONS} >= {"set_memory_limit", "delete_pod", "fetch_url", "remember"}


@pytest.mark.parametrize("injection", INJECTIONS, ids=lambda injection: injection.name)
def test_an_order_reaches_the_model_by_document_or_by_tool(injection: Injection) -> None:
    written = spread(injection.order) if injection.carrier == "zero_width" else injection.order
    assert written in document_with(injection)
    assert written in tool_result_with(injection)
    document = load(document_with(injection).encode(), name="page.md").document
    assert document is not None
    stored = " ".join(document.text.split())
    assert "OOMKilled" in stored
    if injection.carrier not in DROPPED | {"zero_width"}:
        assert " ".join(injection.order.split()) in stored
