"""One mail: headers as metadata, the best body part as text, forwarded messages below it, attachments as files.

Knows MIME as the standard library parses it; ``eml.py``, ``mbox.py`` and ``mhtml.py`` know the files it stands in.
"""

from __future__ import annotations

import email.errors
import email.header
import email.utils
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from pathlib import PurePosixPath
from typing import cast

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly
from ingestion.loaders.encoding import decode
from ingestion.loaders.html import load_html
from ingestion.loaders.loader import ChildFile, LoadOptions
from ingestion.loaders.normalise import collapse, normalise
from ingestion.loaders.text import load_text
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

_ENDINGS = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/calendar": ".ics",
    "application/pdf": ".pdf",
    "message/rfc822": ".eml",
}
"""Endings of attachments that come without a name."""
_MIN_PLAIN_SHARE = 0.2
"""Least share of the web form's text that the plain form must hold to be the body; less is "see the web version"."""
_MAX_FORWARDS = 16
"""Messages within messages; a thread that was forwarded more often is an attack or a mistake."""
_SURROGATE = re.compile(r"[\udc80-\udcff]")
_UNSAFE = re.compile(r"[\\/\x00-\x1f]+")


def parse_message(data: bytes) -> Message:
    """The parsed message.

    Raises:
        LoadFailed: ``unsafe_archive`` for parts nested too deeply to be parsed, ``corrupt`` for damage beyond repair.
    """
    try:
        return BytesParser(policy=compat32).parsebytes(data)
    except RecursionError as error:
        raise LoadFailed("unsafe_archive", "The mail's parts are nested too deeply to be read.") from error
    except (ValueError, LookupError, TypeError, AttributeError, email.errors.MessageError) as error:
        raise LoadFailed("corrupt", "The mail is damaged and cannot be read.") from error


def header(message: Message, name: str) -> str:
    """A header's words on one line, decoded; empty when it is missing."""
    value = message.get(name)
    return collapse(normalise(_decoded(str(value)))) if value is not None else ""


def mail_metadata(message: Message) -> dict[str, MetadataValue]:
    """``from``, ``to``, ``cc``, ``date`` (ISO 8601 where it can be read), ``subject``, ``message_id``."""
    found: dict[str, MetadataValue] = {}
    for name, key in (("From", "from"), ("Subject", "subject"), ("Message-ID", "message_id"), ("Reply-To", "reply_to")):
        if value := header(message, name):
            found[key] = value
    for name in ("to", "cc"):
        if addresses := _addresses(message, name):
            found[name] = addresses
    if date := header(message, "Date"):
        found["date"] = _iso_date(date)
    return found


@dataclass(slots=True)
class MailReader:
    """Walks a message's parts; ``children`` are its attachments in order.

    Attributes:
        options: Limits of what is taken out of the mail.
        assembly: Takes the text.
        children: Files found so far.
    """

    options: LoadOptions
    assembly: DocumentAssembly = field(default_factory=DocumentAssembly)
    children: list[ChildFile] = field(default_factory=list[ChildFile])
    _bytes: int = 0

    def read(self, message: Message, *, level: int = 1) -> None:
        """Take in a message with its subject as heading; forwarded ones become sections one level below.

        Raises:
            LoadFailed: ``unsafe_archive`` for more attachments than the options allow, ``undecodable`` for its text.
        """
        if level > _MAX_FORWARDS:
            detail = "The mail holds messages within messages beyond the limit."
            self.children.append(ChildFile(self._unique("forwarded.eml"), b"", "unsafe_archive", detail))
            return
        self.assembly.heading(header(message, "Subject"), level=level)
        if lines := _head_lines(message):
            self.assembly.add("paragraph", lines)
        for part in _leaves(message):
            if part.get_content_type() == "message/rfc822" and isinstance(part.get_payload(), list):
                for inner in cast("list[Message]", part.get_payload()):
                    self.read(inner, level=level + 1)
            elif _is_inline_text(part):
                self._include(part, level)
            elif _file_name(part) or part.get_content_maintype() != "image":
                self._attach(part)

    def _include(self, part: Message, level: int) -> None:
        try:
            document = part_document(part)
        except LoadFailed as error:
            if error.reason != "empty":
                raise
            return
        self.assembly.include(document, level=level)

    def _attach(self, part: Message) -> None:
        data = payload(part)
        if len(self.children) >= self.options.max_children:
            raise LoadFailed("unsafe_archive", f"The mail holds more than {self.options.max_children} files.")
        self._bytes += len(data)
        name = self._unique(_file_name(part) or f"attachment{_ENDINGS.get(part.get_content_type(), '')}")
        if self._bytes > self.options.max_children_bytes:
            detail = "The mail's attachments are larger than is allowed."
            self.children.append(ChildFile(name, b"", "unsafe_archive", detail))
        else:
            self.children.append(ChildFile(name, data))

    def _unique(self, name: str) -> str:
        taken = {child.name for child in self.children}
        path = PurePosixPath(name)
        number = 2
        while name in taken:
            name = f"{path.stem} ({number}){path.suffix}"
            number += 1
        return name


def payload(part: Message) -> bytes:
    """A part's bytes, its transfer encoding undone as far as it is whole."""
    value = part.get_payload(decode=True)
    if isinstance(value, bytes):
        return value
    return part.as_bytes(policy=compat32) if part.is_multipart() else b""


def part_document(part: Message) -> ParsedDocument:
    """The document of a text part; web parts through the HTML loader.

    Raises:
        LoadFailed: ``empty`` or ``undecodable``.
    """
    data = payload(part)
    text = decode(data, declared=_charset(part)).text
    if part.get_content_type() == "text/html":
        return load_html(text.encode("utf-8"), name="")
    return load_text(text, name="")


def _charset(part: Message) -> str | None:
    try:
        found = part.get_param("charset")
    except (ValueError, TypeError, LookupError):
        return None
    return found.strip("\"' ") if isinstance(found, str) and found.strip() else None


def _is_inline_text(part: Message) -> bool:
    is_text = part.get_content_type() in ("text/plain", "text/html")
    return is_text and part.get_content_disposition() != "attachment" and not _file_name(part)


def _leaves(message: Message) -> Iterator[Message]:
    """Parts that are shown, in order: of alternatives the best; forwarded messages are leaves."""
    stack = [message]
    while stack:
        part = stack.pop()
        if not part.is_multipart() or part.get_content_maintype() == "message":
            yield part
            continue
        children = cast("list[Message]", part.get_payload())
        if part.get_content_type() == "multipart/alternative":
            children = _without_worse(children)
        stack.extend(reversed(children))


def _without_worse(alternatives: Sequence[Message]) -> list[Message]:
    """Plain text without its web form, or the other way round where the web form says much more."""
    plain = next((part for part in alternatives if part.get_content_type() == "text/plain"), None)
    web = next((part for part in alternatives if _first_leaf(part).get_content_type() == "text/html"), None)
    if plain is None or web is None:
        return list(alternatives)
    worse = plain if _length(plain) < _MIN_PLAIN_SHARE * _length(_first_leaf(web)) else web
    return [part for part in alternatives if part is not worse]


def _first_leaf(part: Message) -> Message:
    while part.is_multipart() and part.get_content_maintype() == "multipart":
        part = cast("list[Message]", part.get_payload())[0]
    return part


def _length(part: Message) -> int:
    try:
        return len(part_document(part).text)
    except LoadFailed:
        return 0


def _file_name(part: Message) -> str:
    """The attachment's own name without folders; empty when it has none."""
    try:
        name = part.get_filename()
    except (ValueError, TypeError, LookupError):
        return ""
    return collapse(normalise(_UNSAFE.sub("_", _decoded(name)))).strip(". ")[:200] if name else ""


def _addresses(message: Message, name: str) -> list[str]:
    pairs = email.utils.getaddresses([str(value) for value in message.get_all(name, [])])
    named = [(collapse(normalise(_decoded(words))), collapse(normalise(address))) for words, address in pairs]
    return [f"{words} <{address}>" if words else address for words, address in named if words or address]


def _head_lines(message: Message) -> str:
    pairs = [(name, header(message, name)) for name in ("From", "To", "Cc", "Date")]
    return "\n".join(f"{name}: {value}" for name, value in pairs if value)


def _decoded(value: str) -> str:
    """Encoded words undone (RFC 2047); raw bytes outside ASCII are decoded like text."""
    parts: list[str] = []
    try:
        pieces = email.header.decode_header(value)
    except (ValueError, email.errors.MessageError):
        return value
    for piece, charset in pieces:
        data = (
            piece.encode("ascii", "surrogateescape") if isinstance(piece, str) and _SURROGATE.search(piece) else piece
        )
        if isinstance(data, str):
            parts.append(data)
            continue
        try:
            parts.append(decode(data, declared=charset if charset != "unknown-8bit" else None).text)
        except (LoadFailed, UnicodeError):
            parts.append(data.decode("ascii", "replace"))
    return "".join(parts)


def _iso_date(value: str) -> str:
    try:
        return email.utils.parsedate_to_datetime(value).isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return value
