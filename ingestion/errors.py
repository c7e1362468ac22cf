"""Errors of the ingestion layer.

IngestionError
├── LoadFailed        the file cannot become text; carries a reason of the closed set
├── LedgerUnavailable infrastructure: the database cannot be read or written; may be retried
├── PageUnknown       caller: the document has no page of that number
├── TextMissing       operator: a document was brought in before structures were kept; ingest it again
└── CollectionUnknown caller: no such collection
"""

from __future__ import annotations

from ingestion.types import FailureReason


class IngestionError(Exception):
    """Base of all errors raised by this layer; the message is one sentence that names what to do."""


class LoadFailed(IngestionError):
    """A source cannot be turned into text; one file's fate, never the run's."""

    def __init__(self, reason: FailureReason, detail: str) -> None:
        super().__init__(detail)
        self.reason: FailureReason = reason
        self.detail = detail


class LedgerUnavailable(IngestionError):
    """The database of the ledger cannot be read or written."""


class PageUnknown(IngestionError):
    """A document has no page of a number, or no pages that could be drawn."""


class CollectionUnknown(IngestionError):
    """No document is in a collection of that name."""


class TextMissing(IngestionError):
    """The ledger does not hold what chunks of a document could be made of again."""
