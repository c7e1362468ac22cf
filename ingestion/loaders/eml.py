"""A mail in a file of its own (RFC 5322)."""

from __future__ import annotations

import re

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import title_from_name
from ingestion.loaders.loader import Certainty, Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.mail_message import MailReader, header, mail_metadata, parse_message

_HEAD = re.compile(r"\A(?:\s*\n)?((?:[!-9;-~]+:[^\n]*\n(?:[ \t][^\n]*\n)*)+)")
_TELLING = re.compile(
    r"^(from|to|subject|date|message-id|received|mime-version|return-path|delivered-to):", re.IGNORECASE | re.MULTILINE
)
_SURE = frozenset(("message-id", "received", "mime-version", "return-path", "delivered-to"))


def load_eml(data: bytes, name: str, options: LoadOptions) -> Loaded:
    """The mail as a document with its headers as metadata, and its attachments as files.

    Raises:
        LoadFailed: ``corrupt`` without any header, ``empty`` for a mail that says nothing, ``undecodable``, or
            ``unsafe_archive`` beyond the limits.
    """
    message = parse_message(data)
    if not message.keys():
        raise LoadFailed("corrupt", "The file has no mail headers.")
    reader = MailReader(options)
    reader.read(message)
    title = header(message, "Subject") or title_from_name(name)
    document = reader.assembly.finish(title=title, media_type="message/rfc822", metadata=mail_metadata(message))
    return Loaded(document, tuple(reader.children))


def looks_like_mail(text: str) -> bool:
    """Whether text begins with headers of which two tell a mail, one of them written by programs alone."""
    head = _HEAD.match(text.replace("\r\n", "\n"))
    if head is None:
        return False
    names = {name.lower() for name in _TELLING.findall(head[1])}
    return len(names) >= 2 and bool(names & _SURE)


def _certainty(sample: Sample) -> Certainty:
    if looks_like_mail(sample.text):
        return 2
    return 1 if sample.ending == ".eml" else 0


LOADER = Loader("mail", frozenset((".eml",)), _certainty, load_eml)
