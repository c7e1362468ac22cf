"""A proof made again from its record, and the name of the rules that make it.

Knows the rules by calling them; knows no store, no model and nothing else of a run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from agents.answer import Opinion
from agents.citations import ProvedAnswer, prove
from agents.markers import Marker
from agents.proof.evidence import Evidence, prepare
from agents.proof_record import CitedMarker, EvidencePassage, ProofRecord
from retrieval.types import Chunk

_RULES = ("agents.proof", ("agents", "citations.py"))
"""Where the rules stand: a package whose modules all count, and one module beside it."""


def record_proof(
    draft: str,
    evidence: Evidence,
    *,
    question: str,
    markers: Sequence[Marker],
    remove_unsupported: bool,
    opinions: Sequence[Opinion | None] = (),
) -> ProofRecord:
    """The record of a proof with these arguments of ``agents.citations.prove``."""
    return ProofRecord(
        question=question,
        draft=draft,
        markers=tuple(CitedMarker(offset=marker.offset, numbers=marker.numbers) for marker in markers),
        passages=tuple(_passage(chunk) for chunk in evidence.chunks),
        removed_unsupported=remove_unsupported,
        opinions=tuple(opinions),
    )


def prove_again(record: ProofRecord) -> ProvedAnswer:
    """What the rules of this version make of a record; with the rules that made it, the same answer."""
    return prove(
        record.draft,
        prepare(chunks_of(record)),
        question=record.question,
        markers=[Marker(marker.offset, marker.numbers) for marker in record.markers],
        remove_unsupported=record.removed_unsupported,
        opinions=record.opinions,
    )


def chunks_of(record: ProofRecord) -> list[Chunk]:
    """The passages of a proof, in the order of the prompt."""
    return [_chunk(passage, position) for position, passage in enumerate(record.passages)]


@cache
def rules_fingerprint() -> str:
    """SHA-256 over the source of the rules, 16 hex digits: what differs with it may judge differently."""
    package, (holder, name) = _RULES
    digest = hashlib.sha256()
    modules = [entry for entry in files(package).iterdir() if entry.name.endswith(".py")]
    for module in (*sorted(modules, key=lambda entry: entry.name), files(holder) / name):
        digest.update(module.name.encode() + b"\0" + module.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _passage(chunk: Chunk) -> EvidencePassage:
    return EvidencePassage(
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        collection=chunk.collection,
        version=chunk.version,
        source=chunk.source,
        title=chunk.title,
        page=chunk.page,
        heading_path=chunk.heading_path,
        context=chunk.context,
        text=chunk.text,
        char_start=chunk.char_start,
        char_end=chunk.char_end,
    )


def _chunk(passage: EvidencePassage, position: int) -> Chunk:
    return Chunk(
        chunk_id=passage.chunk_id,
        document_id=passage.document_id,
        collection=passage.collection,
        source=passage.source,
        title=passage.title,
        position=position,
        text=passage.text,
        char_start=passage.char_start,
        char_end=passage.char_end,
        page=passage.page,
        heading_path=passage.heading_path,
        context=passage.context,
        version=passage.version,
    )
