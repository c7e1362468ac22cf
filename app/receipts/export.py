"""Writes receipts: reads a run's answer, proof and sources out of log, seal and ledgers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agents import attached, observed
from agents.answer import Answer, Citation
from agents.attached import AttachedTexts
from agents.proof_record import ProofRecord
from app.errors import RunUnanswered
from app.receipts.assembly import Told, assemble
from app.receipts.schema import Receipt, ReceiptText, RunSeal
from app.receipts.sealing import sealed_documents
from app.run_log import RunLog
from ingestion.ledger import Ledger
from tools.ledger import ExecutionLedger


@dataclass(frozen=True, slots=True)
class ReceiptWriter:
    """Writes receipts of one home."""

    log: RunLog
    ledger: Ledger
    calls: ExecutionLedger
    key_file: Path
    attached: AttachedTexts = attached.nothing_attached

    async def write(self, run_id: str) -> Receipt:
        """The receipt of a run's answer, or of its abstention.

        Raises:
            RunUnknown: There is no such run.
            RunUnanswered: The run has no answer: it goes on, failed, or was stopped.
        """
        run = await self.log.get(run_id)
        answer = run.answer
        if run.state not in ("answered", "abstained") or answer is None:
            raise RunUnanswered(f"The run {run_id!r} is {run.state}, so there is no answer to give a receipt for.")
        sealed = await self.log.seal(run_id)
        seal = RunSeal.model_validate_json(sealed) if sealed else None
        told = Told(run, answer, await self.log.stored_events(run_id), seal)
        record = told.record()
        documents = seal.documents if seal and record else await sealed_documents(self.ledger, _of_documents(answer))
        texts = await self._texts(record, answer.citations)
        return await asyncio.to_thread(assemble, told, documents, texts, key_file=self.key_file)

    async def _texts(self, record: ProofRecord | None, citations: Sequence[Citation]) -> tuple[ReceiptText, ...]:
        """Tool results and attached texts among the evidence, whole."""
        passages = record.passages if record else ()
        calls = [entry.document_id for entry in passages if entry.collection == observed.COLLECTION]
        calls += [citation.call_id for citation in citations if citation.call_id]
        attachments = [entry.document_id for entry in passages if entry.collection == attached.COLLECTION]
        attachments += [citation.attachment_id for citation in citations if citation.attachment_id]
        texts: list[ReceiptText] = []
        for call_id in dict.fromkeys(calls):
            call = await self.calls.get(call_id)
            texts.append(
                ReceiptText(
                    kind="tool",
                    text_id=call_id,
                    name=f"{call.server}/{call.tool}",
                    arguments=call.arguments,
                    at=call.finished_at.isoformat() if call.finished_at else "",
                    text=call.result_text or "",
                )
            )
        for held in await self.attached(tuple(dict.fromkeys(attachments))):
            texts.append(ReceiptText(kind="attachment", text_id=held.attachment_id, name=held.source, text=held.text))
        return tuple(texts)


def _of_documents(answer: Answer) -> list[Citation]:
    return [citation for citation in answer.citations if not citation.call_id and not citation.attachment_id]
