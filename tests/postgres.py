"""A throw-away PostgreSQL from the system's own binaries, on a unix socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

_SUPERUSER = "groundwork"
_START_SECONDS = 60.0
_LOSSY = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")
"""Settings for tests in which the machine does not fail: commits wait for no disk."""


class PostgresMissing(Exception):
    """The binaries are not installed."""


class _Identity(TypedDict, total=False):
    """Arguments of ``subprocess`` that change the user; empty keeps it."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Postgres:
    """A running cluster that trusts whoever may open its socket."""

    sockets: Path

    def url(self, database: str = "postgres") -> str:
        """SQLAlchemy URL of one database."""
        return f"postgresql+asyncpg://{_SUPERUSER}@/{database}?host={self.sockets}"


@contextmanager
def postgres_cluster(*, durable: bool = False) -> Generator[Postgres]:
    """A fresh cluster, stopped and removed at the end.

    Args:
        durable: Commits wait for the disk, as in production; needed where processes are killed.

    Raises:
        PostgresMissing: No ``initdb`` is installed.
    """
    binaries = _binaries()
    identity = _unprivileged()
    folder = Path(tempfile.mkdtemp(prefix="gw-pg-"))
    try:
        if "user" in identity and "group" in identity:
            os.chown(folder, identity["user"], identity["group"])
        data = folder / "data"
        initdb = [binaries / "initdb", "-D", data, "-U", _SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        _run([*map(str, initdb), "--no-sync", "--no-instructions"], folder, identity)
        options = [f"unix_socket_directories={folder}", "listen_addresses=", "max_connections=200"]
        options += () if durable else _LOSSY
        command = [str(binaries / "postgres"), "-D", str(data)]
        for option in options:
            command += ["-c", option]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **identity)
        try:
            _wait_until_ready(binaries, folder, server)
            yield Postgres(folder)
        finally:
            server.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _binaries() -> Path:
    """Folder of the newest installed server; Debian keeps them outside ``PATH``."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    if on_path is None:
        raise PostgresMissing("no PostgreSQL server is installed; install Debian's package postgresql")
    return Path(on_path).resolve().parent


def _unprivileged() -> _Identity:
    """Who runs the server: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    user = names.get("postgres") or names["nobody"]
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _run(command: list[str], folder: Path, identity: _Identity) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, **identity)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stderr.strip()}")


def _wait_until_ready(binaries: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    probe = [str(binaries / "pg_isready"), "-q", "-h", str(folder), "-d", "postgres", "-U", _SUPERUSER]
    deadline = time.monotonic() + _START_SECONDS
    while subprocess.run(probe, check=False).returncode:
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start: {(folder / 'log').read_text(errors='replace')[-2000:]}")
        time.sleep(0.05)
