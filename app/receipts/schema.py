"""The shape of a receipt file, and of what is kept of each answer for it. Imports pydantic and wire types alone."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue

from agents.answer import Abstention, Citation, Claim, Opinion
from agents.proof_record import CitedMarker, EvidencePassage

FORMAT = "groundwork-receipt/1"
"""Changes when files of the new kind cannot be checked by the rules of the old one."""
FILE_ENDING = ".receipt.json"

TextKind: TypeAlias = Literal["tool", "attachment"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SealedDocument(_Value):
    """A document that passages of the answer are from, as it was when the answer was given."""

    document_id: str
    version: str = ""
    """Name of the version in the store; empty where a tool handed the passage on."""
    source: str
    title: str
    collection: str
    media_type: str = ""
    size_bytes: int = 0
    content_sha256: str = ""
    """Hash of the bytes that the text was read from; empty when the document changed while the answer was written."""


class SealedModel(_Value):
    """The chat model."""

    name: str
    server: Literal["embedded", "by_url"]
    context_tokens: int
    weights_sha256: str = ""
    """Hash that is pinned for the weights of an embedded model; empty for any other."""


class RunSeal(_Value):
    """What was true when an answer was given and may not be later; written with the end of its run."""

    groundwork: str
    """Version of Groundwork."""
    rules: str
    """Name of the rules of the proof, ``agents.proof_replay.rules_fingerprint``."""
    chunking: str
    """Name of the rules by which documents become passages."""
    embedding: str
    """Fingerprint of the embedding model."""
    model: SealedModel
    settings: dict[str, dict[str, JsonValue]]
    """Settings that shape an answer, by section; addresses without credentials, no secrets."""
    history_messages: int
    history_sha256: str
    collections: tuple[str, ...] = ()
    """What the search was limited to; empty for everything."""
    filter: dict[str, str | int | float | bool]
    documents: tuple[SealedDocument, ...] = ()


class ReceiptRun(_Value):
    """Where the answer is from."""

    run_id: str
    thread_id: str
    agent: str = ""
    asked_at: str
    status: Literal["answered", "abstained"]
    events: int
    """Number of stored events."""
    events_sha256: str
    """End of a hash chain over them, ``app.receipts.digests.chain``."""


class ReceiptPicture(_Value):
    """A picture beside the question. It is no evidence, so its bytes are not in the receipt."""

    name: str
    sha256: str
    """Hash of its bytes as they were kept."""
    words: int
    """Words that were read from it."""
    seen: bool
    """Whether the model was sent the picture, or the words alone."""


class ReceiptQuestion(_Value):
    """What was asked, and what had been said before."""

    text: str
    searched: str = ""
    """What was searched for, where that differs."""
    history_messages: int | None = None
    """None for an answer of a version that kept no seal; so are the two below."""
    history_sha256: str | None = None
    """Over role and text of each message, ``app.receipts.digests.digest``."""
    collections: tuple[str, ...] = ()
    filter: dict[str, str | int | float | bool] = {}
    pictures: tuple[ReceiptPicture, ...] = ()
    """Pictures that the model was given with it, those of earlier turns included."""


class ReceiptMaking(_Value):
    """By what the answer was made; None for an answer of a version that kept no seal."""

    groundwork: str
    chunking: str
    embedding: str
    model: SealedModel
    settings: dict[str, dict[str, JsonValue]]


class ReceiptAnswer(_Value):
    """The answer as it was shown."""

    text: str
    """Markdown with markers ``[n]``."""
    model: str
    dropped_markers: int = 0
    abstention: Abstention | None = None
    output: dict[str, JsonValue] | None = None
    """The object that was asked for by a schema; its values are listed in ``text``."""


class ReceiptProof(_Value):
    """What the verdicts were made from, with the passages in ``evidence``."""

    rules: str
    question: str
    draft: str
    """The model's words without its marks."""
    markers: tuple[CitedMarker, ...] = ()
    removed_unsupported: bool = False
    opinions: tuple[Opinion | None, ...] = ()
    """What a second judge said of each sentence; it can lower a verdict and never raise one."""


class ReceiptCitation(Citation):
    """A quote, and where in this file its origin stands."""

    passage: int | None = None
    """Place in ``evidence``, from 0."""
    document: int | None = None
    """Place in ``documents``, from 0."""
    text: int | None = None
    """Place in ``texts``, from 0, for a quote that is in no document."""
    file_start: int | None = None
    """Offset in bytes of the quote in the document's file, where the file holds it as it is."""
    file_end: int | None = None


class ReceiptText(_Value):
    """A tool result or an attached text, whole: it is in no document."""

    kind: TextKind
    text_id: str
    name: str
    arguments: dict[str, JsonValue] = {}
    at: str = ""
    """When the tool was done."""
    text: str


class Digests(_Value):
    """SHA-256 of each part by its path, and of this list: a change shows, and where."""

    parts: dict[str, str]
    whole: str


class Signature(_Value):
    """Made with the key of a home over ``digests.whole``."""

    algorithm: Literal["ed25519"] = "ed25519"
    public_key: str
    """64 hex digits."""
    value: str
    """128 hex digits."""


class Receipt(_Value):
    """A whole receipt file."""

    format: Literal["groundwork-receipt/1"] = FORMAT
    created_at: str
    exported_by: str
    """Version of Groundwork that wrote the file."""
    run: ReceiptRun
    question: ReceiptQuestion
    making: ReceiptMaking | None
    answer: ReceiptAnswer
    proof: ReceiptProof | None
    """None where the log holds no record of the proof."""
    claims: tuple[Claim, ...]
    citations: tuple[ReceiptCitation, ...]
    """Number ``n`` stands at place ``n - 1``."""
    evidence: tuple[EvidencePassage, ...]
    """All passages that the model was given, in their order."""
    documents: tuple[SealedDocument, ...]
    texts: tuple[ReceiptText, ...]
    digests: Digests
    signature: Signature


def file_name(run_id: str) -> str:
    """What a receipt's file is called where nobody says."""
    return f"groundwork-{run_id[:12]}{FILE_ENDING}"
