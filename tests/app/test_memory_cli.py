from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.command_line import CommandLine, one_sentence
from tests.app.test_cli_documents import small_platform


@pytest.fixture
def groundwork(tmp_path: Path) -> CommandLine:
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home, small_platform)


def test_facts_from_the_first_to_the_last(groundwork: CommandLine) -> None:
    added = groundwork("memory", "add", "I am on call for orders-api.", "--json").json
    assert (added["text"], added["pinned"]) == ("I am on call for orders-api.", False)
    assert groundwork("memory", "edit", added["fact_id"], "--pin").stdout.endswith("orders-api. (pinned)\n")
    edited = groundwork("memory", "edit", added["fact_id"], "--text", "I am on call next week.", "--json").json
    assert (edited["text"], edited["pinned"]) == ("I am on call next week.", True)
    assert "I am on call next week." in groundwork("memory", "list").stdout
    assert [fact["fact_id"] for fact in groundwork("memory", "list", "--json").json["facts"]] == [added["fact_id"]]
    assert groundwork("memory", "delete", added["fact_id"]).stdout == "Forgotten: I am on call next week.\n"
    assert groundwork("memory", "list", "--json").json["facts"] == []


@pytest.mark.parametrize(
    "words", [("delete", "abc"), ("edit", "abc", "--pin"), ("edit", "abc"), ("add", "  "), ("add", "x" * 500)]
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(groundwork: CommandLine, words: tuple[str, ...]) -> None:
    outcome = groundwork("memory", *words)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert one_sentence(outcome.stderr)
