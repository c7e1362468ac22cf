"""Bytes of a file, up to a limit."""

from __future__ import annotations

from pathlib import Path

from ingestion.errors import LoadFailed


def read_file(path: Path, *, max_bytes: int) -> bytes:
    """The whole file.

    Raises:
        LoadFailed: ``not_found``, ``unreadable``, or ``too_large`` for one of more than ``max_bytes``.
    """
    try:
        with path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise LoadFailed("not_found", "The file is gone.") from error
    except OSError as error:
        raise LoadFailed("unreadable", f"The file cannot be read ({error.strerror}).") from error
    if len(data) > max_bytes:
        raise LoadFailed("too_large", f"The file is larger than {max_bytes} bytes (ingestion.max_file_bytes).")
    return data
