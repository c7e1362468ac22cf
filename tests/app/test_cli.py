from __future__ import annotations

import fcntl
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from app.cli.connection import connect
from app.cli.main import build
from app.client import ApiClient
from app.settings import Settings
from tests.app.command_line import CommandLine, one_sentence

ROOT = Path(__file__).parents[2]
PRINTS_NO_RESULT = {
    "up",
    "serve",
    "ui",
    "models verify",
    "approvals audit",
    "grants revoke",
    "mcp remove",
    "mcp login",
    "mcp serve",
    # A question file, a preset file is what they print.
    "eval questions",
    "presets export",
    "presets delete",
}


@asynccontextmanager
async def broken(settings: Settings) -> AsyncGenerator[ApiClient]:
    raise RuntimeError("the pipe burst")
    yield ApiClient("http://localhost")


@pytest.fixture
def groundwork(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home", connect)


def leaves(command: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, child in command.commands.items():
        full = f"{path} {name}".strip()
        if hasattr(child, "commands"):
            yield from leaves(child, full)
        else:
            yield full, child


COMMANDS = dict(leaves(get_command(build())))


def test_commands_of_the_contract_are_there() -> None:
    contract = {
        "up", "ingest", "ask", "search", "status", "doctor", "serve", "ui",
        "documents list", "documents show", "documents delete",
        "models list", "models pull", "models verify", "eval retrieval",
    }  # fmt: skip
    assert contract <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_has_an_example(name: str, groundwork: CommandLine) -> None:
    outcome = groundwork(*name.split(), "--help")
    assert outcome.code == 0
    assert f"Example: groundwork {name}" in " ".join(outcome.stdout.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_that_prints_results_prints_json(name: str) -> None:
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert ("--json" in options) == (name not in PRINTS_NO_RESULT)


def test_help_loads_no_heavy_library() -> None:
    code = (
        "import sys; from app.cli.main import run; run(['--help']);"
        "print(sorted({'numpy', 'pydantic', 'httpx', 'fastapi', 'sqlalchemy', 'openai', 'torch'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "args",
    [
        ("serch", "pods"),
        ("search",),
        ("search", "pods", "--limit", "0"),
        ("search", "pods", "--filter", "team"),
        ("search", " "),
        ("ask", ""),
        ("documents", "show", "1", "--text", "--chunks"),
    ],
)
def test_wrong_usage_is_one_sentence_and_exit_code_2(args: tuple[str, ...], groundwork: CommandLine) -> None:
    outcome = groundwork(*args)
    assert (outcome.code, outcome.stdout) == (2, "")
    assert one_sentence(outcome.stderr), outcome.stderr


def test_unknown_setting_is_one_sentence_and_exit_code_2(tmp_path: Path) -> None:
    config = tmp_path / "groundwork.toml"
    config.write_text("[serch]\nlimit = 3\n", encoding="utf-8")
    outcome = CommandLine(tmp_path, connect, ("--config", str(config)))("status")
    assert outcome.code == 2
    assert outcome.stderr == f"Unknown setting 'serch' in {config}; see .env.example for every setting.\n"


def test_home_that_another_process_has_open_is_one_sentence_and_exit_code_4(
    groundwork: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "home").mkdir()
    with (tmp_path / "home" / "lock").open("w") as lock:
        lock.write("4711")
        lock.flush()
        fcntl.flock(lock, fcntl.LOCK_EX)
        outcome = groundwork("status")
    assert (outcome.code, outcome.stdout) == (4, "")
    assert one_sentence(outcome.stderr)
    assert "is in use by process 4711" in outcome.stderr


def test_home_without_models_is_one_sentence_and_exit_code_4(groundwork: CommandLine) -> None:
    outcome = groundwork("search", "pods")
    assert outcome.code == 4
    assert one_sentence(outcome.stderr)
    assert "groundwork models pull" in outcome.stderr


def test_unexpected_error_is_one_sentence_with_the_log_and_exit_code_1(tmp_path: Path) -> None:
    outcome = CommandLine(tmp_path, broken)("status")
    log = tmp_path / "logs" / "cli.log"
    assert (outcome.code, outcome.stdout) == (1, "")
    assert outcome.stderr == (
        f"An unexpected error ended the command (RuntimeError: the pipe burst); the details are in {log}.\n"
    )
    assert "Traceback" in log.read_text(encoding="utf-8")


def test_debug_shows_the_traceback(tmp_path: Path) -> None:
    outcome = CommandLine(tmp_path, broken, ("--debug",))("status")
    assert outcome.code == 1
    assert "Traceback" in outcome.stderr


def test_closed_output_ends_quietly() -> None:
    command = f"{sys.executable} -m app --help | true"
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert result.stderr == ""


def test_version_is_printed(groundwork: CommandLine) -> None:
    outcome = groundwork("--version")
    assert (outcome.code, outcome.stdout.split()[0]) == (0, "groundwork")
