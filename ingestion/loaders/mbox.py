"""A mailbox in one file: each mail is a file inside it, named by its number and subject."""

from __future__ import annotations

import re

from ingestion.errors import LoadFailed
from ingestion.loaders.eml import looks_like_mail
from ingestion.loaders.loader import Certainty, ChildFile, Loaded, Loader, LoadOptions, Sample
from ingestion.loaders.mail_message import header, parse_message

_FROM_LINE = re.compile(rb"^From [^\n]{0,200}\d{4}[^\n]{0,50}\n(?=[!-9;-~]+:)", re.MULTILINE)
"""Begins each mail (RFC 4155); a header must follow, as a body may hold a line that begins so."""
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_UNSAFE = re.compile(r"[^\w .()+-]+")


def load_mbox(data: bytes, _name: str, options: LoadOptions) -> Loaded:
    """The mails of a mailbox as files.

    Raises:
        LoadFailed: ``corrupt`` when it holds no mail, ``unsafe_archive`` for more mails than the options allow.
    """
    unified = data.replace(b"\r\n", b"\n")
    starts = [match.span() for match in _FROM_LINE.finditer(unified)]
    if not starts:
        raise LoadFailed("corrupt", "The mailbox holds no mail.")
    if len(starts) > options.max_children:
        raise LoadFailed("unsafe_archive", f"The mailbox holds more than {options.max_children} mails.")
    ends = [start for start, _ in starts[1:]] + [len(unified)]
    children: list[ChildFile] = []
    for number, ((_, begin), end) in enumerate(zip(starts, ends, strict=True), start=1):
        mail = _QUOTED.sub(rb"\1", unified[begin:end])
        children.append(ChildFile(f"{number:05d} {_subject(mail)}.eml", mail))
    return Loaded(None, tuple(children))


def _subject(mail: bytes) -> str:
    head = mail[: mail.find(b"\n\n") + 1] or mail[:8192]
    subject = header(parse_message(head), "Subject")
    return _UNSAFE.sub("_", subject).strip(". ")[:80] or "mail"


def _certainty(sample: Sample) -> Certainty:
    text = sample.text.replace("\r\n", "\n")
    if text.startswith("From ") and looks_like_mail(text.partition("\n")[2]):
        return 3
    return 1 if sample.ending in (".mbox", ".mbx") else 0


LOADER = Loader("mailbox", frozenset((".mbox", ".mbx")), _certainty, load_mbox)
