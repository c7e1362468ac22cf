"""What became of a receipt's sources, from a home: its ledger, its calls and its log, over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.errors import ApiProblem
from app.receipts.schema import Receipt, ReceiptText, SealedDocument
from app.receipts.sources import FoundDocument, FoundSources, LogState

if TYPE_CHECKING:
    from app.client import ApiClient
    from ingestion.types import DocumentRecord

_NOT_FOUND = 404


async def from_store(client: ApiClient, receipt: Receipt) -> FoundSources:
    """Documents by their id, else by the hash of their content, else by their source.

    Raises:
        ApiProblem: The API refused, for another reason than that something is gone.
        ApiUnreachable: The API does not answer.
    """
    documents = [await _document(client, document) for document in receipt.documents]
    texts = [await _text(client, text) for text in receipt.texts]
    return FoundSources("store", tuple(documents), tuple(texts), await _log(client, receipt))


async def _document(client: ApiClient, sealed: SealedDocument) -> FoundDocument:
    record = await _record(client, sealed)
    if record is None:
        return FoundDocument("gone", detail=f"{sealed.source} is no longer in the store.")
    text = (await client.document_text(record.document_id)).text
    same = record.content_sha256 == sealed.content_sha256
    found = record.source if record.source != sealed.source else ""
    return FoundDocument("unchanged" if same else "changed", text, found, record.content_sha256)


async def _record(client: ApiClient, sealed: SealedDocument) -> DocumentRecord | None:
    try:
        return await client.document(sealed.document_id)
    except ApiProblem as error:
        if error.problem.status != _NOT_FOUND:
            raise
    listed = [record for record in (await client.documents()).documents if record.status == "ready"]
    same = [record for record in listed if record.content_sha256 == sealed.content_sha256 and sealed.content_sha256]
    named = [record for record in listed if record.source == sealed.source]
    return next(iter((*same, *named)), None)


async def _text(client: ApiClient, text: ReceiptText) -> str | None:
    if text.kind == "attachment":
        # An attachment cannot change, only go with its thread; the file holds it whole.
        return text.text
    try:
        return (await client.approval(text.text_id)).result_text or ""
    except ApiProblem as error:
        if error.problem.status != _NOT_FOUND:
            raise
        return None


async def _log(client: ApiClient, receipt: Receipt) -> LogState:
    try:
        now = await client.receipt(receipt.run.run_id)
    except ApiProblem as error:
        if error.problem.status != _NOT_FOUND:
            raise
        return "gone"
    return "same" if now.run.events_sha256 == receipt.run.events_sha256 else "changed"
