"""Files embedded in an office document, as its children; the workbook behind a chart is no file of its own."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from ingestion.errors import LoadFailed
from ingestion.loaders.loader import ChildFile, LoadOptions
from ingestion.loaders.office_package import OLE_MAGIC, OfficePackage
from ingestion.loaders.ole_container import open_ole

_NATIVE = "\x01Ole10Native"
_CONTENTS = ("CONTENTS", "Package")
"""Streams in which PDF readers and Open XML programs put the embedded file itself."""
_OLD_OFFICE = {"WordDocument": ".doc", "Workbook": ".xls", "Book": ".xls", "PowerPoint Document": ".ppt"}
_KINDS = frozenset(("package", "oleObject"))


def embedded_files(package: OfficePackage, parts: Iterable[str], options: LoadOptions) -> tuple[ChildFile, ...]:
    """Files embedded through the given parts (the main part, slides, sheets), each once, within the options' limits.

    One that cannot be read is a child with its reason.
    """
    names = dict.fromkeys(
        link.target
        for part in parts
        for link in package.relationships(part).values()
        if link.kind in _KINDS and link.target in package.names
    )
    children: list[ChildFile] = []
    total = 0
    for name in names:
        if len(children) >= options.max_children:
            break
        child = _child(package, name)
        total += len(child.data)
        if total > options.max_children_bytes:
            children.append(ChildFile(child.name, b"", "too_large", "The embedded files are larger than is allowed."))
            break
        children.append(child)
    return tuple(_with_distinct_names(children))


def _child(package: OfficePackage, part: str) -> ChildFile:
    file_name = PurePosixPath(part).name
    try:
        data = package.read(part)
        return _unwrapped(data, file_name) if data.startswith(OLE_MAGIC) else ChildFile(file_name, data)
    except LoadFailed as error:
        return ChildFile(file_name, b"", error.reason, error.detail)


def _unwrapped(data: bytes, file_name: str) -> ChildFile:
    """The file inside an OLE object; an object that is an old office document stays whole."""
    with open_ole(data) as container:
        if container.exists(_NATIVE):
            return _native(container.openstream(_NATIVE).read(), file_name)
        for stream in _CONTENTS:
            if container.exists(stream):
                return ChildFile(file_name, container.openstream(stream).read())
        ending = next((end for stream, end in _OLD_OFFICE.items() if container.exists(stream)), "")
    return ChildFile(str(PurePosixPath(file_name).with_suffix(ending)) if ending else file_name, data)


def _native(stream: bytes, file_name: str) -> ChildFile:
    """File of an ``Ole10Native`` stream: size, flags, label, path, reserved, path again, then size and data."""
    position = 6
    label, position = _text(stream, position)
    _, position = _text(stream, position)
    position += 4
    (length,) = struct.unpack_from("<I", stream, position)
    position += 4 + length
    (size,) = struct.unpack_from("<I", stream, position)
    body = stream[position + 4 : position + 4 + size]
    if len(body) != size:
        raise LoadFailed("corrupt", "The embedded object is cut off.")
    return ChildFile(PurePosixPath(label.replace("\\", "/")).name or file_name, body)


def _text(stream: bytes, position: int) -> tuple[str, int]:
    end = stream.index(b"\0", position)
    return stream[position:end].decode("cp1252", "replace"), end + 1


def _with_distinct_names(children: Iterable[ChildFile]) -> Iterator[ChildFile]:
    seen: dict[str, int] = {}
    for child in children:
        name = child.name if child.name not in ("", ".", "..") else "embedded"
        count = seen[name] = seen.get(name, 0) + 1
        if count > 1:
            path = PurePosixPath(name)
            name = f"{path.stem}-{count}{path.suffix}"
        yield ChildFile(name, child.data, child.reason, child.detail)
