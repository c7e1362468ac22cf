"""Processes that parse: each file has a time and a memory limit, and none can take the run down.

A worker is a child process and the thread that watches it. Parsers hang, eat memory and crash; then the child is
killed, the file has its reason, and the next task gets a fresh child. Knows no store, no ledger, no model.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Self

from ingestion.parse_worker import OUT_OF_MEMORY, READY, ParseResult, ParseTask

_CHILD = "ingestion.parse_worker"
_POLL_SECONDS = 0.05
"""How often the memory of a busy child is looked at."""
_START_SECONDS = 120.0
"""Time for a child to load its code, on a machine that is busy."""
_NO_START = "The process that parses did not start in time; try again when the machine is less busy."
_STACKS_BYTES = 256 * 1024 * 1024
"""Room above the limit for code, thread stacks and the interpreter itself, which count as the child's data."""
_RETIRE_SHARE = 0.5
"""A child that still holds this share of its limit after a task is replaced: what fragmented is given back."""
_STARVED_SHARE = 0.8
"""A child that crashed with this share of its limit in use has crashed because an allocation was refused."""
_CRASHED = "The parser crashed on this file ({signal}); it is probably damaged."
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


class ParsePool:
    """Parses files in child processes, several at a time. Safe from several threads; close it, or use ``with``.

    Children start with the first task and end with the pool, or with this process, however that ends.
    """

    def __init__(self, *, workers: int, timeout_seconds: float, memory_bytes: int, module: str = _CHILD) -> None:
        self._module = module
        self._timeout_seconds = timeout_seconds
        self._memory_bytes = memory_bytes
        self._threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="parse")
        self._own = threading.local()
        self._children: set[_Child] = set()
        self._lock = threading.Lock()
        self._closed = False

    def submit(self, task: ParseTask) -> Future[ParseResult]:
        """Queue a task; its future always has a result, also for a file that killed its child."""
        return self._threads.submit(self._run, task)

    def close(self) -> None:
        """Kill the children and end the threads; tasks that were not done end with ``internal_error``."""
        with self._lock:
            self._closed = True
            children = list(self._children)
        for child in children:
            child.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for child in children:
            child.close()

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the pool."""
        self.close()

    def _run(self, task: ParseTask) -> ParseResult:
        child: _Child | None = getattr(self._own, "child", None)
        if child is None or not child.usable:
            child = self._own.child = self._replace(child)
        if child is None:
            return ParseResult(reason="internal_error", detail="The ingest was stopped before this file was parsed.")
        return child.run(task, self._timeout_seconds)

    def _replace(self, old: _Child | None) -> _Child | None:
        """A fresh child; None once the pool is closed."""
        with self._lock:
            if old is not None:
                old.close()
                self._children.discard(old)
            if self._closed:
                return None
            child = _Child(self._module, self._memory_bytes)
            self._children.add(child)
            return child


class _Child:
    """One child process; used by one thread, killed by any."""

    def __init__(self, module: str, memory_bytes: int) -> None:
        self._memory_bytes = memory_bytes
        ours, theirs = socket.socketpair()
        with theirs:
            # A session of its own, so that a kill also ends what a parser has started.
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "-c",
                    # Not -m: classes of a module that runs as the main one cannot be sent to another process.
                    f"from {module} import main; main()",
                    str(theirs.fileno()),
                    str(os.getpid()),
                    str(memory_bytes + _STACKS_BYTES),
                ],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "OMP_THREAD_LIMIT": "1"},
                start_new_session=True,
            )
        self._connection = Connection(ours.detach())
        self._ready = False
        self.usable = True
        """Whether the child can take another task."""

    def run(self, task: ParseTask, timeout_seconds: float) -> ParseResult:
        """Result of one task; the child is not usable after one that it did not end by itself."""
        largest = 0
        try:
            if not self._ready and not self._connection.poll(_START_SECONDS):
                self.kill()
                return ParseResult(reason="internal_error", detail=_NO_START)
            self._ready = self._ready or self._connection.recv() == READY
            self._connection.send(task)
            deadline = time.monotonic() + timeout_seconds
            while not self._connection.poll(_POLL_SECONDS):
                if time.monotonic() > deadline:
                    self.kill()
                    detail = f"Parsing took longer than {timeout_seconds:g} s (ingestion.parse_timeout_seconds)."
                    return ParseResult(reason="timeout", detail=detail)
                largest = max(largest, resident_bytes(self._process.pid))
                if largest > self._memory_bytes:
                    self.kill()
                    return ParseResult(reason="out_of_memory", detail=OUT_OF_MEMORY)
            result: ParseResult = self._connection.recv()
        except (EOFError, OSError):
            self.usable = False
            return _post_mortem(self._process.wait(), starved=largest > _STARVED_SHARE * self._memory_bytes)
        if resident_bytes(self._process.pid) > _RETIRE_SHARE * self._memory_bytes:
            self.kill()
        return result

    def kill(self) -> None:
        """End the child and what it started, at once."""
        self.usable = False
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """Reap the child and close its connection."""
        self.kill()
        self._process.wait()
        self._connection.close()


def resident_bytes(process_id: int) -> int:
    """Main memory that a process has; 0 where the system does not tell or the process is gone."""
    try:
        return int(Path(f"/proc/{process_id}/statm").read_bytes().split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0


def _post_mortem(code: int, *, starved: bool) -> ParseResult:
    """What a dead child's exit status says of its file; SIGKILL by somebody else is the kernel short of memory."""
    if code == -signal.SIGKILL or (code < 0 and starved):
        return ParseResult(reason="out_of_memory", detail=OUT_OF_MEMORY)
    if code < 0:
        return ParseResult(reason="corrupt", detail=_CRASHED.format(signal=signal.Signals(-code).name))
    detail = f"The process that parses ended by itself (exit code {code}); report the file, and try it alone."
    return ParseResult(reason="internal_error", detail=detail)
