from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.tools.builtin.shelf import Shelf
from tools.builtin.calculator import calculator_tool
from tools.builtin.current_time import current_time_tool
from tools.builtin.tools import BuiltInNeeds, built_in_tools
from tools.errors import ToolError
from tools.registry import ToolRegistry
from tools.types import CallContext

CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")
NOW = datetime(2026, 11, 29, 21, 30, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "text", "exact"),
    [("512 * 1.5", "512 * 1.5 = 768", True), (" 2 / 3 ", "2 / 3 ≈ 0.666666666666667", False)],
)
async def test_the_calculator_says_whether_its_result_is_exact(expression: str, text: str, exact: bool) -> None:
    output = await calculator_tool().function({"expression": expression}, CONTEXT)
    assert output.text == text
    assert output.structured is not None
    assert output.structured["exact"] is exact


async def test_the_calculator_says_what_to_write_instead() -> None:
    with pytest.raises(ToolError, match="units"):
        await calculator_tool().function({"expression": "512Mi * 2"}, CONTEXT)


@pytest.mark.parametrize(
    ("timezone", "text", "iso"),
    [
        ("UTC", "Sunday, 29 November 2026, 21:30:05 in UTC (UTC+00:00)", "2026-11-29T21:30:05+00:00"),
        ("Asia/Kolkata", "Monday, 30 November 2026, 03:00:05 in Asia/Kolkata (UTC+05:30)", "2026-11-30T03:00:05+05:30"),
    ],
)
async def test_time_is_told_with_its_zone(timezone: str, text: str, iso: str) -> None:
    output = await current_time_tool(clock=lambda: NOW).function({"timezone": timezone}, CONTEXT)
    assert output.text == f"{text}; ISO 8601: {iso}"
    assert output.structured == {"iso": iso, "timezone": timezone}


@pytest.mark.parametrize(
    ("timezone", "words"),
    [("Europe/Berln", "Europe/Berlin"), ("Europe", "write UTC|did you mean"), ("../../etc/passwd", "UTC"), ("", "UTC")],
)
async def test_an_unknown_time_zone_is_answered_with_one_that_exists(timezone: str, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await current_time_tool(clock=lambda: NOW).function({"timezone": timezone}, CONTEXT)


def test_tools_without_their_needs_are_left_out() -> None:
    shelf = Shelf()
    registry = ToolRegistry(built_in_tools(BuiltInNeeds(searcher=shelf, shelf=shelf, chunks=shelf)))
    assert {name: tool.spec.risk for name, tool in registry.tools().items()} == {
        "calculator": "read",
        "current_time": "read",
        "read_document": "read",
        "review_text": "write",
        "search_documents": "read",
    }
