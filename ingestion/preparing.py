"""Sources to parsed documents with chunks and term weights, or the reasons why not. Knows no store, no ledger.

Files are parsed in worker processes, a few ahead of the one that is chunked. Files inside others come before the one
that holds them, so that a holder is in only when all of it is.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid5

from ingestion.chunking import split
from ingestion.errors import LoadFailed
from ingestion.history import CHILD_MARK, History
from ingestion.loaders.loader import LoadOptions
from ingestion.loaders.sidecar import ENDING as SIDECAR_ENDING
from ingestion.loaders.sidecar import read_sidecar
from ingestion.parse_worker import ParseResult, ParseTask, SpilledFile
from ingestion.reading import read_file
from ingestion.records import Content, StageFailure, StageTime, now
from ingestion.settings import IngestionSettings
from ingestion.sources import Source, identity_of
from ingestion.types import DocumentIdentity, FailureReason, ParsedDocument, Stage
from ingestion.workers import ParsePool
from retrieval.embedders.protocol import Embedder
from retrieval.types import Chunk, MetadataValue, SparseVector, index_text

logger = logging.getLogger(__name__)

RECIPE_VERSION = 2
"""Raised when a loader or the chunker changes what it makes of the same bytes: documents are then indexed anew."""
_BINARY_HEAD_BYTES = 8192
_SIDECAR_BYTES = 1024 * 1024


class DocumentEncoder(Protocol):
    """Gives the lexical leg's term weights of a passage."""

    def encode_document(self, text: str) -> SparseVector:
        """Term weights; no entries for a text without terms."""
        ...


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document that is ready to be embedded and written.

    Attributes:
        identity: The document.
        content: What was read of it.
        parsed: Its text; None for one that only holds files.
        chunks: Its chunks; none for one that only holds files.
        sparse: Term weights of each chunk.
        children: Number of files inside.
        gone: Documents that go when this one is in.
        alike: Documents that may have vectors of the same texts.
        moved_from: Source of the same file before.
        times: Stages that are done.
    """

    identity: DocumentIdentity
    content: Content
    parsed: ParsedDocument | None
    chunks: Sequence[Chunk] = ()
    sparse: Sequence[SparseVector] = ()
    children: int = 0
    gone: Sequence[str] = ()
    alike: Sequence[str] = ()
    moved_from: str | None = None
    times: Sequence[StageTime] = ()


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A source that cannot become chunks; ``gone``: the files that were inside, for when it is taken out."""

    identity: DocumentIdentity
    content: Content
    failure: StageFailure
    times: Sequence[StageTime] = ()
    gone: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class UnchangedDocument:
    """A source whose bytes and recipe are those that were indexed before.

    ``skipped``: whether the files inside were not looked at, for the same reason.
    """

    identity: DocumentIdentity
    skipped: bool = True


Preparation = PreparedDocument | FailedDocument | UnchangedDocument


@dataclass(slots=True)
class _Item:
    """One file on its way."""

    source: Source
    identity: DocumentIdentity
    spill: Path
    holder: _Item | None = None
    depth: int = 0
    content: Content | None = None
    metadata: dict[str, MetadataValue] = field(default_factory=dict[str, MetadataValue])
    future: Future[ParseResult] | None = None
    outcome: Preparation | None = None
    moved_from: DocumentIdentity | None = None
    times: list[StageTime] = field(default_factory=list[StageTime])
    inside: list[str] = field(default_factory=list[str])
    open_children: int = 0

    @property
    def root(self) -> _Item:
        """The file on disk that it is in."""
        return self if self.holder is None else self.holder.root


@dataclass(frozen=True, slots=True)
class Preparer:
    """Reads, parses and splits; blocks, so call it off the event loop."""

    embedder: Embedder
    lexical: DocumentEncoder
    settings: IngestionSettings

    def prepare_all(
        self, sources: Iterable[Source], history: History, *, collection: str, pool: ParsePool, scratch: Path
    ) -> Iterator[Preparation]:
        """What each source is now, about in their order, files inside others first.

        Args:
            sources: Where bytes are.
            history: What was indexed before.
            collection: Collection of the documents.
            pool: Processes that parse.
            scratch: Folder for files that are inside others.
        """
        run = _Preparing(self, history, collection, pool, scratch)
        remaining = iter(sources)
        running: deque[_Item] = deque()
        while True:
            while len(running) <= self.settings.workers:
                item = run.waiting.popleft() if run.waiting else run.top_level(next(remaining, None))
                if item is None:
                    break
                run.start(item)
                running.append(item)
            if not running:
                return
            yield from run.finish(running.popleft())

    def content(self, data: bytes, *, sidecar: bytes | None = None) -> Content:
        """What was read, and how it is to be indexed; the mode of recognition counts for files that are no text."""
        beside = hashlib.sha256(sidecar).hexdigest()[:8] if sidecar is not None else ""
        options = self.settings.load_options()
        binary = data.startswith(b"%PDF") or b"\0" in data[:_BINARY_HEAD_BYTES]
        ocr = f"{options.ocr}-{options.ocr_languages}"[:40] if binary else ""
        sizes = f"{self.settings.chunk_tokens}:{self.settings.overlap_tokens}"
        recipe = f"{RECIPE_VERSION}:{sizes}:{ocr}:{beside}"
        return Content(hashlib.sha256(data).hexdigest(), len(data), self.embedder.fingerprint, recipe)

    def chunks(self, parsed: ParsedDocument, identity: DocumentIdentity, version: str) -> list[Chunk]:
        """Chunks of one version of a document; the same input gives the same ids."""
        chunks = split(parsed, identity=identity, settings=self.settings, count_tokens=self.embedder.count_tokens)
        name = UUID(version)
        return [replace(chunk, chunk_id=str(uuid5(name, chunk.chunk_id)), version=version) for chunk in chunks]


class _Preparing:
    """One pass over sources."""

    def __init__(self, preparer: Preparer, history: History, collection: str, pool: ParsePool, scratch: Path) -> None:
        self._preparer = preparer
        self._settings = preparer.settings
        self._options: LoadOptions = preparer.settings.load_options()
        self._history = history
        self._collection = collection
        self._pool = pool
        self._scratch = scratch
        self._number = 0
        self._taken_out: Counter[str] = Counter()
        self._taken_out_bytes: Counter[str] = Counter()
        self.waiting: deque[_Item] = deque()
        """Files inside others that have not been started."""

    def top_level(self, source: Source | None) -> _Item | None:
        """The item of a source; None for None."""
        return None if source is None else self._item(source, None)

    def start(self, item: _Item) -> None:
        """Read and compare; what has to be parsed goes to the pool."""
        if item.outcome is not None:
            return
        started = now()
        item.content = self._preparer.content(b"")
        try:
            data = read_file(item.source.path, max_bytes=self._settings.max_file_bytes)
            sidecar = _sidecar(item.source)
            item.content = self._preparer.content(data, sidecar=sidecar)
            item.metadata = dict(read_sidecar(sidecar)) if sidecar is not None else {}
        except LoadFailed as error:
            item.outcome = self._failed(item, "found", error.reason, error.detail)
            return
        document_id = item.identity.document_id
        unchanged = self._history.indexed_content(document_id) == item.content
        if unchanged and self._history.is_whole(document_id):
            item.outcome = UnchangedDocument(item.identity)
            return
        item.moved_from = self._moved_from(item, item.content)
        item.times.append(StageTime("found", started, now()))
        if unchanged:
            # Its own text is in; a file inside failed, and is tried again.
            item.outcome = UnchangedDocument(item.identity, skipped=False)
        task = ParseTask(item.source.path, item.source.name, self._settings.max_file_bytes, self._options, item.spill)
        item.future = self._pool.submit(task)

    def finish(self, item: _Item) -> Iterator[Preparation]:
        """Wait for the parser; yields the item once all files inside it are done, and then maybe its holder."""
        if item.future is not None:
            started = now()
            result = item.future.result()
            self._take_in(item, result, started)
        if item.open_children == 0:
            yield from self._done(item)

    def _take_in(self, item: _Item, result: ParseResult, started: datetime) -> None:
        if result.sha256 and item.content is not None and result.sha256 != item.content.sha256:
            # The file changed between the two looks at it; what was parsed is what counts.
            item.content = replace(item.content, sha256=result.sha256, size_bytes=result.size_bytes)
        if result.trace:
            logger.error("Parsing failed", extra={"source": item.source.source, "trace": result.trace})
        if result.reason is not None:
            item.outcome = self._failed(item, "parsed", result.reason, result.detail)
            return
        item.times.append(StageTime("parsed", started, now()))
        if item.outcome is None:
            item.outcome = self._split(item, result)
        if not isinstance(item.outcome, FailedDocument):
            self._queue(item, result.children)

    def _split(self, item: _Item, result: ParseResult) -> Preparation:
        started = now()
        parsed, content = result.document, item.content
        assert content is not None
        document_id = item.identity.document_id
        chunks: list[Chunk] = []
        if parsed is not None:
            parsed = replace(parsed, metadata={**parsed.metadata, **item.metadata})
            try:
                chunks = self._preparer.chunks(parsed, item.identity, content.version(document_id))
                sparse = [self._preparer.lexical.encode_document(index_text(chunk)) for chunk in chunks]
            except Exception as error:
                # The border of one file: a text that the chunker cannot take must not end the run.
                logger.exception("Chunking failed", extra={"source": item.source.source})
                detail = f"The text could not be cut into chunks ({type(error).__name__}); the log has the details."
                return self._failed(item, "chunked", "internal_error", detail)
        else:
            sparse = []
        if not chunks and not result.children:
            return self._failed(item, "chunked", "empty", "The file holds no text that could be indexed.")
        item.times.append(StageTime("chunked", started, now()))
        return PreparedDocument(
            item.identity,
            content,
            parsed if chunks else None,
            chunks,
            sparse,
            alike=self._history.alike(document_id, content),
            moved_from=item.moved_from.source if item.moved_from else None,
            times=item.times,
        )

    def _queue(self, item: _Item, children: Sequence[SpilledFile]) -> None:
        """Put the files inside before everything else that waits."""
        items: list[_Item] = []
        names: Counter[str] = Counter()
        for child in children:
            names[child.name] += 1
            name = child.name if names[child.name] == 1 else f"{child.name} ({names[child.name]})"
            items.append(self._child(item, child, name))
        item.inside = [child.identity.document_id for child in items]
        item.open_children = len(items)
        self.waiting.extendleft(reversed(items))

    def _child(self, holder: _Item, child: SpilledFile, name: str) -> _Item:
        path = child.path or holder.spill
        source = Source(f"{holder.source.source}{CHILD_MARK}{name}", path)
        item = self._item(source, holder)
        root = holder.root.identity.document_id
        self._taken_out[root] += 1
        self._taken_out_bytes[root] += path.stat().st_size if child.path else 0
        if child.reason is not None:
            item.outcome = self._failed(item, "found", child.reason, child.detail)
        elif problem := self._limit(item, root):
            item.outcome = self._failed(item, "found", "unsafe_archive", problem)
        return item

    def _limit(self, item: _Item, root: str) -> str:
        """The limit of files inside files that an item goes over; empty for none."""
        limits = self._settings
        if item.depth > limits.max_depth:
            return f"It is more than {limits.max_depth} levels deep inside other files (ingestion.max_depth)."
        if self._taken_out[root] > limits.max_children:
            return f"More than {limits.max_children} files are inside (ingestion.max_children)."
        if self._taken_out_bytes[root] > limits.max_children_bytes:
            return f"More than {limits.max_children_bytes} bytes are inside (ingestion.max_children_bytes)."
        return ""

    def _done(self, item: _Item) -> Iterator[Preparation]:
        outcome, document_id = item.outcome, item.identity.document_id
        assert outcome is not None
        if isinstance(outcome, PreparedDocument):
            gone = self._history.gone_from(document_id, item.inside)
            if item.moved_from is not None:
                gone += self._history.all_of(item.moved_from.document_id)
            outcome = replace(outcome, children=len(item.inside), gone=tuple(gone), times=tuple(item.times))
        yield outcome
        if item.spill.exists():
            shutil.rmtree(item.spill, ignore_errors=True)
        if item.holder is not None:
            item.holder.open_children -= 1
            if item.holder.open_children == 0:
                yield from self._done(item.holder)

    def _item(self, source: Source, holder: _Item | None) -> _Item:
        self._number += 1
        identity = identity_of(source.source, self._collection)
        if holder is not None:
            identity = replace(identity, parent_id=holder.identity.document_id)
        depth = holder.depth + 1 if holder else 0
        return _Item(source, identity, self._scratch / str(self._number), holder, depth)

    def _moved_from(self, item: _Item, content: Content) -> DocumentIdentity | None:
        if self._history.get(item.identity.document_id) is not None:
            return None
        if item.holder is None:
            found = self._history.take_moved(content)
        elif item.holder.moved_from is not None:
            name = item.source.source.removeprefix(f"{item.holder.source.source}{CHILD_MARK}")
            found = self._history.moved_inside(item.holder.moved_from.document_id, name, content)
        else:
            found = None
        return found.identity if found else None

    def _failed(self, item: _Item, stage: Stage, reason: FailureReason, detail: str) -> FailedDocument:
        content = item.content or self._preparer.content(b"")
        document_id = item.identity.document_id
        gone = tuple(self._history.gone_from(document_id, ())) if self._history.get(document_id) else ()
        return FailedDocument(item.identity, content, StageFailure(stage, reason, detail), tuple(item.times), gone)


def is_sidecar(source: Source) -> bool:
    """Whether a file is the metadata of another one beside it, and no document."""
    name = source.path.name
    return name.endswith(SIDECAR_ENDING) and source.path.with_name(name.removesuffix(SIDECAR_ENDING)).is_file()


def _sidecar(source: Source) -> bytes | None:
    """Bytes of the metadata file beside a file of this machine; None without one."""
    path = source.path.with_name(source.path.name + SIDECAR_ENDING)
    if not source.source.startswith("/") or not path.is_file():
        return None
    return read_file(path, max_bytes=_SIDECAR_BYTES)
