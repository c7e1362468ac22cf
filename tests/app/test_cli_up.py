from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(400),
    pytest.mark.skipif(sys.platform != "linux", reason="reads processes from /proc"),
]


@pytest.fixture
def home(tmp_path: Path, model_home: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "models").symlink_to(model_home / "models", target_is_directory=True)
    return folder


@contextmanager
def up(home: Path, *args: str) -> Generator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "app", "--home", str(home), "up", "--no-browser", *args]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], words: str) -> str:
    assert process.stdout
    seen: list[str] = []
    for line in process.stdout:
        seen.append(line)
        if words in line:
            return "".join(seen)
    raise AssertionError("".join(seen))


def address(text: str, name: str) -> str:
    found = re.search(rf"^ +{name} +(http\S+)$", text, flags=re.MULTILINE)
    assert found, text
    return found[1]


def descendants(pid: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (parent := parent_of(int(entry.name))) is not None:
            children.setdefault(parent, []).append(int(entry.name))
    found: set[int] = set()
    left = [pid]
    while left:
        new = children.get(left.pop(), [])
        found.update(new)
        left += new
    return found


def parent_of(pid: int) -> int | None:
    try:
        state, parent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:2]
    except OSError:
        return None
    return None if state == "Z" else int(parent)


def alive(pids: set[int]) -> set[int]:
    return {pid for pid in pids if parent_of(pid) is not None}


def groundwork(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "--home", str(home), *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_up_is_ready_with_the_handbook_serves_commands_and_leaves_no_process(home: Path) -> None:
    with up(home, "--port", "0", "--ui-port", "0") as process:
        said = read_until(process, "Ctrl-C ends everything.")
        assert "Groundwork is ready." in said
        assert httpx.get(f"{address(said, 'Chat')}/_stcore/health", trust_env=False).is_success
        assert httpx.get(f"{address(said, 'API')}/readyz", trust_env=False).json()["ready"] is True

        status = json.loads(groundwork(home, "status", "--json").stdout)
        assert status["consistent"] is True
        assert [info["name"] for info in status["collections"]] == ["handbook"]

        second = groundwork(home, "up", "--no-browser")
        assert second.returncode == 4
        assert second.stderr.startswith("Groundwork already runs for this home at http://")

        pids = descendants(process.pid)
        assert len(pids) >= 3, "the API, its model server and the UI"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    assert alive(pids) == set()
    assert not (home / "api.json").exists()


def test_killed_up_leaves_no_process(home: Path) -> None:
    with up(home, "--port", "0", "--ui-port", "0", "--no-samples") as process:
        read_until(process, "Ctrl-C ends everything.")
        pids = descendants(process.pid)
        assert len(pids) >= 3
        handles = [os.pidfd_open(pid) for pid in pids]
        process.kill()
        process.wait()
        for handle in handles:
            wait_for_end(handle)
    assert alive(pids) == set()


def wait_for_end(handle: int) -> None:
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    ended = poller.poll(30_000)
    os.close(handle)
    assert ended, "a process outlived up"


def test_taken_port_is_refused_before_anything_starts(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        outcome = groundwork(home, "up", "--no-browser", "--ui-port", str(port))
    assert (outcome.returncode, outcome.stdout) == (4, "")
    assert outcome.stderr == (
        f"Port {port} on 127.0.0.1 cannot be used (Address already in use); choose another with --ui-port.\n"
    )
    assert not (home / "logs").exists()
