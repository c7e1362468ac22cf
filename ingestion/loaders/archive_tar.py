"""Tar archives as folders, packed or not, and single packed files (gzip, bzip2, xz).

Unpacking is read as a stream that ends at a limit, so that what an archive claims of itself is never trusted.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zlib
from pathlib import PurePath
from typing import IO, cast

from ingestion.errors import LoadFailed
from ingestion.loaders.archive_members import MAX_RATIO, RATIO_FREE_BYTES, Members
from ingestion.loaders.loader import Certainty, Loaded, Loader, LoadOptions, Sample

_GZIP, _BZIP2, _XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\0"
_BZIP2_BLOCK = bytes.fromhex("314159265359")
_MARK, _MARK_PLACE, _BLOCK = b"ustar", 257, 512
_TAR_ENDINGS = {".tgz": ".tar", ".tbz2": ".tar", ".tbz": ".tar", ".txz": ".tar"}
_PACKED_ENDINGS = frozenset((".gz", ".bz2", ".xz"))
_DAMAGE = (tarfile.TarError, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


def load_tar(data: bytes, name: str, options: LoadOptions) -> Loaded:
    """The files of an archive, or the one file that is packed.

    Raises:
        LoadFailed: ``corrupt`` for a damaged archive without a readable file, ``empty``, or ``unsafe_archive`` for more
            files than the options allow or a stream that unpacks like a bomb.
    """
    limit = options.max_children_bytes + options.max_children * 2 * _BLOCK
    if not data.startswith((_GZIP, _BZIP2, _XZ)):
        return _load_members(io.BytesIO(data), options)
    limit = min(limit, max(RATIO_FREE_BYTES, MAX_RATIO * len(data)))
    try:
        head = _unpacked(data, limit).read(_BLOCK)
    except _DAMAGE as error:
        raise LoadFailed("corrupt", "The packed file is damaged or cut off and cannot be read.") from error
    if _is_tar(head):
        return _load_members(_unpacked(data, limit), options)
    return _load_one(_unpacked(data, limit), name, options)


class _Limited:
    """A stream that raises when more than its limit was read."""

    def __init__(self, stream: IO[bytes], limit: int) -> None:
        self._stream = stream
        self._left = limit

    def read(self, size: int) -> bytes:
        """The next bytes, at most ``size``; empty at the end."""
        chunk = self._stream.read(min(size, self._left + 1))
        self._left -= len(chunk)
        if self._left < 0:
            raise LoadFailed("unsafe_archive", "The archive unpacks to more than is allowed.")
        return chunk


def _unpacked(data: bytes, limit: int) -> _Limited:
    opener = gzip.open if data.startswith(_GZIP) else bz2.open if data.startswith(_BZIP2) else lzma.open
    return _Limited(cast("IO[bytes]", opener(io.BytesIO(data))), limit)


def _load_members(stream: io.BytesIO | _Limited, options: LoadOptions) -> Loaded:
    members = Members(options)
    try:
        with tarfile.open(fileobj=cast("IO[bytes]", stream), mode="r|") as archive:
            for entry in archive:
                _add(archive, entry, members)
    except _DAMAGE as error:
        return _what_was_read(members, error)
    return members.finish()


def _what_was_read(members: Members, error: Exception) -> Loaded:
    """The members before the damage, and the damage as one more."""
    try:
        members.finish()
    except LoadFailed:
        raise LoadFailed("corrupt", "The archive is damaged or cut off and cannot be read.") from error
    members.refuse("rest of the archive", "corrupt", "The archive is damaged or cut off behind the files before.")
    return members.finish()


def _add(archive: tarfile.TarFile, entry: tarfile.TarInfo, members: Members) -> None:
    if entry.isdir():
        return
    if not entry.isreg():
        members.refuse(entry.name, "unsafe_archive", "It is a link or a device, which archives may not hold.")
        return
    file = archive.extractfile(entry)
    if file is not None:
        members.add(entry.name, entry.size, None, file.read)


def _load_one(stream: _Limited, name: str, options: LoadOptions) -> Loaded:
    members = Members(options)
    path = PurePath(name)
    inner = path.stem if path.suffix.lower() in _PACKED_ENDINGS else f"{path.name}.unpacked"
    try:
        members.add(inner, 0, None, stream.read)
    except _DAMAGE as error:
        raise LoadFailed("corrupt", "The packed file is damaged or cut off and cannot be read.") from error
    return members.finish()


def _is_tar(head: bytes) -> bool:
    return head[_MARK_PLACE : _MARK_PLACE + len(_MARK)] == _MARK


def _certainty(sample: Sample) -> Certainty:
    head = sample.head
    if _is_tar(head):
        return 3
    if head.startswith((_GZIP, _XZ)) or (head.startswith(_BZIP2) and head[4:10] == _BZIP2_BLOCK):
        return 2
    return 1 if sample.ending == ".tar" and b"\0" in head else 0


LOADER = Loader("tar archive", frozenset((".tar", *_TAR_ENDINGS, *_PACKED_ENDINGS)), _certainty, load_tar)
