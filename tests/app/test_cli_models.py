from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.cli.connection import connect
from tests.app.command_line import CommandLine, one_sentence

EMBEDDING = "sentence-transformers/all-MiniLM-L6-v2"


def offline(tmp_path: Path) -> CommandLine:
    config = tmp_path / "groundwork.toml"
    config.write_text("[models]\noffline = true\n", encoding="utf-8")
    return CommandLine(tmp_path / "home", connect, ("--config", str(config)))


def test_pull_that_no_source_serves_is_one_sentence_and_exit_code_4(tmp_path: Path) -> None:
    outcome = offline(tmp_path)("models", "pull", EMBEDDING)
    assert (outcome.code, outcome.stdout) == (4, "")
    assert one_sentence(outcome.stderr)


def test_model_that_nobody_pinned_is_one_sentence_and_exit_code_4(tmp_path: Path) -> None:
    outcome = offline(tmp_path)("models", "pull", "gpt-9")
    assert outcome.code == 4
    assert one_sentence(outcome.stderr)
    assert "'gpt-9'" in outcome.stderr


def test_verify_of_a_missing_model_is_exit_code_4(tmp_path: Path) -> None:
    outcome = offline(tmp_path)("models", "verify", EMBEDDING)
    assert outcome.code == 4
    assert "groundwork models pull" in outcome.stderr


@pytest.mark.model
def test_file_that_is_not_what_is_pinned_is_named_with_exit_code_2(tmp_path: Path, model_home: Path) -> None:
    folder = tmp_path / "home" / "models" / EMBEDDING.replace("/", "--")
    shutil.copytree(model_home / "models" / folder.name, folder)
    groundwork = offline(tmp_path)
    assert groundwork("models", "verify", EMBEDDING).code == 0
    weights = folder / "model.safetensors"
    with weights.open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)
        file.seek(-1, 2)
        file.write(bytes([last[0] ^ 1]))
    outcome = groundwork("models", "verify", EMBEDDING)
    assert (outcome.code, outcome.stdout) == (2, "")
    said = outcome.stderr.splitlines(keepends=True)[-1]
    assert one_sentence(said)
    assert str(weights) in said
    assert groundwork("models", "verify", EMBEDDING).code == 4
