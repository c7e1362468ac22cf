"""Values of the ingestion layer: parsed documents, outcomes per file, the report of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from retrieval.types import MetadataValue

BlockKind: TypeAlias = Literal["heading", "paragraph", "list", "table", "code", "quote"]

FailureReason: TypeAlias = Literal[
    "encrypted",
    "no_text_layer",
    "corrupt",
    "unsupported_type",
    "undecodable",
    "too_large",
    "empty",
    "unsafe_archive",
    "timeout",
    "out_of_memory",
    "not_found",
    "unreadable",
    "address_refused",
    "fetch_failed",
    "embedding_failed",
    "store_failed",
    "internal_error",
]
"""Closed set: why a file is not in. Texts for people are in ``detail``."""

Stage: TypeAlias = Literal["found", "parsed", "chunked", "embedded", "written", "verified"]
"""Steps of a document into the store, in order; ``verified`` means that its chunk ids were counted there."""

DocumentStatus: TypeAlias = Literal["ready", "failed", "processing", "container"]
"""``container``: an archive, or a mail without a text of its own; what it holds are documents of their own."""

FileStatus: TypeAlias = Literal["indexed", "unchanged", "updated", "deleted", "failed", "skipped"]


@dataclass(frozen=True, slots=True)
class Block:
    """A structural unit of a document's text; blocks are in order, do not overlap, and cover all text but white space.

    Attributes:
        kind: What the block is; the chunker avoids cutting inside tables rows, code and sentences.
        char_start: Offset of its first character in the document's text, in code points.
        char_end: Offset behind its last character.
        heading_path: Headings above the block, outermost first; a heading's own path ends with itself.
        page: One-based page of its first character; None where the format has no pages.
        language: Language of a code block, lower case; empty when unknown.
    """

    kind: BlockKind
    char_start: int
    char_end: int
    heading_path: tuple[str, ...] = ()
    page: int | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """What a loader makes of bytes. ``text`` is what is stored, shown and cited."""

    title: str
    text: str
    blocks: tuple[Block, ...]
    media_type: str
    page_count: int | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict[str, MetadataValue])


@dataclass(frozen=True, slots=True)
class DocumentIdentity:
    """Which document a text is: its id, its collection, where it came from, and the document that holds its file."""

    document_id: str
    collection: str
    source: str
    parent_id: str | None = None


class FileOutcome(BaseModel):
    """What became of one source in one ingest; one entry of ``ingest --json``."""

    model_config = ConfigDict(frozen=True)

    source: str
    """Absolute path, URL, or ``upload:NAME``."""
    status: FileStatus
    document_id: str = ""
    chunks: int = 0
    pages: int | None = None
    reason: FailureReason | None = None
    detail: str = ""
    """One sentence for a person: what is wrong and what to do."""
    parent_id: str | None = None
    """Document that holds the file: the mail of an attachment, the archive of a member."""
    children: int = 0
    """Number of files inside."""
    moved_from: str | None = None
    """Where the same content was found before; ``unchanged`` then means that nothing was embedded again."""


class IngestReport(BaseModel):
    """Result of one ingest; the JSON shape of ``ingest --json``."""

    model_config = ConfigDict(frozen=True)

    files: tuple[FileOutcome, ...]
    totals: dict[FileStatus, int]
    """Number of files by status; every status is present."""
    seconds: float = Field(ge=0)


class IngestProgress(BaseModel):
    """A moment of a running ingest."""

    model_config = ConfigDict(frozen=True)

    files_done: int
    files_total: int
    chunks_done: int
    current: str = ""
    """Source that was finished last."""


class DocumentRecord(BaseModel):
    """A row of the ledger as people and the API see it; one entry of ``documents list --json``."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    source: str
    title: str
    collection: str
    parent_id: str | None = None
    status: DocumentStatus
    reason: FailureReason | None = None
    detail: str = ""
    chunks: int = 0
    pages: int | None = None
    media_type: str = ""
    size_bytes: int = 0
    content_sha256: str = ""
    metadata: dict[str, MetadataValue] = Field(default_factory=dict[str, MetadataValue])
    children: int = 0
    """Number of files inside."""
    attempt: int = 0
    """How often it was brought in or failed."""
    updated_at: str = ""
    """ISO 8601, UTC."""


class StageRecord(BaseModel):
    """A document's latest pass through one stage."""

    model_config = ConfigDict(frozen=True)

    stage: Stage
    state: Literal["done", "failed"]
    content_sha256: str = ""
    reason: FailureReason | None = None
    detail: str = ""
    attempt: int = 1
    started_at: str
    """ISO 8601, UTC."""
    finished_at: str
    """ISO 8601, UTC."""
