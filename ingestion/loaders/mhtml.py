"""A web page saved with its parts in one file (RFC 2557): the page's own text, then that of its frames."""

from __future__ import annotations

import re
from email.message import Message

from ingestion.errors import LoadFailed
from ingestion.loaders.assembly import DocumentAssembly, title_from_name
from ingestion.loaders.eml import looks_like_mail
from ingestion.loaders.loader import Certainty, Loader, LoadOptions, Sample
from ingestion.loaders.mail_message import header, parse_message, part_document
from ingestion.types import ParsedDocument
from retrieval.types import MetadataValue

_SAVED = re.compile(r"^(?:snapshot-content-location:|from: *<saved by)", re.IGNORECASE | re.MULTILINE)
_RELATED = re.compile(r"^content-type: *multipart/related", re.IGNORECASE | re.MULTILINE)


def load_mhtml(data: bytes, name: str, _options: LoadOptions) -> ParsedDocument:
    """The document of a saved page.

    Raises:
        LoadFailed: ``corrupt`` without a page inside, ``empty`` without visible text, or ``undecodable``.
    """
    message = parse_message(data)
    pages = [part for part in message.walk() if part.get_content_type() in ("text/html", "application/xhtml+xml")]
    if not pages:
        raise LoadFailed("corrupt", "The file is no saved web page, or its page is cut off.")
    main, *frames = sorted(pages, key=lambda part: not _is_start(message, part))
    document = part_document(main)
    assembly = DocumentAssembly()
    assembly.include(document)
    for frame in frames:
        try:
            assembly.include(part_document(frame), level=1)
        except LoadFailed:
            continue
    metadata: dict[str, MetadataValue] = dict(document.metadata)
    if address := header(message, "Snapshot-Content-Location") or header(main, "Content-Location"):
        metadata["url"] = address
    title = document.title or header(message, "Subject") or title_from_name(name)
    return assembly.finish(title=title, media_type="multipart/related", metadata=metadata)


def _is_start(message: Message, part: Message) -> bool:
    start = message.get_param("start")
    return isinstance(start, str) and bool(start) and header(part, "Content-ID") == start


def _certainty(sample: Sample) -> Certainty:
    head = sample.text.replace("\r\n", "\n").partition("\n\n")[0]
    if _SAVED.search(head) and looks_like_mail(f"{head}\n"):
        return 3
    if sample.ending in (".mhtml", ".mht"):
        return 2 if _RELATED.search(head) else 1
    return 0


LOADER = Loader("saved web page", frozenset((".mhtml", ".mht")), _certainty, load_mhtml)
