"""What one ingest has done so far: outcomes by file, progress, the report at its end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import get_args

from ingestion.history import CHILD_MARK, History
from ingestion.preparing import FailedDocument, Preparation, PreparedDocument, UnchangedDocument
from ingestion.records import KnownDocument
from ingestion.types import DocumentIdentity, FileOutcome, FileStatus, IngestProgress, IngestReport

OnProgress = Callable[[IngestProgress], None]


@dataclass(slots=True)
class IngestRun:
    """Collects the outcomes of one ingest."""

    collection: str
    history: History
    indexed_before: frozenset[str]
    """Documents of which the store may hold chunks: all that the ledger has ever begun."""
    dry_run: bool
    files_total: int
    on_progress: OnProgress | None = None
    outcomes: list[FileOutcome] = field(default_factory=list[FileOutcome])
    chunks_done: int = 0
    files_done: int = 0
    groups_begun: int = 0
    stopped: bool = False

    def add(self, outcome: FileOutcome) -> None:
        """Take down an outcome and tell of it."""
        self.outcomes.append(outcome)
        self.files_done += outcome.parent_id is None
        if outcome.status in ("indexed", "updated"):
            self.chunks_done += outcome.chunks
        if self.on_progress is not None:
            self.on_progress(
                IngestProgress(
                    files_done=min(self.files_done, self.files_total),
                    files_total=self.files_total,
                    chunks_done=self.chunks_done,
                    current=outcome.source,
                )
            )

    def add_prepared(self, item: Preparation) -> None:
        """Take down what became of a file, and of the files that were inside it."""
        self.add(self._outcome(item))
        if isinstance(item, UnchangedDocument) and item.skipped:
            for document in self.history.descendants(item.identity.document_id):
                self.add(_unchanged(document))
        elif not isinstance(item, UnchangedDocument):
            inside = f"{item.identity.source}{CHILD_MARK}"
            for document_id in item.gone:
                document = self.history.get(document_id)
                if document is not None and document.identity.source.startswith(inside):
                    self.add(deleted(document))

    def report(self, seconds: float) -> IngestReport:
        """The whole run, files in order of their sources."""
        return make_report(self.outcomes, seconds)

    def _outcome(self, item: Preparation) -> FileOutcome:
        identity = item.identity
        before = self.history.get(identity.document_id)
        match item:
            case UnchangedDocument():
                if before is None:
                    return _named(identity, "unchanged")
                return _unchanged(before)
            case FailedDocument():
                failure = item.failure
                return _named(identity, "failed").model_copy(
                    update={"reason": failure.reason, "detail": failure.detail}
                )
            case PreparedDocument():
                was_in = before is not None and (before.chunks > 0 or before.status == "container")
                status: FileStatus = "unchanged" if item.moved_from else "updated" if was_in else "indexed"
                pages = item.parsed.page_count if item.parsed else None
                counts: dict[str, object] = {"chunks": len(item.chunks), "pages": pages, "children": item.children}
                return _named(identity, status).model_copy(update={**counts, "moved_from": item.moved_from})


def make_report(outcomes: Sequence[FileOutcome], seconds: float) -> IngestReport:
    """A report of these outcomes, in order of their sources."""
    counts = Counter(outcome.status for outcome in outcomes)
    totals: dict[FileStatus, int] = {status: counts[status] for status in get_args(FileStatus)}
    files = tuple(sorted(outcomes, key=lambda outcome: outcome.source))
    return IngestReport(files=files, totals=totals, seconds=seconds)


def deleted(document: KnownDocument) -> FileOutcome:
    """Outcome of a document that is taken out."""
    return _named(document.identity, "deleted").model_copy(update={"chunks": document.chunks})


def failed_again(outcome: FileOutcome, detail: str) -> FileOutcome:
    """The same document, not taken out after all."""
    changes = {"status": "failed", "reason": "store_failed", "detail": detail}
    return outcome.model_copy(update=changes)


def _unchanged(document: KnownDocument) -> FileOutcome:
    counts = {"chunks": document.chunks, "pages": document.pages, "children": document.children}
    return _named(document.identity, "unchanged").model_copy(update=counts)


def _named(identity: DocumentIdentity, status: FileStatus) -> FileOutcome:
    return FileOutcome(
        source=identity.source, status=status, document_id=identity.document_id, parent_id=identity.parent_id
    )
