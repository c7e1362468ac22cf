"""Bytes and texts to what is attached: one text, its pieces, its media type. Knows no database and no thread.

Bytes go through the loaders in a process of their own, with limits of time and memory; text that a server sent as text
is cut here, for there is nothing in it to decode.
"""

from __future__ import annotations

import mimetypes
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from agents.attached import AttachedPiece
from app.errors import AttachmentRefused
from app.settings import AttachmentSettings
from ingestion.chunking import split
from ingestion.errors import LoadFailed
from ingestion.loaders import ocr
from ingestion.loaders.markdown import load_markdown
from ingestion.loaders.text import load_text
from ingestion.parse_worker import ParseResult, ParseTask
from ingestion.settings import IngestionSettings
from ingestion.types import DocumentIdentity, ParsedDocument
from ingestion.units import CountTokens
from ingestion.workers import ParsePool
from retrieval.types import Chunk

_MARKDOWN = frozenset({"text/markdown", "text/x-markdown"})
_PARSED_TYPES = frozenset({"text/html", "application/xhtml+xml"})
"""Text that a reader would not want to see as it is sent."""
_NOBODY = "00000000-0000-0000-0000-000000000000"
"""Stands for the document where chunks are made that are no document's."""
_NAME_LENGTH = 120


@dataclass(frozen=True, slots=True)
class PreparedText:
    """What becomes of something that is to be attached."""

    text: str
    media_type: str
    pieces: tuple[AttachedPiece, ...]


@dataclass(frozen=True, slots=True)
class TextMaker:
    """Makes texts; blocks, so call it off the event loop.

    Attributes:
        attachments: Limits of what may be attached.
        ingestion: How files are parsed and cut.
        count_tokens: The embedding model's count, which pieces are cut by as the passages of documents are.
        scratch: Folder for files while they are parsed.
    """

    attachments: AttachmentSettings
    ingestion: IngestionSettings
    count_tokens: CountTokens
    scratch: Path

    def from_text(self, text: str, *, name: str, media_type: str) -> PreparedText:
        """A text that came as text.

        Raises:
            AttachmentRefused: It is empty or too long.
        """
        kind = media_type.partition(";")[0].strip().lower()
        self._require_length(text, name)
        if kind in _PARSED_TYPES:
            return self.from_bytes(text.encode("utf-8", "replace"), name=f"{name}.html")
        try:
            parsed = load_markdown(text, name=name) if kind in _MARKDOWN else load_text(text, name=name)
        except LoadFailed as error:
            raise AttachmentRefused(f"{name!r} cannot be attached: {error.detail}") from error
        return self._prepared(parsed, name, media_type=kind)

    def from_bytes(self, data: bytes, *, name: str) -> PreparedText:
        """What the loaders read of a file.

        Raises:
            AttachmentRefused: It is too large, of a kind that is not read, or holds no text.
        """
        if len(data) > self.attachments.max_bytes:
            limit = f"{self.attachments.max_bytes:,} bytes ([attachments] max_bytes)"
            raise AttachmentRefused(f"{name!r} has {len(data):,} bytes, more than {limit}; ingest it instead.")
        result = self._parse(data, name)
        if result.document is None:
            detail = result.detail or "It holds files and no text of its own; attach one of those."
            raise AttachmentRefused(f"{name!r} cannot be attached: {detail}")
        return self._prepared(result.document, name, media_type=result.document.media_type)

    def words_of(self, data: bytes, *, name: str) -> str:
        """What is read of a picture by character recognition; empty where nothing is, or nothing may be."""
        result = self._parse(data, name)
        return result.document.text[: self.attachments.max_characters] if result.document else ""

    def reads_pictures(self) -> str:
        """Why no words are read from pictures on this machine; empty where they are."""
        if self.ingestion.ocr == "never":
            return "no words are read from pictures here (ingestion.ocr)"
        try:
            ocr.require(self.ingestion.ocr_languages)
        except ocr.OcrUnavailable as error:
            return str(error).rstrip(".")
        return ""

    def from_document(self, text: str, chunks: Sequence[Chunk], *, name: str, media_type: str) -> PreparedText:
        """The stored text of a document, with its chunks as pieces.

        Raises:
            AttachmentRefused: It is empty or too long.
        """
        self._require_length(text, name)
        return PreparedText(text, media_type, _pieces(chunks))

    def _parse(self, data: bytes, name: str) -> ParseResult:
        self.scratch.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            path = Path(folder) / "file"
            path.write_bytes(data)
            options = self.ingestion.load_options()
            task = ParseTask(path, name, self.attachments.max_bytes, options, Path(folder) / "inside")
            with ParsePool(
                workers=1,
                timeout_seconds=self.ingestion.parse_timeout_seconds,
                memory_bytes=self.ingestion.parse_memory_bytes,
            ) as pool:
                return pool.submit(task).result()

    def _prepared(self, parsed: ParsedDocument, name: str, *, media_type: str) -> PreparedText:
        self._require_length(parsed.text, name)
        identity = DocumentIdentity(document_id=_NOBODY, collection="", source=name)
        chunks = split(parsed, identity=identity, settings=self.ingestion, count_tokens=self.count_tokens)
        return PreparedText(parsed.text, media_type or parsed.media_type, _pieces(chunks))

    def _require_length(self, text: str, name: str) -> None:
        limit = self.attachments.max_characters
        if not text.strip():
            raise AttachmentRefused(f"{name!r} holds no text.")
        if len(text) > limit:
            raise AttachmentRefused(
                f"{name!r} has {len(text):,} characters, more than {limit:,} ([attachments] max_characters); "
                "ingest it instead."
            )


def short_name(address: str) -> str:
    """What to call a resource: the end of its address."""
    path = re.split(r"[?#]", address, maxsplit=1)[0].rstrip("/")
    return (unquote(path.rpartition("/")[2]) or address)[:_NAME_LENGTH]


def file_name(address: str, media_type: str) -> str:
    """A name for a resource's bytes, with the ending that its media type has."""
    name = short_name(address)
    ending = mimetypes.guess_extension(media_type.partition(";")[0].strip()) or ""
    return name if Path(name).suffix or not ending else f"{name}{ending}"


def _pieces(chunks: Sequence[Chunk]) -> tuple[AttachedPiece, ...]:
    return tuple(AttachedPiece(chunk.char_start, chunk.char_end, chunk.page, chunk.heading_path) for chunk in chunks)
