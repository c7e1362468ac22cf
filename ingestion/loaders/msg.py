"""Outlook's own mail files: an OLE container with one stream a property ([MS-OXMSG], sections 2.1 and 2.4).

Knows the few properties that make a mail readable. Bodies that exist as RTF alone become a file inside the mail.
"""

from __future__ import annotations

import datetime
import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.encoding import decode
from ingestion.loaders.html import load_html
from ingestion.loaders.loader import Certainty, ChildFile, Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.msg_rtf import unpack_rtf
from ingestion.loaders.normalise import collapse, normalise
from ingestion.loaders.text import load_text
from retrieval.types import MetadataValue

_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_PROPERTIES = "__properties_version1.0"
_MARK = _PROPERTIES.encode("utf-16-le")
_ATTACHMENT = "__attach_version1.0_"
_SUBJECT, _BODY, _HTML, _RTF = "0037", "1000", "1013", "1009"
_SENDER_NAME, _SENDER_SMTP, _SENDER_ADDRESS = "0C1A", "5D01", "0C1F"
_TO, _CC, _MESSAGE_ID = "0E04", "0E03", "1035"
_LONG_NAME, _SHORT_NAME, _DATA = "3707", "3704", "3701"
_SUBMIT_TIME = 0x00390040
_DELIVERY_TIME = 0x0E060040
_CODE_PAGES = (0x3FFD0003, 0x3FDE0003)
"""Of 8-bit strings, then of the web form."""
_EPOCH = datetime.datetime(1601, 1, 1, tzinfo=datetime.UTC)
_MAX_DEPTH = 8
_DAMAGE = (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError, OverflowError, struct.error)
"""What the OLE reader raises for damaged containers."""


def load_msg(data: bytes, name: str, options: LoadOptions) -> Loaded:
    """The mail as a document with its headers as metadata, and its attachments as files.

    Raises:
        LoadFailed: ``corrupt`` for a damaged container, ``empty``, ``undecodable``, or ``unsafe_archive``.
    """
    import olefile  # pyright: ignore[reportMissingTypeStubs] - the package has none

    try:
        with cast("Any", olefile.OleFileIO)(io.BytesIO(data)) as container:
            reader = _Reader(_Streams(container), options)
            metadata = reader.read((), level=1)
    except RecursionError as error:
        raise LoadFailed("unsafe_archive", "The mail's parts are nested too deeply to be read.") from error
    except _DAMAGE as error:
        raise LoadFailed("corrupt", "The mail is damaged or cut off and cannot be read.") from error
    subject = metadata.get("subject")
    title = subject if isinstance(subject, str) else title_from_name(name)
    media_type = "application/vnd.ms-outlook"
    return Loaded(reader.assembly.finish(title=title, media_type=media_type, metadata=metadata), tuple(reader.children))


@dataclass(frozen=True, slots=True)
class _Streams:
    """Streams of the container (an ``olefile.OleFileIO``, which has no types) by storage and property."""

    container: Any

    def property(self, storage: tuple[str, ...], tag: str, kind: str) -> bytes | None:
        path = [*storage, f"__substg1.0_{tag}{kind}"]
        return self.stream(path) if self.container.exists(path) else None

    def stream(self, path: list[str]) -> bytes:
        with self.container.openstream(path) as stream:
            return bytes(stream.read())

    def storages(self, storage: tuple[str, ...], prefix: str) -> list[str]:
        entries = cast("list[list[str]]", self.container.listdir(streams=True, storages=True))
        depth = len(storage)
        found = {entry[depth] for entry in entries if len(entry) > depth and tuple(entry[:depth]) == storage}
        return sorted(entry for entry in found if entry.startswith(prefix))

    def fixed(self, storage: tuple[str, ...]) -> dict[int, bytes]:
        """Values of fixed length by property tag; the stream's header is longer in the outermost message."""
        path = [*storage, _PROPERTIES]
        if not self.container.exists(path):
            return {}
        data = self.stream(path)[24 if storage else 32 :]
        entries = (data[start : start + 16] for start in range(0, len(data) - 15, 16))
        return {int.from_bytes(entry[:4], "little"): entry[8:] for entry in entries}


class _Reader:
    """Takes in the message and those embedded in it; ``children`` are its attachments."""

    def __init__(self, streams: _Streams, options: LoadOptions) -> None:
        self.assembly = DocumentAssembly()
        self.children: list[ChildFile] = []
        self._streams = streams
        self._options = options
        self._bytes = 0

    def read(self, storage: tuple[str, ...], *, level: int) -> dict[str, MetadataValue]:
        fixed = self._streams.fixed(storage)
        text = _Text(self._streams, storage, _code_page(fixed))
        metadata = _metadata(text, fixed)
        self.assembly.heading(text.line(_SUBJECT), level=level)
        self.assembly.add("paragraph", _head_lines(metadata))
        self._body(text, level)
        for name in self._streams.storages(storage, _ATTACHMENT):
            self._attachment((*storage, name), text.code_page, level)
        return metadata

    def _body(self, text: _Text, level: int) -> None:
        html = text.raw(_HTML)
        plain = text.words(_BODY)
        if plain.strip():
            self.assembly.include(load_text(plain, name=""), level=level)
        elif html is not None and html.strip(b"\0 \r\n\t"):
            source = decode(html.rstrip(b"\0"), declared=text.code_page).text
            self.assembly.include(load_html(source.encode("utf-8"), name=""), level=level)
        elif (packed := text.raw(_RTF)) is not None:
            self.children.append(ChildFile(f"body {len(self.children) + 1}.rtf", unpack_rtf(packed)))

    def _attachment(self, storage: tuple[str, ...], code_page: str | None, level: int) -> None:
        text = _Text(self._streams, storage, code_page)
        embedded = f"__substg1.0_{_DATA}000D"
        if embedded in self._streams.storages(storage, embedded):
            if level < _MAX_DEPTH:
                self.read((*storage, embedded), level=level + 1)
            return
        data = text.raw(_DATA)
        if data is None:
            return
        if len(self.children) >= self._options.max_children:
            raise LoadFailed("unsafe_archive", f"The mail holds more than {self._options.max_children} files.")
        name = text.line(_LONG_NAME) or text.line(_SHORT_NAME) or "attachment"
        name = name.replace("\\", "/").rpartition("/")[2].strip(". ") or "attachment"
        taken = {child.name for child in self.children}
        while name in taken:
            name = f"_{name}"
        self._bytes += len(data)
        if self._bytes > self._options.max_children_bytes:
            detail = "The mail's attachments are larger than is allowed."
            self.children.append(ChildFile(name, b"", "unsafe_archive", detail))
        else:
            self.children.append(ChildFile(name, data))


@dataclass(frozen=True, slots=True)
class _Text:
    """Properties of one storage as text."""

    streams: _Streams
    storage: tuple[str, ...]
    code_page: str | None

    def words(self, tag: str) -> str:
        wide = self.streams.property(self.storage, tag, "001F")
        if wide is not None:
            return wide.decode("utf-16-le", "replace").rstrip("\0")
        narrow = self.streams.property(self.storage, tag, "001E")
        return decode(narrow.rstrip(b"\0"), declared=self.code_page).text if narrow else ""

    def line(self, tag: str) -> str:
        return collapse(normalise(self.words(tag)))

    def raw(self, tag: str) -> bytes | None:
        data = self.streams.property(self.storage, tag, "0102")
        return data if data is not None else (self.words(tag).encode("utf-8", "replace") or None)


def _metadata(text: _Text, fixed: dict[int, bytes]) -> dict[str, MetadataValue]:
    found: dict[str, MetadataValue] = {}
    name, address = text.line(_SENDER_NAME), text.line(_SENDER_SMTP) or text.line(_SENDER_ADDRESS)
    if name or address:
        found["from"] = f"{name} <{address}>" if name and "@" in address and name != address else name or address
    for key, tag in (("subject", _SUBJECT), ("message_id", _MESSAGE_ID)):
        if value := text.line(tag):
            found[key] = value
    for key, tag in (("to", _TO), ("cc", _CC)):
        if names := [part.strip() for part in text.line(tag).split(";") if part.strip()]:
            found[key] = names
    if date := next(_dates(fixed), ""):
        found["date"] = date
    return found


def _dates(fixed: dict[int, bytes]) -> Iterator[str]:
    for tag in (_SUBMIT_TIME, _DELIVERY_TIME):
        if ticks := int.from_bytes(fixed.get(tag, b""), "little"):
            yield (_EPOCH + datetime.timedelta(microseconds=ticks // 10)).isoformat(timespec="seconds")


def _code_page(fixed: dict[int, bytes]) -> str | None:
    numbers = [int.from_bytes(fixed.get(tag, b"")[:4], "little") for tag in _CODE_PAGES]
    number = next((number for number in numbers if number), 0)
    return {0: None, 65001: "utf-8", 20127: "ascii", 28591: "iso-8859-1"}.get(number, f"cp{number}")


def _head_lines(metadata: dict[str, MetadataValue]) -> str:
    lines: list[str] = []
    for key in ("from", "to", "cc", "date"):
        if (value := metadata.get(key)) is not None:
            lines.append(f"{key.capitalize()}: {', '.join(value) if isinstance(value, list) else value}")
    return "\n".join(lines)


def _certainty(sample: Sample) -> Certainty:
    if sample.data.startswith(_OLE_MAGIC):
        return 3 if _MARK in sample.data else (1 if sample.ending == ".msg" else 0)
    return 0


LOADER = Loader("Outlook mail", frozenset((".msg",)), _certainty, load_msg)
