"""One answer over real files of four formats and a tool result, exported once; no store and no model is needed."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.answer import Answer, Opinion
from agents.citations import prove
from agents.events import ClaimsChecked, HitsFound, RunStarted
from agents.observed import COLLECTION
from agents.proof.evidence import prepare
from agents.proof_replay import record_proof, rules_fingerprint
from app.receipts.assembly import Told, assemble
from app.receipts.schema import Receipt, ReceiptText, RunSeal, SealedDocument, SealedModel
from app.schema import RunInfo
from ingestion.loaders.select import load
from retrieval.types import Chunk

HANDBOOK = Path(__file__).parents[2] / "samples" / "handbook"
FILES = (
    "delivery/change-windows.html",
    "security/access-policy.pdf",
    "security/secrets-rotation.docx",
    "troubleshooting/exit-codes.md",
)
QUESTION = "What of flags, recordings, environment variables and lastState?"
SENTENCES = (
    "Feature flags may be switched off in the freeze, never on.",
    "Recordings are kept for 180 days.",
    "A value that reaches a container as an environment variable is read once, when the container starts.",
    "The field `lastState` keeps only the termination before the present run.",
    "The deployment has 3 ready replicas.",
    "The moon is made of cheese.",
)
RESULT = "Deployment booking-api in namespace booking: the deployment has 3 ready replicas, 0 are not ready."
RUN, THREAD, CALL = "a" * 32, "b" * 32, "c" * 32
MARGIN = 250
"""Characters of a document on each side of a sentence that make the passage."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A receipt and the files it was made from."""

    receipt: Receipt
    originals: Path
    texts: tuple[str, ...]
    """Text of each file."""

    @property
    def raw(self) -> dict[str, Any]:
        """A fresh copy of the file's JSON."""
        return json.loads(self.receipt.model_dump_json())


def copy_originals(to: Path) -> Path:
    """The four files under another folder."""
    for name in FILES:
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(HANDBOOK / name, target)
    return to


def passage(number: int, source: str, text: str, sentence: str) -> Chunk:
    """A stretch of a document's text around a sentence, whatever lines it is broken into."""
    words = sentence.removesuffix(".").split()[-3:]
    at = next(i for i in range(len(text)) if " ".join(text[i : i + 80].split()).startswith(" ".join(words)))
    start, end = max(0, at - MARGIN), min(len(text), at + MARGIN)
    return Chunk(
        chunk_id=f"chunk-{number}",
        document_id=f"document-{number}",
        collection="default",
        source=source,
        title=Path(source).stem,
        position=number,
        text=text[start:end],
        char_start=start,
        char_end=end,
        version=f"version-{number}",
    )


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """The receipt."""
    originals = copy_originals(tmp_path_factory.mktemp("originals"))
    chunks: list[Chunk] = []
    documents: list[SealedDocument] = []
    texts: list[str] = []
    for number, (name, sentence) in enumerate(zip(FILES, SENTENCES, strict=False)):
        path = originals / name
        data = path.read_bytes()
        loaded = load(data, name=path.name).document
        assert loaded is not None
        texts.append(loaded.text)
        chunks.append(passage(number, path.as_posix(), loaded.text, sentence))
        documents.append(
            SealedDocument(
                document_id=f"document-{number}",
                version=f"version-{number}",
                source=path.as_posix(),
                title=path.stem,
                collection="default",
                media_type=loaded.media_type,
                size_bytes=len(data),
                content_sha256=hashlib.sha256(data).hexdigest(),
            )
        )
    chunks.append(
        Chunk(
            chunk_id=f"{CALL}-0",
            document_id=CALL,
            collection=COLLECTION,
            source="tool:cluster__get",
            title="cluster__get",
            position=0,
            text=RESULT,
            char_start=0,
            char_end=len(RESULT),
        )
    )
    told = answered(tuple(chunks), tuple(documents))
    result = ReceiptText(kind="tool", text_id=CALL, name="cluster/get", arguments={"name": "booking-api"}, text=RESULT)
    key_file = tmp_path_factory.mktemp("home") / "receipt-key"
    return Exported(assemble(told, documents, [result], key_file=key_file), originals, tuple(texts))


def answered(chunks: tuple[Chunk, ...], documents: tuple[SealedDocument, ...]) -> Told:
    """The run as log and seal tell it."""
    draft, evidence = " ".join(SENTENCES), prepare(chunks)
    opinions: tuple[Opinion | None, ...] = (None, None, "unsure", None, None, None)
    proved = prove(draft, evidence, question=QUESTION, opinions=opinions)
    record = record_proof(draft, evidence, question=QUESTION, markers=(), remove_unsupported=False, opinions=opinions)
    answer = Answer(
        status="answered",
        answer=proved.text,
        claims=proved.claims,
        citations=proved.citations,
        model="scripted",
        run_id=RUN,
        thread_id=THREAD,
    )
    at = datetime(2026, 11, 30, tzinfo=UTC)
    checked = ClaimsChecked(
        run_id=RUN,
        thread_id=THREAD,
        seq=3,
        at=at,
        claims=proved.claims,
        citations=proved.citations,
        dropped_markers=0,
        record=record,
    )
    events = (
        RunStarted(run_id=RUN, thread_id=THREAD, seq=1, at=at, question=QUESTION, model="scripted"),
        HitsFound(run_id=RUN, thread_id=THREAD, seq=2, at=at, query="flags", passages=(), context=answer.context),
        checked,
    )
    run = RunInfo(
        run_id=RUN,
        thread_id=THREAD,
        question=QUESTION,
        state="answered",
        created_at="2026-11-30T00:00:00.000000+00:00",
        last_seq=3,
        answer=answer,
    )
    seal = RunSeal(
        groundwork="0.1.0",
        rules=rules_fingerprint(),
        chunking="2",
        embedding="hashing",
        model=SealedModel(name="scripted", server="by_url", context_tokens=4096),
        settings={"answer": {"temperature": 0.0, "evidence_passages": 6}, "ingestion": {"ocr": "auto"}},
        history_messages=0,
        history_sha256="0" * 64,
        collections=("default",),
        filter={"team": "sre"},
        documents=documents,
    )
    return Told(run, answer, [event.model_dump_json() for event in events], seal)
