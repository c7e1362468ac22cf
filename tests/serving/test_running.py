from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from app.errors import ProcessFailed
from app.serving.environment import EngineEnvironment
from app.serving.errors import EngineMissing
from app.serving.running import follow_log, run_server
from tests.app.test_supervisor import server, until


async def test_server_is_shown_while_it_runs_and_ends_with_one_signal(tmp_path: Path) -> None:
    spec = server(tmp_path, "model server")
    spec.log_path.write_text("an older start\n")
    events: list[str] = []
    lines: list[str] = []
    ready: list[bool] = []

    def stop_when_ready() -> None:
        ready.append(True)
        os.kill(os.getpid(), signal.SIGINT)

    async with asyncio.timeout(60):
        await run_server(spec, on_event=events.append, on_ready=stop_when_ready, on_log=lines.append)
    assert ready == [True]
    assert events == ["Stopping the model server; Ctrl-C again ends it at once."]
    assert "an older start" not in lines


async def test_server_that_does_not_start_fails_with_its_last_words(tmp_path: Path) -> None:
    spec = server(tmp_path, "model server", code="import sys; sys.exit('no such model')")
    with pytest.raises(ProcessFailed, match="The model server did not start: no such model"):
        await run_server(spec, on_event=lambda _: None, on_ready=lambda: None, on_log=None)


async def test_log_is_handed_on_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"old\nnew ")
    lines: list[str] = []
    follow = asyncio.create_task(follow_log(path, lines.append, position=4))
    with path.open("ab") as log:
        log.write(b"li\xc3")
        log.flush()
        log.write(b"\xa9ne\nnext\n")
    await until(lambda: len(lines) == 2)
    follow.cancel()
    assert lines == ["new liéne", "next"]


def test_environment_of_somebody_else_is_used_and_never_made(tmp_path: Path) -> None:
    missing = EngineEnvironment(tmp_path / "none", None)
    with pytest.raises(EngineMissing, match=r"correct serving\.engine_path"):
        missing.make(say=lambda _: None, log_path=tmp_path / "log")
    (tmp_path / "own" / "bin").mkdir(parents=True)
    (tmp_path / "own" / "bin" / "python").symlink_to(sys.executable)
    assert EngineEnvironment(tmp_path / "own", None).ready


def test_environment_is_made_once_and_again_when_its_pins_change(tmp_path: Path) -> None:
    pins = tmp_path / "engine.txt"
    pins.write_text("# nothing to install\n")
    engine = EngineEnvironment(tmp_path / "engine", pins)
    said: list[str] = []
    engine.make(say=said.append, log_path=tmp_path / "log")
    assert engine.ready
    engine.make(say=said.append, log_path=tmp_path / "log")
    assert len(said) == 1
    pins.write_text("./no-such-wheel.whl\n")
    assert not engine.ready
    with pytest.raises(EngineMissing, match="PIP_EXTRA_INDEX_URL"):
        engine.make(say=said.append, log_path=tmp_path / "log")
    assert not engine.ready
