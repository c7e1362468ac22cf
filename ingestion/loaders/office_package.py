"""Opens the zip container of an office document with limits that hold before anything is inflated."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any, Protocol, cast

from lxml import etree  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue] - no type stubs

from ingestion.errors import LoadFailed

OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
"""Head of the container of old office files, and of encrypted new ones."""
_etree: Any = etree  # pyright: ignore[reportUnknownVariableType] - no type stubs
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_MAX_ENTRIES = 20_000
_MAX_PART_BYTES = 256 * 1024 * 1024
_MAX_TOTAL_BYTES = 1024 * 1024 * 1024
_MAX_RATIO = 100
"""Inflated to stored size; the limit that Apache POI takes (its least ratio is 0.01)."""
_RATIO_FREE_BYTES = 4 * 1024 * 1024
"""Parts up to this size are let through whatever their ratio."""


class Element(Protocol):
    """What is used of an lxml element, which has no types of its own."""

    tag: str
    text: str | None

    def get(self, key: str) -> str | None:
        """An attribute."""
        ...

    def find(self, path: str) -> Element | None:
        """The first child of a name."""
        ...

    def findtext(self, path: str) -> str | None:
        """Text of the first child of a name."""
        ...

    def iter(self, tag: str) -> Iterator[Element]:
        """Descendants of a name, in document order, the element itself included."""
        ...

    def __iter__(self) -> Iterator[Element]: ...

    def __reversed__(self) -> Iterator[Element]: ...

    def __len__(self) -> int: ...


class OfficePackage:
    """Parts of an office document by name; reading checks sizes again, as declared ones can lie."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = frozenset(archive.namelist())

    def xml(self, name: str) -> Element | None:
        """Root element of a part; None where the package has no such part.

        Raises:
            LoadFailed: ``corrupt`` for damaged XML, ``unsafe_archive`` for a document type declaration or a bomb.
        """
        if name not in self.names:
            return None
        data = self._read(name)
        try:
            return _parse(data, name)
        except (SyntaxError, ValueError) as error:
            raise LoadFailed("corrupt", f"The document's part {name!r} is damaged.") from error

    def _read(self, name: str) -> bytes:
        try:
            with self._archive.open(name) as part:
                data = part.read(_MAX_PART_BYTES + 1)
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
            raise LoadFailed("corrupt", f"The document's part {name!r} is damaged.") from error
        if len(data) > _MAX_PART_BYTES:
            raise LoadFailed("unsafe_archive", f"The document's part {name!r} inflates beyond its limit.")
        return data


def _parse(data: bytes, name: str) -> Element:
    parser = _etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    root = _etree.fromstring(data, parser)
    if root.getroottree().docinfo.doctype:
        raise LoadFailed("unsafe_archive", f"The document's part {name!r} declares entities, which is not allowed.")
    return cast("Element", root)


def open_package(data: bytes) -> OfficePackage:
    """The package of an office document.

    Raises:
        LoadFailed: ``encrypted``, ``unsupported_type`` (an old binary format), ``corrupt`` or ``unsafe_archive``.
    """
    if data.startswith(OLE_MAGIC):
        if _ENCRYPTED_STREAM in data:
            raise LoadFailed("encrypted", "The document asks for a password; save a copy without one.")
        raise LoadFailed("unsupported_type", "Old binary office files are not read; save the document as .docx.")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise LoadFailed("corrupt", "The document is damaged or cut off and cannot be read.") from error
    _guard(entries)
    return OfficePackage(archive)


def _guard(entries: list[zipfile.ZipInfo]) -> None:
    total = sum(entry.file_size for entry in entries)
    if len(entries) > _MAX_ENTRIES or total > _MAX_TOTAL_BYTES:
        raise LoadFailed("unsafe_archive", "The document inflates to more than is allowed.")
    for entry in entries:
        if entry.flag_bits & 0x1:
            raise LoadFailed("encrypted", "The document asks for a password; save a copy without one.")
        if entry.file_size > _RATIO_FREE_BYTES and entry.file_size > _MAX_RATIO * max(entry.compress_size, 1):
            raise LoadFailed("unsafe_archive", "The document is packed like a zip bomb and was not opened.")
