"""Kinds of files that are known and not read, so that their bytes never pass for text."""

from __future__ import annotations

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import Sample

_ENDINGS = {
    ".svg": "pictures",
    ".pem": "keys",
    ".key": "keys",
}
"""Endings of files that are text to a computer, but whose text is not what a reader sees or should find."""
_MAGIC = (
    (b"\x89PNG", "pictures"),
    (b"\xff\xd8\xff", "pictures"),
    (b"GIF8", "pictures"),
    (b"BM", "pictures"),
    (b"II*\0", "pictures"),
    (b"MM\0*", "pictures"),
    (b"\x28\xb5\x2f\xfd", "compressed files"),
    (b"7z\xbc\xaf", "archives"),
    (b"Rar!", "archives"),
    (b"\x7fELF", "programs"),
    (b"MZ", "programs"),
    (b"SQLite format 3", "databases"),
)


def refuse_unread(sample: Sample) -> None:
    """Raises for a file of a known kind that is not read; a short mark counts only before bytes that are no text.

    Raises:
        LoadFailed: ``unsupported_type``.
    """
    head = sample.head
    if sample.ending in _ENDINGS:
        raise _unsupported(_ENDINGS[sample.ending])
    if head.isascii() and b"\0" not in head:
        return
    for magic, family in _MAGIC:
        if head.startswith(magic) and (len(magic) > 2 or b"\0" in head):
            raise _unsupported(family)


def _unsupported(family: str) -> LoadFailed:
    return LoadFailed("unsupported_type", f"This kind of file ({family}) is not read.")
