from __future__ import annotations

import pytest

from evals.answer_match import missing_items


@pytest.mark.parametrize(
    ("answer", "item"),
    [
        ("The default is **six**.", "6||six"),
        ("It defaults to `6`.", "6||six"),
        ("Run it with `--grace-period=0`\nand `--force`.", "--grace-period=0 and --force"),
        ("Sizes up to 1  MiB.", "1 mib"),
        ("(137)", "137"),
        ("Exit code 137. Nothing else.", "137"),
    ],
)
def test_marks_case_and_white_space_do_not_count(answer: str, item: str) -> None:
    assert missing_items(answer, [item]) == []


@pytest.mark.parametrize(
    "answer", ["It is 16.", "It is 6.5 seconds.", "Since v1.6 it is so.", "It is 6,000.", "Five [6]."]
)
def test_digits_must_stand_as_a_whole_number_and_citations_are_none(answer: str) -> None:
    assert missing_items(answer, ["6"]) == ["6"]


def test_every_item_must_be_there_and_those_that_are_not_are_named() -> None:
    assert missing_items("rounds up", ["rounded up||rounds up", "rounded down", "up"]) == ["rounded down"]


def test_an_index_in_code_is_no_citation() -> None:
    assert missing_items("Look at containers[0] [1].", ["containers[0]"]) == []
