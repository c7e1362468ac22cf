"""Puts a receipt together from what the log, the seal and the ledger say; digests and signs it. No database."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from pydantic import JsonValue, TypeAdapter

from agents.answer import Answer, Citation
from agents.events import EVENT_ADAPTER, ClaimsChecked, HitsFound, PicturesGiven, RunEvent
from agents.proof_record import EvidencePassage, ProofRecord
from app.receipts.digests import chain, part_digests, whole_digest
from app.receipts.schema import (
    FORMAT,
    Digests,
    Receipt,
    ReceiptAnswer,
    ReceiptCitation,
    ReceiptMaking,
    ReceiptPicture,
    ReceiptProof,
    ReceiptQuestion,
    ReceiptRun,
    ReceiptText,
    RunSeal,
    SealedDocument,
)
from app.receipts.signing import sign
from app.schema import RunInfo

_LOOKED_INTO_BYTES = 64 * 1024 * 1024
"""In larger files no quote is looked for."""
_PART: TypeAdapter[object] = TypeAdapter(object)
_RECORDED = ('"type":"claims_checked"', '"type":"hits_found"', '"type":"pictures_given"')
"""Events that a receipt is made of; the others, tokens above all, are not parsed."""


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of an answered run.

    Attributes:
        run: The run.
        answer: Its answer.
        stored: Its events as they are stored.
        seal: What was true when it was answered; None for runs of earlier versions.
    """

    run: RunInfo
    answer: Answer
    stored: Sequence[str]
    seal: RunSeal | None = None

    def events(self) -> list[RunEvent]:
        """The events that a receipt is made of."""
        told = [data for data in self.stored if any(mark in data for mark in _RECORDED)]
        return [EVENT_ADAPTER.validate_json(data) for data in told]

    def record(self) -> ProofRecord | None:
        """What the proof of the answer was made from; None for an abstention, and where none was kept."""
        return _record(self.events()) if self.run.state == "answered" else None


def assemble(
    told: Told, documents: Sequence[SealedDocument], texts: Sequence[ReceiptText], *, key_file: Path
) -> Receipt:
    """The signed receipt; looks for quotes in the documents' files where they are on this machine."""
    run, answer, seal, record = told.run, told.answer, told.seal, told.record()
    body: dict[str, object] = {
        "format": FORMAT,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "exported_by": version("groundwork"),
        "run": _run(run, told.stored),
        "question": _question(run, told.events(), seal),
        "making": _making(seal),
        "answer": ReceiptAnswer(
            text=answer.answer,
            model=answer.model,
            dropped_markers=answer.dropped_markers,
            abstention=answer.abstention,
            output=answer.output,
        ),
        "proof": _proof(record, seal),
        "claims": answer.claims,
        "citations": _citations(answer.citations, record.passages if record else (), documents, texts),
        "evidence": record.passages if record else (),
        "documents": tuple(documents),
        "texts": tuple(texts),
    }
    parts = part_digests({name: _json(value) for name, value in body.items()})
    digests = Digests(parts=parts, whole=whole_digest(parts))
    return Receipt.model_validate(body | {"digests": digests, "signature": sign(key_file, digests.whole)})


def _record(events: Iterable[RunEvent]) -> ProofRecord | None:
    """The last proof: of an answer that was written anew after a review, that of the answer as it stands."""
    checked = [event for event in events if isinstance(event, ClaimsChecked)]
    return checked[-1].record if checked else None


def _run(run: RunInfo, stored: Sequence[str]) -> ReceiptRun:
    return ReceiptRun(
        run_id=run.run_id,
        thread_id=run.thread_id,
        agent=run.agent,
        asked_at=run.created_at,
        status="answered" if run.state == "answered" else "abstained",
        events=len(stored),
        events_sha256=chain(stored),
    )


def _question(run: RunInfo, events: Sequence[RunEvent], seal: RunSeal | None) -> ReceiptQuestion:
    found = [event.query for event in events if isinstance(event, HitsFound)]
    searched = found[-1] if found and found[-1] != run.question else ""
    pictures = _pictures(events)
    if seal is None:
        return ReceiptQuestion(text=run.question, searched=searched, pictures=pictures)
    return ReceiptQuestion(
        text=run.question,
        searched=searched,
        history_messages=seal.history_messages,
        history_sha256=seal.history_sha256,
        collections=seal.collections,
        filter=seal.filter,
        pictures=pictures,
    )


def _pictures(events: Sequence[RunEvent]) -> tuple[ReceiptPicture, ...]:
    given = [picture for event in events if isinstance(event, PicturesGiven) for picture in event.pictures]
    return tuple(ReceiptPicture(name=one.name, sha256=one.sha256, words=one.words, seen=one.seen) for one in given)


def _making(seal: RunSeal | None) -> ReceiptMaking | None:
    if seal is None:
        return None
    return ReceiptMaking(
        groundwork=seal.groundwork,
        chunking=seal.chunking,
        embedding=seal.embedding,
        model=seal.model,
        settings=seal.settings,
    )


def _proof(record: ProofRecord | None, seal: RunSeal | None) -> ReceiptProof | None:
    if record is None:
        return None
    return ReceiptProof(
        rules=seal.rules if seal else "",
        question=record.question,
        draft=record.draft,
        markers=record.markers,
        removed_unsupported=record.removed_unsupported,
        opinions=record.opinions,
    )


def _citations(
    citations: Sequence[Citation],
    passages: Sequence[EvidencePassage],
    documents: Sequence[SealedDocument],
    texts: Sequence[ReceiptText],
) -> tuple[ReceiptCitation, ...]:
    files: dict[int, bytes] = {}
    linked: list[ReceiptCitation] = []
    for citation in citations:
        text_id = citation.call_id or citation.attachment_id
        text = next((place for place, entry in enumerate(texts) if text_id and entry.text_id == text_id), None)
        document = next(
            (place for place, entry in enumerate(documents) if entry.document_id == citation.document_id), None
        )
        passage = next((place for place, entry in enumerate(passages) if _is_of(citation, entry)), None)
        place = None
        if document is not None:
            if document not in files:
                files[document] = _file_bytes(documents[document])
            place = _only_place(files[document], citation.quote)
        linked.append(
            ReceiptCitation(
                **citation.model_dump(),
                passage=passage,
                document=document,
                text=text,
                file_start=place[0] if place else None,
                file_end=place[1] if place else None,
            )
        )
    return tuple(linked)


def _is_of(citation: Citation, passage: EvidencePassage) -> bool:
    start = citation.char_start - passage.char_start
    return citation.chunk_id == passage.chunk_id and passage.text[start : start + len(citation.quote)] == citation.quote


def _file_bytes(document: SealedDocument) -> bytes:
    """The file of a document as it was read; empty where it is elsewhere, large, or another one now."""
    path = Path(document.source)
    if not document.content_sha256 or not path.is_absolute() or document.size_bytes > _LOOKED_INTO_BYTES:
        return b""
    try:
        data = path.read_bytes()
    except OSError:
        return b""
    return data if hashlib.sha256(data).hexdigest() == document.content_sha256 else b""


def _only_place(data: bytes, quote: str) -> tuple[int, int] | None:
    """Where the bytes hold a quote, if they do exactly once."""
    wanted = quote.encode("utf-8", "surrogatepass")
    start = data.find(wanted)
    if start < 0 or data.find(wanted, start + 1) >= 0:
        return None
    return start, start + len(wanted)


def _json(value: object) -> JsonValue:
    """A part as it will stand in the file."""
    return _PART.dump_python(value, mode="json")
