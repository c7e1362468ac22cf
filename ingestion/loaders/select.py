"""Chooses the loader: what the bytes are comes first, the ending of the name second."""

from __future__ import annotations

import re
from pathlib import PurePath

from ingestion.errors import LoadFailed
from ingestion.loaders.docx import load_docx
from ingestion.loaders.encoding import decode
from ingestion.loaders.html import load_html
from ingestion.loaders.markdown import load_markdown
from ingestion.loaders.office_package import OLE_MAGIC
from ingestion.loaders.pdf import load_pdf
from ingestion.loaders.text import load_text
from ingestion.types import ParsedDocument

_MARKDOWN_ENDINGS = frozenset((".md", ".markdown", ".mdown", ".mkd", ".mdx"))
_HTML_ENDINGS = frozenset((".html", ".htm", ".xhtml"))
_BINARY_FAMILIES = frozenset((".pdf", ".docx"))
_NOT_PLAIN = {
    ".eml": "mail",
    ".mbox": "mail",
    ".msg": "mail",
    ".mhtml": "web archives",
    ".mht": "web archives",
    ".rtf": "RTF",
    ".ipynb": "notebooks",
    ".svg": "pictures",
    ".pem": "keys",
    ".key": "keys",
}
"""Endings of files that are text to a computer, but whose text is not what a reader sees or should find."""
_PDF_HEAD_BYTES = 1024
_HTML_HEAD = re.compile(
    rb"\A\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.I | re.S
)
_MAGIC = (
    (b"\x89PNG", "pictures"),
    (b"\xff\xd8\xff", "pictures"),
    (b"GIF8", "pictures"),
    (b"BM", "pictures"),
    (b"II*\0", "pictures"),
    (b"MM\0*", "pictures"),
    (b"\x1f\x8b", "compressed files"),
    (b"BZh", "compressed files"),
    (b"\xfd7zXZ", "compressed files"),
    (b"7z\xbc\xaf", "archives"),
    (b"Rar!", "archives"),
    (b"{\\rtf", "RTF"),
    (b"\x7fELF", "programs"),
    (b"MZ", "programs"),
    (b"SQLite format 3", "databases"),
)


def load(data: bytes, *, name: str) -> ParsedDocument:
    """The document that a file's bytes hold.

    Args:
        data: The whole file.
        name: Its name; the ending decides between kinds of text, and the stem is a title of last resort.

    Raises:
        LoadFailed: With the reason for which the file cannot become text.
    """
    ending = PurePath(name).suffix.lower()
    if not data:
        raise LoadFailed("empty", "The file is empty.")
    if b"%PDF-" in data[:_PDF_HEAD_BYTES]:
        return load_pdf(data, name=name)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06", OLE_MAGIC)):
        return load_docx(data, name=name)
    if not data[:_PDF_HEAD_BYTES].isascii() or b"\0" in data[:_PDF_HEAD_BYTES]:
        _refuse_binary(data, ending)
    elif data.startswith(b"{\\rtf") or ending in _NOT_PLAIN:
        raise _unsupported(_NOT_PLAIN.get(ending, "RTF"))
    return _load_textual(data, name, ending)


def _refuse_binary(data: bytes, ending: str) -> None:
    """Raises for bytes that are known not to be text; ASCII art may begin like a picture, so ASCII is never refused."""
    if ending in _NOT_PLAIN:
        raise _unsupported(_NOT_PLAIN[ending])
    for magic, family in _MAGIC:
        if data.startswith(magic) and (len(magic) > 2 or b"\0" in data[:_PDF_HEAD_BYTES]):
            raise _unsupported(family)


def _load_textual(data: bytes, name: str, ending: str) -> ParsedDocument:
    looks_like_html = bool(_HTML_HEAD.match(data[:_PDF_HEAD_BYTES].lstrip(b"\xef\xbb\xbf")))
    try:
        if (looks_like_html and ending not in _MARKDOWN_ENDINGS) or ending in _HTML_ENDINGS:
            return load_html(data, name=name)
        text = decode(data).text
    except LoadFailed as error:
        if error.reason == "undecodable" and ending in _BINARY_FAMILIES:
            raise LoadFailed("corrupt", f"The file ends in {ending!r} but holds something else.") from error
        if error.reason == "undecodable" and b"\0" in data:
            raise _unsupported("binary data") from error
        raise
    if not text.strip():
        raise LoadFailed("empty", "The file holds nothing but white space.")
    return load_markdown(text, name=name) if ending in _MARKDOWN_ENDINGS else load_text(text, name=name)


def _unsupported(family: str) -> LoadFailed:
    return LoadFailed(
        "unsupported_type", f"This kind of file ({family}) is not read; give Markdown, text, HTML, PDF or DOCX."
    )
