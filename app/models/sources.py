"""What every source of model files shares: when a file counts as there, and how a finished one is accepted."""

from __future__ import annotations

from pathlib import Path

from app.errors import AppError, ModelHashMismatch
from app.models.catalog import PinnedFile
from app.models.files import digest


class SourceFailed(AppError):
    """One source did not deliver; the next one is tried."""


def is_complete(path: Path, file: PinnedFile) -> bool:
    """Whether ``path`` is the pinned file, by size and SHA-256."""
    return path.is_file() and path.stat().st_size == file.size_bytes and digest(path).sha256 == file.sha256


def accept(downloaded: Path, target: Path, file: PinnedFile, *, origin: str) -> None:
    """Move a finished download to its place.

    Raises:
        ModelHashMismatch: It is not the pinned file; it has been deleted, so that another pull can mend it.
    """
    found = digest(downloaded)
    if found != (file.size_bytes, file.sha256):
        downloaded.unlink()
        raise ModelHashMismatch(
            f"{file.path!r} from {origin} was refused: it has {found.size_bytes} bytes and SHA-256 {found.sha256},"
            f" pinned are {file.size_bytes} bytes and {file.sha256}; pull again, or name a path in"
            " models.chat_path or models.embedding_path."
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    downloaded.replace(target)
