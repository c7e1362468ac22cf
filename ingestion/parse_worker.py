"""Child process that parses files: one task at a time, under a memory limit, until its parent ends.

Started by ``ingestion/workers.py``, which gives it a connection, its process id and a limit in bytes. Loads the loaders
and no model. What a parsing library does to this process, it does to this process alone.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import resource
import signal
import sys
import traceback
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import ChildFile, LoadOptions
from ingestion.loaders.select import all_loaders, load
from ingestion.reading import read_file
from ingestion.types import FailureReason, ParsedDocument

_PR_SET_PDEATHSIG = 1
"""prctl(2)."""


@dataclass(frozen=True, slots=True)
class ParseTask:
    """One file to parse.

    Attributes:
        path: Where its bytes are.
        name: Its name, for its ending and as a last title.
        max_bytes: Larger files are refused.
        options: Choices that shape the result.
        spill: Folder that files inside this one are written to; made when there are any.
    """

    path: Path
    name: str
    max_bytes: int
    options: LoadOptions
    spill: Path


@dataclass(frozen=True, slots=True)
class SpilledFile:
    """A file inside another one; its bytes lie at ``path`` unless it failed, then ``reason`` and ``detail`` say why."""

    name: str
    path: Path | None
    reason: FailureReason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class ParseResult:
    """What became of a task.

    Attributes:
        sha256: Hash of the bytes that were parsed, hex; empty when they could not be read.
        size_bytes: Their number.
        document: What was made of them; None for a failure, and for a file that only holds others.
        children: Files inside.
        reason: Why it failed; None when it did not.
        detail: One sentence for a person, with the reason.
        trace: Traceback of an error that no loader foresaw, for the log.
    """

    sha256: str = ""
    size_bytes: int = 0
    document: ParsedDocument | None = None
    children: tuple[SpilledFile, ...] = ()
    reason: FailureReason | None = None
    detail: str = ""
    trace: str = field(default="", repr=False)


def parse(task: ParseTask) -> ParseResult:
    """Read and parse one file; every failure is a result."""
    sha256, size_bytes = "", 0
    try:
        data = read_file(task.path, max_bytes=task.max_bytes)
        sha256, size_bytes = hashlib.sha256(data).hexdigest(), len(data)
        loaded = load(data, name=task.name, options=task.options)
        children = _spill(loaded.children, task.spill)
        return ParseResult(sha256, size_bytes, loaded.document, children)
    except LoadFailed as error:
        return ParseResult(sha256, size_bytes, reason=error.reason, detail=error.detail)
    except MemoryError:
        return ParseResult(sha256, size_bytes, reason="out_of_memory", detail=OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 - the border of one file: whatever a library raises is its failure alone
        detail = f"The file could not be parsed ({type(error).__name__}); the log has the details."
        return ParseResult(
            sha256, size_bytes, reason="internal_error", detail=detail, trace="".join(traceback.format_exception(error))
        )


OUT_OF_MEMORY = "Parsing needs more memory than ingestion.parse_memory_bytes allows; raise it or split the file."


READY = "ready"
"""First message of a child: its time is counted from here."""


def main() -> None:
    """Answer tasks until the parent closes the connection or ends."""
    descriptor, parent, memory_bytes = (int(argument) for argument in sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return
    sys.setrecursionlimit(10_000)
    resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    all_loaders()
    with Connection(descriptor) as connection:
        connection.send(READY)
        while True:
            try:
                task: ParseTask = connection.recv()
            except EOFError:
                return
            _answer(connection, parse(task))


def _answer(connection: Connection, result: ParseResult) -> None:
    try:
        connection.send(result)
    except MemoryError:
        connection.send(ParseResult(result.sha256, result.size_bytes, reason="out_of_memory", detail=OUT_OF_MEMORY))


def _spill(children: tuple[ChildFile, ...], folder: Path) -> tuple[SpilledFile, ...]:
    """Write the files inside to disk, numbered: their names are anybody's."""
    if children:
        folder.mkdir(parents=True)
    spilled: list[SpilledFile] = []
    for number, child in enumerate(children):
        if child.reason is not None:
            spilled.append(SpilledFile(child.name, None, child.reason, child.detail))
            continue
        path = folder / str(number)
        path.write_bytes(child.data)
        spilled.append(SpilledFile(child.name, path))
    return tuple(spilled)
