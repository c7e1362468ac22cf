"""Who owns a home: a lock that dies with its process, and the file that says where the owner's API listens."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import shutil
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from app.errors import HomeLocked, HomeUnwritable
from app.home import Home

MIN_FREE_BYTES = 128_000_000
"""An empty embedded store may grow by as much before it makes a new file."""

_ATTEMPTS = 4
_RETRY_SECONDS = 0.05
"""A process that only asks who owns the home holds a shared lock for an instant; that is not a reason to refuse."""


class ApiAddress(BaseModel):
    """What ``api.json`` holds: the API that runs for a home."""

    model_config = ConfigDict(frozen=True)

    url: str
    pid: int
    token: str
    """Proof of being on this machine as this user; sent as ``X-Groundwork-Token``."""


@asynccontextmanager
async def lock_home(home: Home) -> AsyncGenerator[None]:
    """Own the home until the context ends.

    Raises:
        HomeLocked: Another process owns it; the message names the process and, if it serves one, its API.
        HomeUnwritable: The folders cannot be created.
    """
    with writing_to(home):
        for folder in (home.root, home.models, home.store, home.uploads, home.logs):
            folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(home.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        await _acquire(descriptor, home)
        with writing_to(home):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


def running_api(home: Home) -> ApiAddress | None:
    """The API that runs for this home now; None when there is none, also when a killed one left its file behind."""
    address = _read_address(home)
    if address is None or not _alive(address.pid) or not _is_locked(home):
        return None
    return address


@contextmanager
def announced_api(home: Home, address: ApiAddress) -> Generator[None]:
    """Tell other processes of this user where the API listens, until the context ends."""
    with writing_to(home):
        home.api_file.unlink(missing_ok=True)
        descriptor = os.open(home.api_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(address.model_dump_json())
    try:
        yield
    finally:
        home.api_file.unlink(missing_ok=True)


@contextmanager
def writing_to(home: Home) -> Generator[None]:
    """Turn a failing write under the home into ``HomeUnwritable``."""
    try:
        yield
    except OSError as error:
        remedy = "free some disk space" if error.errno == errno.ENOSPC else "make it writable or set GROUNDWORK_HOME"
        raise HomeUnwritable(f"Cannot write to the home {str(home.root)!r} ({error.strerror}); {remedy}.") from error


def require_space(home: Home) -> None:
    """Raise ``HomeUnwritable`` while the disk is nearly full.

    The embedded store maps sparse files into memory; a write to them that finds no block ends the process by a signal,
    which no error handler can turn into a sentence.
    """
    free_bytes = shutil.disk_usage(home.root).free
    if free_bytes < MIN_FREE_BYTES:
        raise HomeUnwritable(
            f"The disk of the home {str(home.root)!r} has {free_bytes // 1_000_000} MB left and "
            f"{MIN_FREE_BYTES // 1_000_000} MB are needed; free some, or set GROUNDWORK_HOME to another disk."
        )


async def _acquire(descriptor: int, home: Home) -> None:
    for attempt in range(_ATTEMPTS):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if attempt < _ATTEMPTS - 1:
                await asyncio.sleep(_RETRY_SECONDS)
    raise HomeLocked(_locked_message(home))


def _locked_message(home: Home) -> str:
    address = _read_address(home)
    owner = _read(home.lock) or "unknown"
    if address is not None and str(address.pid) == owner:
        return (
            f"The home {str(home.root)!r} is in use by process {owner}, whose API is at {address.url}; "
            "use that API, or stop the process and try again."
        )
    return f"The home {str(home.root)!r} is in use by process {owner}; wait until it has ended, or stop it."


def _read_address(home: Home) -> ApiAddress | None:
    try:
        return ApiAddress.model_validate_json(_read(home.api_file))
    except ValidationError:
        return None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_locked(home: Home) -> bool:
    try:
        descriptor = os.open(home.lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
