"""What all archives share: names that stay inside, and limits that hold whatever an archive claims of itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import ChildFile, Loaded, LoadOptions
from ingestion.loaders.normalise import normalise
from ingestion.types import FailureReason

MAX_RATIO = 100
"""Most unpacked bytes for one packed byte; the limit that Apache POI takes (its least ratio is 0.01)."""
RATIO_FREE_BYTES = 4 * 1024 * 1024
"""Members up to this size are let through whatever their ratio."""
_CHUNK = 1024 * 1024
_NOISE = ("__MACOSX", ".DS_Store", "Thumbs.db", ".git")
_MAX_NAME_CHARACTERS = 500


class Members:
    """Collects an archive's members; nothing beyond the limits is kept in memory."""

    def __init__(self, options: LoadOptions) -> None:
        self._options = options
        self._children: list[ChildFile] = []
        self._names: set[str] = set()
        self._bytes = 0

    def add(self, name: str, size: int, packed: int | None, read: Callable[[int], bytes]) -> None:
        """Take in one file.

        Args:
            name: Its path as the archive has it.
            size: Its unpacked size as the archive claims it; checked again while reading.
            packed: Its packed size; None where members are not packed one by one.
            read: Gives the next bytes, at most as many as asked for; empty at the end.
        """
        self._require_room()
        safe = self._safe_name(name)
        if not safe:
            return
        if _leads_outside(name):
            self.refuse(name, "unsafe_archive", "Its path leads outside the archive.")
        elif _is_bomb(size, packed):
            self.refuse(name, "unsafe_archive", "It is packed like a bomb and was not opened.")
        elif size > self._options.max_children_bytes - self._bytes:
            self.refuse(name, "unsafe_archive", "The archive unpacks to more than is allowed.")
        else:
            self._read(safe, name, packed, read)

    def refuse(self, name: str, reason: FailureReason, detail: str) -> None:
        """Note a file that is not read, and why."""
        self._require_room()
        safe = self._safe_name(name) or "unnamed"
        self._names.add(safe)
        self._children.append(ChildFile(safe, b"", reason, detail))

    def finish(self) -> Loaded:
        """The archive as a folder.

        Raises:
            LoadFailed: ``empty`` for one without files.
        """
        if not self._children:
            raise LoadFailed("empty", "The archive holds no files.")
        return Loaded(None, tuple(self._children))

    def _read(self, safe: str, name: str, packed: int | None, read: Callable[[int], bytes]) -> None:
        data = bytearray()
        room = self._options.max_children_bytes - self._bytes
        while chunk := read(_CHUNK):
            data += chunk
            if len(data) > room or _is_bomb(len(data), packed):
                self.refuse(name, "unsafe_archive", "It unpacks to more than it claims.")
                return
        self._bytes += len(data)
        self._names.add(safe)
        self._children.append(ChildFile(safe, bytes(data)))

    def _require_room(self) -> None:
        if len(self._children) >= self._options.max_children:
            raise LoadFailed("unsafe_archive", f"The archive holds more than {self._options.max_children} files.")

    def _safe_name(self, name: str) -> str:
        """The path inside the archive, unique; empty for files that systems leave behind."""
        parts = [part for part in _parts(name) if part not in ("..", ".")]
        if any(part in _NOISE for part in parts):
            return ""
        path = "/".join(parts)[-_MAX_NAME_CHARACTERS:].strip("/")
        pure = PurePosixPath(path)
        number = 2
        while path in self._names:
            path = str(pure.with_name(f"{pure.stem} ({number}){pure.suffix}"))
            number += 1
        return path


def _parts(name: str) -> list[str]:
    clean = "".join(character if character.isprintable() else "_" for character in normalise(name))
    return [part for part in clean.replace("\\", "/").split("/") if part.strip()]


def _leads_outside(name: str) -> bool:
    unified = name.replace("\\", "/")
    return unified.startswith("/") or unified[1:2] == ":" or ".." in unified.split("/")


def _is_bomb(size: int, packed: int | None) -> bool:
    return packed is not None and size > RATIO_FREE_BYTES and size > MAX_RATIO * max(packed, 1)
