"""What a check of a receipt says: closed codes for machines, sentences for people. Values alone."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from agents.answer import Verdict

FindingCode: TypeAlias = Literal[
    "part_altered",
    "part_missing",
    "digests_altered",
    "signature_wrong",
    "other_key",
    "log_changed",
    "log_gone",
    "proof_not_recorded",
    "proof_not_repeated",
    "claim_altered",
    "verdict_altered",
    "citation_altered",
    "quote_altered",
    "evidence_altered",
    "source_altered",
    "verdict_differs",
    "document_changed",
    "document_gone",
    "document_unreadable",
    "quote_moved",
    "quote_gone",
    "context_changed",
    "text_recorded",
    "text_changed",
    "text_gone",
]
"""Closed set. ``*_altered``: the file is not as it was written. ``*_changed`` and ``*_gone``: the world has gone on."""

SentenceState: TypeAlias = Literal["holds", "moved", "changed", "altered", "unproved"]
"""``moved``: its documents have changed, and what it rests on is still in them. ``changed``: it no longer rests on what
it rested on. ``altered``: the file is not as it was written here. ``unproved``: it never had support."""
ReceiptState: TypeAlias = Literal["holds", "changed", "altered"]
DocumentState: TypeAlias = Literal["unchanged", "changed", "gone", "unreadable"]
Against: TypeAlias = Literal["store", "originals"]

ALTERED: frozenset[FindingCode] = frozenset(
    {
        "part_altered",
        "part_missing",
        "digests_altered",
        "signature_wrong",
        "other_key",
        "claim_altered",
        "verdict_altered",
        "citation_altered",
        "quote_altered",
        "evidence_altered",
        "source_altered",
    }
)
CHANGED: frozenset[FindingCode] = frozenset(
    {
        "log_changed",
        "verdict_differs",
        "document_gone",
        "document_unreadable",
        "quote_gone",
        "context_changed",
        "text_changed",
        "text_gone",
    }
)
MOVED: frozenset[FindingCode] = frozenset({"document_changed", "quote_moved"})
"""All other codes are remarks."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class Finding(_Value):
    """One thing that was found; ``detail`` is a sentence for a person."""

    code: FindingCode
    detail: str
    citation: int | None = None


class SentenceCheck(_Value):
    """A sentence of the answer and what became of it."""

    number: int
    text: str
    verdict: Verdict | str
    citations: tuple[int, ...] = ()
    state: SentenceState
    findings: tuple[Finding, ...] = ()


class DocumentCheck(_Value):
    """A document that the answer rests on."""

    source: str
    title: str
    state: DocumentState
    found: str = ""
    """Where it stands now."""
    content_sha256: str
    current_sha256: str = ""
    detail: str = ""


class KeyCheck(_Value):
    """Whose signature it is."""

    public_key: str
    valid: bool
    holder: Literal["this_home", "given_key", "other", "unknown"]
    """``unknown``: there was no key to compare with, so the signature proves nothing of who made the file."""


class VerifyReport(_Value):
    """The JSON shape of ``verify --json``."""

    state: ReceiptState
    against: Against
    run_id: str
    question: str
    asked_at: str
    status: str
    model: str
    signature: KeyCheck
    findings: tuple[Finding, ...] = ()
    """About the file as a whole."""
    sentences: tuple[SentenceCheck, ...] = ()
    documents: tuple[DocumentCheck, ...] = ()


def state_of(findings: tuple[Finding, ...] | list[Finding], *, proved: bool = True) -> SentenceState:
    """The worst of these findings; without support nothing can be lost but the record."""
    codes = {finding.code for finding in findings}
    if codes & ALTERED:
        return "altered"
    if codes & CHANGED:
        return "changed"
    if not proved:
        return "unproved"
    return "moved" if codes & MOVED else "holds"
