from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

from app.cli.presets import parse_preset
from tests.app.command_line import CommandLine, one_sentence
from tests.app.test_cli_documents import small_platform


@pytest.fixture
def groundwork(tmp_path: Path) -> CommandLine:
    home = tmp_path / "home"
    home.mkdir()
    return CommandLine(home, small_platform)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "on-call.json"
    _write(path, "Be brief.")
    return path


def _write(path: Path, words: str) -> None:
    preset = {"description": "For people on call.", "system_prompt": words}
    path.write_text(json.dumps({"groundwork_preset": 1, "name": "on-call", "preset": preset}), encoding="utf-8")


def test_presets_from_the_first_version_to_the_last(groundwork: CommandLine, file: Path, tmp_path: Path) -> None:
    assert groundwork("presets", "save", str(file)).stdout.startswith("on-call version 1 (current), saved ")
    _write(file, "Be thorough.")
    assert groundwork("presets", "save", str(file), "--json").json["version"] == 2
    assert "For people on call." in groundwork("presets", "list").stdout
    lines = groundwork("presets", "history", "on-call").stdout.splitlines()
    assert [line.split(",")[0] for line in lines] == ["on-call version 2 (current)", "on-call version 1"]
    assert "system_prompt:\nBe brief." in groundwork("presets", "show", "on-call", "--version", "1").stdout

    assert groundwork("presets", "use", "on-call", "1").stdout.startswith("on-call version 1 (current)")
    exported = tmp_path / "again.json"
    assert groundwork("presets", "export", "on-call", "-o", str(exported)).stdout == ""
    assert json.loads(exported.read_text(encoding="utf-8")) == groundwork("presets", "export", "on-call").json
    copied = groundwork("presets", "save", str(exported), "--name", "copy", "--json").json
    assert (copied["name"], copied["version"], copied["preset"]["system_prompt"]) == ("copy", 1, "Be brief.")

    assert groundwork("presets", "delete", "on-call").stdout == "Deleted: on-call\n"
    assert [entry["name"] for entry in groundwork("presets", "list", "--json").json["presets"]] == ["copy"]


@pytest.mark.parametrize(
    "words",
    [
        ("show", "none"),
        ("history", "none"),
        ("delete", "none"),
        ("use", "none", "1"),
        ("save", "missing.json"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_exit_code_2(groundwork: CommandLine, words: tuple[str, ...]) -> None:
    outcome = groundwork("presets", *words)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert one_sentence(outcome.stderr)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no preset"),
        ('{"name": "x", "preset": {"colour": "red"}}', "preset.colour"),
        ('{"groundwork_preset": 2, "name": "x", "preset": {}}', "groundwork_preset"),
        ('{"name": "No Name", "preset": {}}', "no name of a preset"),
    ],
)
def test_file_that_is_no_preset_is_refused_with_its_place(
    groundwork: CommandLine, file: Path, text: str, said: str
) -> None:
    file.write_text(text, encoding="utf-8")
    outcome = groundwork("presets", "save", str(file))
    assert (outcome.code, outcome.stdout) == (2, "")
    assert said in outcome.stderr
    assert one_sentence(outcome.stderr)


def test_question_names_a_preset_and_its_version(groundwork: CommandLine) -> None:
    outcome = groundwork("ask", "Why?", "--preset", "none@2")
    assert outcome.code == 2
    assert "no preset 'none'" in outcome.stderr
    assert parse_preset("") == {}
    assert parse_preset("on-call") == {"preset": "on-call"}
    assert parse_preset("on-call@2") == {"preset": "on-call", "preset_version": 2}


@pytest.mark.parametrize("named", ["on-call@", "on-call@0", "on-call@x", "@1", "on-call@-1"])
def test_version_that_is_none_is_refused(named: str) -> None:
    with pytest.raises(typer.BadParameter, match="NAME@VERSION"):
        parse_preset(named)
