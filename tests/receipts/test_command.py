"""``groundwork verify`` with original files alone: exit codes, and that no home is made or opened."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.cli.connection import connect
from tests.app.command_line import CommandLine, one_sentence
from tests.receipts.conftest import FILES, Exported, copy_originals


@pytest.fixture
def groundwork(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "no-home", connect)


@pytest.fixture
def file(exported: Exported, tmp_path: Path) -> Path:
    path = tmp_path / "answer.receipt.json"
    path.write_text(exported.receipt.model_dump_json(indent=2), encoding="utf-8")
    return path


def test_exit_codes_say_what_became_of_the_answer(groundwork: CommandLine, file: Path, tmp_path: Path) -> None:
    originals = copy_originals(tmp_path / "originals")
    holds = groundwork("verify", str(file), "--originals", str(originals))
    assert (holds.code, holds.stderr) == (0, "")
    assert holds.stdout.startswith("# Everything holds.\n")
    assert "1. **holds** (verified): Feature flags" in holds.stdout
    (originals / FILES[3]).unlink()
    changed = groundwork("verify", str(file), "--originals", str(originals), "--json")
    assert (changed.code, changed.json["state"]) == (3, "changed")
    assert [entry["state"] for entry in changed.json["sentences"]][3] == "changed"
    raw = json.loads(file.read_text(encoding="utf-8"))
    raw["claims"][0]["verdict"] = "partial"
    file.write_text(json.dumps(raw), encoding="utf-8")
    altered = groundwork("verify", str(file), "--originals", str(originals), "--json")
    assert altered.code == 5
    assert [entry["number"] for entry in altered.json["sentences"] if entry["state"] == "altered"] == [1]
    assert not groundwork.home.exists()


@pytest.mark.parametrize("content", ["", "{}", "not a receipt"])
def test_what_is_no_receipt_is_one_sentence_and_exit_code_2(
    groundwork: CommandLine, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "other.json"
    file.write_text(content, encoding="utf-8")
    outcome = groundwork("verify", str(file), "--originals", str(tmp_path))
    assert (outcome.code, outcome.stdout) == (2, "")
    assert one_sentence(outcome.stderr), outcome.stderr


def test_without_home_and_originals_the_way_out_is_named(groundwork: CommandLine, file: Path) -> None:
    outcome = groundwork("verify", str(file))
    assert outcome.code == 2
    assert "--originals DIR" in outcome.stderr
    assert not groundwork.home.exists()
