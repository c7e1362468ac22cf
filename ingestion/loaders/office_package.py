"""Opens the zip container of an office document with limits that hold before anything is inflated.

Serves Open XML, OpenDocument and EPUB; what is in the parts it does not know.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol, cast
from urllib.parse import unquote

from lxml import etree  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue] - no type stubs

from ingestion.errors import LoadFailed

OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
"""Head of the container of old office files, and of encrypted new ones."""
_etree: Any = etree  # pyright: ignore[reportUnknownVariableType] - no type stubs
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_MAX_ENTRIES = 20_000
_PIECE_BYTES = 1024 * 1024
_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    KeyError,
)
_MAX_PART_BYTES = 256 * 1024 * 1024
_MAX_TOTAL_BYTES = 1024 * 1024 * 1024
_STRICT_HEAD_BYTES = 16 * 1024
_MAX_RATIO = 100
"""Inflated to stored size; the limit that Apache POI takes (its least ratio is 0.01)."""
_RATIO_FREE_BYTES = 4 * 1024 * 1024
"""Parts up to this size are let through whatever their ratio."""
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_DC = "{http://purl.org/dc/elements/1.1/}"
_RELATIONSHIP = "{http://schemas.openxmlformats.org/package/2006/relationships}Relationship"
_STRICT_NAMESPACE = re.compile(
    rb"""(xmlns(?::[\w.-]+)?=["'])http://purl\.oclc\.org/ooxml/"""
    rb"""(wordprocessingml|presentationml|spreadsheetml|drawingml|officeDocument)/"""
)
"""Names of ISO/IEC 29500 Strict; the transitional ones say the same with the year in them."""
_WHOLE_NUMBER = re.compile(r"[0-9]{1,20}")
ENCRYPTED = "The document asks for a password; save a copy without one."


class Relationship(NamedTuple):
    """A part that another part refers to: last word of the relation's type, and the part's name."""

    kind: str
    target: str


class Element(Protocol):
    """What is used of an lxml element, which has no types of its own."""

    tag: str
    text: str | None
    tail: str | None

    def get(self, key: str) -> str | None:
        """An attribute."""
        ...

    def find(self, path: str) -> Element | None:
        """The first child of a name; ``{*}`` stands for any namespace."""
        ...

    def findtext(self, path: str) -> str | None:
        """Text of the first child of a name."""
        ...

    def iter(self, tag: str) -> Iterator[Element]:
        """Descendants of a name, in document order, the element itself included."""
        ...

    def itertext(self) -> Iterator[str]:
        """Texts and tails of all descendants, in document order."""
        ...

    def __iter__(self) -> Iterator[Element]: ...

    def __reversed__(self) -> Iterator[Element]: ...

    def __len__(self) -> int: ...


class OfficePackage:
    """Parts of an office document by name; reading checks sizes again, as declared ones can lie."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.names = frozenset(archive.namelist())

    def first(self, *names: str) -> Element | None:
        """Root of the first of these parts that the package has; errors as ``xml``."""
        return next((root for name in names if (root := self.xml(name)) is not None), None)

    def relationships(self, part: str) -> Mapping[str, Relationship]:
        """Parts that a part refers to, by id; ``""`` asks for the package's own. Links to the outside are left out."""
        folder, name = posixpath.split(part)
        root = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, Relationship] = {}
        for element in root.iter(_RELATIONSHIP) if root is not None else ():
            if element.get("TargetMode") == "External":
                continue
            target = unquote(element.get("Target") or "")
            path = posixpath.normpath(posixpath.join("/" if target.startswith("/") else f"/{folder}", target))
            kind = (element.get("Type") or "").rpartition("/")[2]
            found[element.get("Id") or ""] = Relationship(kind, path.lstrip("/"))
        return found

    def main_part(self, usual: str) -> str:
        """Name of the part that holds the document: as the package says, else the usual one."""
        targets = [link.target for link in self.relationships("").values() if link.kind == "officeDocument"]
        return next((target for target in targets if target in self.names), usual)

    def core_properties(self) -> dict[str, str]:
        """Title, author, subject and language as the document's properties say; only those that are filled."""
        root = self.xml("docProps/core.xml")
        if root is None:
            return {}
        fields = {"title": "title", "creator": "author", "subject": "subject", "language": "language"}
        found = {target: " ".join((root.findtext(_DC + source) or "").split()) for source, target in fields.items()}
        return {key: value for key, value in found.items() if value}

    def chunks(self, name: str) -> Iterator[bytes]:
        """A part piece by piece, in bounded memory.

        Raises:
            LoadFailed: ``corrupt``, or ``unsafe_archive`` when it inflates beyond its limit.
        """
        total = 0
        try:
            with self._archive.open(name) as part:
                while piece := part.read(_PIECE_BYTES):
                    total += len(piece)
                    if total > _MAX_PART_BYTES:
                        raise LoadFailed("unsafe_archive", f"The document's part {name!r} inflates beyond its limit.")
                    yield piece
        except _DAMAGED as error:
            raise LoadFailed("corrupt", f"The document's part {name!r} is damaged.") from error

    def read(self, name: str) -> bytes:
        """A part's bytes; raises as ``chunks``."""
        return b"".join(self.chunks(name))

    def xml(self, name: str) -> Element | None:
        """Root element of a part; None where the package has no such part.

        Raises:
            LoadFailed: ``corrupt`` for damaged XML, ``unsafe_archive`` for entity declarations or a bomb.
        """
        if name not in self.names:
            return None
        data = self.read(name)
        try:
            return _parse(data, name)
        except (SyntaxError, ValueError) as error:
            raise LoadFailed("corrupt", f"The document's part {name!r} is damaged.") from error


def _parse(data: bytes, name: str) -> Element:
    parser = _etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    if b"purl.oclc.org/ooxml" in data[:_STRICT_HEAD_BYTES]:
        data = _STRICT_NAMESPACE.sub(rb"\1http://schemas.openxmlformats.org/\2/2006/", data)
    root = _etree.fromstring(data, parser)
    declarations = root.getroottree().docinfo.internalDTD
    if declarations is not None and any(True for _ in declarations.iterentities()):
        raise LoadFailed("unsafe_archive", f"The document's part {name!r} declares entities, which is not allowed.")
    return cast("Element", root)


def whole_number(text: str | None, *, default: int = 0, most: int = 1_000_000) -> int:
    """A number as an attribute spells it, at most ``most``: files may claim any size; the default for all else."""
    if not text or not _WHOLE_NUMBER.fullmatch(text):
        return default
    return min(int(text), most)


def is_package(data: bytes) -> bool:
    """Whether bytes begin like a zip."""
    return data.startswith(_ZIP_MAGIC)


def open_package(data: bytes) -> OfficePackage:
    """The package of an office document.

    Raises:
        LoadFailed: ``encrypted``, ``unsupported_type`` (an old binary format), ``corrupt`` or ``unsafe_archive``.
    """
    if data.startswith(OLE_MAGIC):
        if _ENCRYPTED_STREAM in data:
            raise LoadFailed("encrypted", ENCRYPTED)
        raise LoadFailed(
            "unsupported_type", "This kind of old binary office file is not read; save it in a newer format."
        )
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
            raise LoadFailed("encrypted", ENCRYPTED)
        if entry.file_size > _RATIO_FREE_BYTES and entry.file_size > _MAX_RATIO * max(entry.compress_size, 1):
            raise LoadFailed("unsafe_archive", "The document is packed like a zip bomb and was not opened.")
