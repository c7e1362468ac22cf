"""Values that pass between pipeline and ledger: what was read, what is known, what has been done."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid5

from ingestion.types import Block, DocumentIdentity, DocumentStatus, FailureReason, ParsedDocument, Stage


@dataclass(frozen=True, slots=True)
class Content:
    """What was read of a source, and how it is to be indexed.

    Attributes:
        sha256: Hash of the bytes, hex.
        size_bytes: Number of bytes.
        fingerprint: The embedder's fingerprint.
        recipe: Name of the settings that shape the chunks.
    """

    sha256: str
    size_bytes: int
    fingerprint: str
    recipe: str

    def version(self, document_id: str) -> str:
        """UUID string of the document's version with this content."""
        return str(uuid5(UUID(document_id), f"{self.sha256}\n{self.fingerprint}\n{self.recipe}"))


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """What the ledger knows of a document; ``children`` is the number of files inside, ``version`` what readers see."""

    identity: DocumentIdentity
    status: DocumentStatus
    content: Content
    chunks: int
    pages: int | None
    children: int = 0
    version: str = ""


@dataclass(frozen=True, slots=True)
class StageTime:
    """When a stage began and ended; UTC."""

    stage: Stage
    started_at: datetime
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class StageFailure:
    """The stage a document did not get through, and why: a reason of the closed set and a sentence for a person."""

    stage: Stage
    reason: FailureReason
    detail: str


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """A document whose chunks are all in the store; without any it is a container.

    Attributes:
        identity: The document.
        content: What was read of it.
        parsed: Its text; None for a container.
        chunk_ids: Ids of its chunks in order.
        children: Number of files inside.
        gone: Documents that go with the version before: files no longer inside, and where this one was moved from.
        times: Stages that have not been recorded yet.
    """

    identity: DocumentIdentity
    content: Content
    parsed: ParsedDocument | None
    chunk_ids: Sequence[str]
    children: int = 0
    gone: Sequence[str] = ()
    times: Sequence[StageTime] = ()


def now() -> datetime:
    """This moment in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """ISO 8601 with milliseconds, as the tables keep it."""
    return moment.isoformat(timespec="milliseconds")


def blocks_to_json(blocks: Sequence[Block]) -> str:
    """Blocks as compact JSON: one list a block, heading paths written once where they repeat."""
    rows: list[object] = []
    before: tuple[str, ...] | None = None
    for block in blocks:
        path = None if block.heading_path == before else list(block.heading_path)
        before = block.heading_path
        rows.append([block.kind, block.char_start, block.char_end, path, block.page, block.language])
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def blocks_from_json(text: str) -> tuple[Block, ...]:
    """The blocks that ``blocks_to_json`` was given."""
    blocks: list[Block] = []
    path: tuple[str, ...] = ()
    for kind, char_start, char_end, own_path, page, language in json.loads(text):
        path = path if own_path is None else tuple(own_path)
        blocks.append(Block(kind, char_start, char_end, path, page, language))
    return tuple(blocks)
