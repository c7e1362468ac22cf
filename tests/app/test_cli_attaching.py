from __future__ import annotations

import pytest
import typer

from app.cli.attaching import PromptToFill, parse_prompt
from app.tool_schema import PromptLine, PromptText, ResourcePiece


def test_prompt_and_its_arguments_are_understood() -> None:
    choice = parse_prompt("notes/sum_up", ["style=short", "of=a=b"])
    assert choice == PromptToFill("notes", "sum_up", {"style": "short", "of": "a=b"})
    assert parse_prompt("", []) is None


@pytest.mark.parametrize(
    ("named", "pairs", "hint"),
    [("", ["a=b"], "--arg"), ("notes", [], "--prompt"), ("/x", [], "--prompt"), ("notes/x", ["a"], "--arg")],
)
def test_what_is_missing_is_named(named: str, pairs: list[str], hint: str) -> None:
    with pytest.raises(typer.BadParameter) as raised:
        parse_prompt(named, pairs)
    assert raised.value.param_hint == hint


def test_question_of_a_prompt_leaves_resources_out_and_says_who_speaks() -> None:
    piece = ResourcePiece(uri="x://1", media_type="text/plain", text="words")
    lines = [PromptLine(role="user", text="Look."), PromptLine(role="user", text="[resource x://1]", resource=piece)]
    filled = PromptText(server="notes", name="x", messages=lines)
    assert filled.question == "Look."
    assert filled.resources == [piece]
    both = PromptText(server="notes", name="x", messages=[*lines[:1], PromptLine(role="assistant", text="Done.")])
    assert both.question == "User: Look.\n\nAssistant: Done."
