"""One source to a parsed document with chunks and term weights, or the reason why not. Knows no store, no ledger."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ingestion.chunking import split
from ingestion.errors import LoadFailed
from ingestion.ledger import Content
from ingestion.loaders.select import load
from ingestion.settings import IngestionSettings
from ingestion.sources import Source
from ingestion.types import DocumentIdentity, FailureReason, ParsedDocument
from retrieval.embedders.protocol import Embedder
from retrieval.types import Chunk, SparseVector, index_text

logger = logging.getLogger(__name__)

RECIPE_VERSION = 2
"""Raised when a loader or the chunker changes what it makes of the same bytes: documents are then indexed anew."""


class DocumentEncoder(Protocol):
    """Gives the lexical leg's term weights of a passage."""

    def encode_document(self, text: str) -> SparseVector:
        """Term weights; no entries for a text without terms."""
        ...


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document that is ready to be embedded and written; ``sparse`` has an entry for each chunk."""

    identity: DocumentIdentity
    content: Content
    parsed: ParsedDocument
    chunks: Sequence[Chunk]
    sparse: Sequence[SparseVector]


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A source that cannot become chunks."""

    identity: DocumentIdentity
    content: Content
    reason: FailureReason
    detail: str


@dataclass(frozen=True, slots=True)
class UnchangedDocument:
    """A source whose bytes and recipe are those that were indexed before."""

    identity: DocumentIdentity


Preparation = PreparedDocument | FailedDocument | UnchangedDocument


@dataclass(frozen=True, slots=True)
class Preparer:
    """Reads, parses and splits; blocks, so call it off the event loop."""

    embedder: Embedder
    lexical: DocumentEncoder
    settings: IngestionSettings

    def prepare(self, source: Source, identity: DocumentIdentity, *, indexed: Content | None) -> Preparation:
        """What a source is now.

        Args:
            source: Where its bytes are.
            identity: The document it is.
            indexed: What was indexed of it before; None to take it as new.
        """
        content = self._content(b"")
        try:
            data = _read(source, self.settings.max_file_bytes)
            content = self._content(data)
            if content == indexed:
                return UnchangedDocument(identity)
            parsed = load(data, name=source.name).document
            if parsed is None:
                raise LoadFailed("empty", "The file holds no text of its own.")
            return self._split(identity, content, parsed)
        except LoadFailed as error:
            return FailedDocument(identity, content, error.reason, error.detail)
        except Exception as error:
            # The border of one file: whatever a parsing library raises must not end the run.
            logger.exception("Parsing failed", extra={"source": source.source})
            detail = f"The file could not be parsed ({type(error).__name__}); the log has the details."
            reason: FailureReason = "out_of_memory" if isinstance(error, MemoryError) else "internal_error"
            return FailedDocument(identity, content, reason, detail)

    def _split(self, identity: DocumentIdentity, content: Content, parsed: ParsedDocument) -> PreparedDocument:
        chunks = split(parsed, identity=identity, settings=self.settings, count_tokens=self.embedder.count_tokens)
        if not chunks:
            raise LoadFailed("empty", "The file holds no text that could be indexed.")
        sparse = [self.lexical.encode_document(index_text(chunk)) for chunk in chunks]
        return PreparedDocument(identity, content, parsed, chunks, sparse)

    def _content(self, data: bytes) -> Content:
        recipe = f"{RECIPE_VERSION}:{self.settings.chunk_tokens}:{self.settings.overlap_tokens}"
        digest = hashlib.sha256(data).hexdigest()
        return Content(digest, len(data), self.embedder.fingerprint, recipe)


def _read(source: Source, max_bytes: int) -> bytes:
    try:
        with source.path.open("rb") as file:
            data = file.read(max_bytes + 1)
    except FileNotFoundError as error:
        raise LoadFailed("not_found", "The file is gone.") from error
    except OSError as error:
        raise LoadFailed("unreadable", f"The file cannot be read ({error.strerror}).") from error
    if len(data) > max_bytes:
        raise LoadFailed("too_large", f"The file is larger than {max_bytes} bytes (ingestion.max_file_bytes).")
    return data
