"""Files of the model store: hashing, the lock, and disk errors as one sentence. Knows no model and no source."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import shutil
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple

from app.errors import HomeUnwritable

BLOCK_BYTES = 1024 * 1024
_DISK_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EFBIG})


class PullProgress(NamedTuple):
    """How far the pull of a model is; ``total_bytes`` is the size of the download."""

    model: str
    step: str
    """What happens now, for a person: ``hub``, ``mirror``, ``verify`` or ``export``."""
    done_bytes: int
    total_bytes: int


OnProgress = Callable[[PullProgress], None]


class FileDigest(NamedTuple):
    """Size and SHA-256 of a file."""

    size_bytes: int
    sha256: str


def digest(path: Path) -> FileDigest:
    """Size and SHA-256 of the file at ``path``."""
    with path.open("rb") as file:
        return FileDigest(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def range_digest(stream: BinaryIO, limit_bytes: int) -> FileDigest:
    """Size and SHA-256 of at most ``limit_bytes`` from the stream's position on, which moves behind them."""
    return _digest_blocks(_blocks(stream, limit_bytes))


def copy_blocks(source: IO[bytes], target: BinaryIO, limit_bytes: int) -> FileDigest:
    """Copy at most ``limit_bytes``; size and SHA-256 of what was copied."""

    def written() -> Iterator[bytes]:
        for block in _blocks(source, limit_bytes):
            target.write(block)
            yield block

    return _digest_blocks(written())


@contextmanager
def disk_errors(folder: Path) -> Generator[None]:
    """Turn errors of a full or unwritable disk inside the block into ``HomeUnwritable``."""
    try:
        yield
    except OSError as error:
        if error.errno not in _DISK_ERRNOS:
            raise
        raise HomeUnwritable(_describe(folder, error.errno)) from error


def require_space(folder: Path, needed_bytes: int) -> None:
    """Return when ``folder`` exists and has room.

    Raises:
        HomeUnwritable: The disk that holds ``folder`` has less than ``needed_bytes`` left.
    """
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        free_bytes = shutil.disk_usage(folder).free
    if free_bytes < needed_bytes:
        raise HomeUnwritable(
            f"The disk that holds {str(folder)!r} has {free_bytes / 1e9:.1f} GB left and {needed_bytes / 1e9:.1f} GB"
            " are needed; make room or set GROUNDWORK_HOME to another disk."
        )


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the exclusive lock on ``path``; waits for the process that has it. Any exit frees it, a kill too."""
    with disk_errors(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _describe(folder: Path, number: int | None) -> str:
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return f"The disk that holds {str(folder)!r} is full; make room or set GROUNDWORK_HOME to another disk."
    return f"The folder {str(folder)!r} cannot be written; change its permissions or set GROUNDWORK_HOME."


def _blocks(stream: IO[bytes], limit_bytes: int) -> Iterator[bytes]:
    left = limit_bytes
    while left and (block := stream.read(min(BLOCK_BYTES, left))):
        yield block
        left -= len(block)


def _digest_blocks(blocks: Iterator[bytes]) -> FileDigest:
    hasher = hashlib.sha256()
    size_bytes = 0
    for block in blocks:
        hasher.update(block)
        size_bytes += len(block)
    return FileDigest(size_bytes, hasher.hexdigest())
