"""Mends what differs between ledger and store, from the ledger's stored texts: no file is needed.

Chunks that the store has lost are made and embedded again, chunks of no document are taken out, and documents whose
first ingest was cut off are said to have failed, so that the next ingest takes them up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ingestion.ledger import Ledger
from ingestion.preparing import FailedDocument, PreparedDocument, Preparer
from ingestion.reconciling import difference
from ingestion.records import KnownDocument, StageFailure
from ingestion.types import FileOutcome
from ingestion.writing import Writer
from retrieval.store.protocol import VectorStore
from retrieval.types import index_text

_GROUP_DOCUMENTS = 32
_CUT_OFF = "Its ingest was cut off and nothing of it is in; ingest it again."


async def repair(ledger: Ledger, store: VectorStore, writer: Writer, preparer: Preparer) -> list[FileOutcome]:
    """Mend; returns what became of each document that was not whole. Nothing else may write meanwhile.

    Raises:
        StoreUnavailable: The store cannot be read or written.
        LedgerUnavailable: The database cannot be read or written.
    """
    await writer.recover()
    differs = await difference(ledger, store)
    await asyncio.to_thread(store.delete_chunks, sorted(differs.orphans))
    known = await ledger.known()
    broken = [document for key, document in known.items() if key in differs.lost or document.status == "processing"]
    outcomes: list[FileOutcome] = []
    for start in range(0, len(broken), _GROUP_DOCUMENTS):
        outcomes += await _mend(broken[start : start + _GROUP_DOCUMENTS], ledger, writer, preparer)
    return outcomes


async def _mend(
    documents: Sequence[KnownDocument], ledger: Ledger, writer: Writer, preparer: Preparer
) -> list[FileOutcome]:
    whole: list[PreparedDocument] = []
    failed: list[FailedDocument] = []
    for document in documents:
        prepared = await _from_ledger(document, ledger, preparer)
        if prepared is None:
            failure = StageFailure("written", "store_failed", _CUT_OFF)
            failed.append(FailedDocument(document.identity, document.content, failure))
            await ledger.fail(document.identity, document.content, failure)
        else:
            whole.append(prepared)
    ids = frozenset(document.identity.document_id for document in documents)
    embedded = await asyncio.to_thread(writer.embed, whole)
    failed += await writer.write(embedded, indexed_before=ids)
    failures = {document.identity.document_id: document.failure for document in failed}
    return [_outcome(document, failures.get(document.identity.document_id)) for document in documents]


async def _from_ledger(document: KnownDocument, ledger: Ledger, preparer: Preparer) -> PreparedDocument | None:
    """A document's last whole version, made again; None when there was none."""
    identity, content = document.identity, document.content
    parsed = await ledger.parsed(identity.document_id)
    if parsed is None or not parsed.blocks:
        return None
    version = content.version(identity.document_id)
    chunks = await asyncio.to_thread(preparer.chunks, parsed, identity, version)
    sparse = [preparer.lexical.encode_document(index_text(chunk)) for chunk in chunks]
    return PreparedDocument(identity, content, parsed, chunks, sparse, children=document.children)


def _outcome(document: KnownDocument, failure: StageFailure | None) -> FileOutcome:
    identity = document.identity
    return FileOutcome(
        source=identity.source,
        status="failed" if failure else "updated",
        document_id=identity.document_id,
        parent_id=identity.parent_id,
        chunks=0 if failure else document.chunks,
        reason=failure.reason if failure else None,
        detail=failure.detail if failure else "",
    )
