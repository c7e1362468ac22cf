"""What the stand-in API tells: documents, and a scripted run for each question."""

from __future__ import annotations

import re
from dataclasses import dataclass

from agents.answer import (
    Abstention,
    Answer,
    AnswerTimings,
    BudgetUse,
    Citation,
    Claim,
    ContextReport,
    DroppedEvidence,
    FoundPassage,
    NearestPassage,
    Usage,
    Verdict,
)
from ingestion.types import DocumentRecord

OOM_TEXT = """# Memory limits

A container may use memory up to its limit and not a byte more.

When a container exceeds its memory limit, the kernel ends it and the pod status shows OOMKilled with exit code 137.

Raise the limit in the deployment, or find the leak first: a restart loop hides a leak for a while."""
HOSTILE = "<script>window.hacked=1</script><img src=x onerror='window.hacked=1'>"
HOSTILE_TEXT = f"Some text. {HOSTILE} ![pixel](http://203.0.113.9/leak.png) The marked words. More text."

DOCUMENTS: dict[str, tuple[DocumentRecord, str]] = {
    "doc-1": (
        DocumentRecord(
            document_id="doc-1", source="/handbook/memory.md", title="Memory limits", collection="handbook",
            status="ready", chunks=1, pages=None, media_type="text/markdown", size_bytes=len(OOM_TEXT),
            updated_at="2026-01-05T10:00:00+00:00",
        ),
        OOM_TEXT,
    ),
    "doc-2": (
        DocumentRecord(
            document_id="doc-2", source="/handbook/hostile.md", title=f"Hostile {HOSTILE}", collection="other",
            status="ready", chunks=1, media_type="text/markdown", size_bytes=len(HOSTILE_TEXT),
        ),
        HOSTILE_TEXT,
    ),
    "doc-3": (
        DocumentRecord(
            document_id="doc-3", source="/handbook/locked.pdf", title="", collection="handbook", status="failed",
            reason="encrypted", detail="The file is protected by a password; remove it and ingest again.",
        ),
        "",
    ),
}  # fmt: skip

CONTEXT = ContextReport(
    budget_tokens=4096,
    used=BudgetUse(system=210, evidence=1500, reserve=512),
    dropped=(DroppedEvidence(chunk_id="x", source="/handbook/long.md", tokens=900, reason="budget"),),
)
PASSAGES = (
    FoundPassage(
        rank=1, chunk_id="doc-1-0", document_id="doc-1", source="/handbook/memory.md", title="Memory limits",
        section="Memory limits", char_start=0, char_end=len(OOM_TEXT), text=OOM_TEXT, dense=0.71, dense_rank=1,
        bm25=12.5, bm25_rank=2, fused=0.93,
    ),
)  # fmt: skip


@dataclass
class Script:
    """How a run goes."""

    answer: Answer
    tokens: tuple[str, ...] = ()
    passages: tuple[FoundPassage, ...] = PASSAGES
    context: ContextReport = CONTEXT
    failure: str = ""
    hold: bool = False
    """Whether the run waits before its first token until it is cancelled."""


def script_for(question: str, *, goes_on: bool = False) -> Script:
    """The script that belongs to a question; a long answer is cut off once."""
    lower = question.lower()
    if "cup" in lower:
        return _abstention(question)
    if "hostile" in lower:
        return _answered(
            [(f"Look: {HOSTILE} ![p](http://203.0.113.9/leak.png) [click](javascript:alert(1)) done.", "partial", 1)],
            [_citation(1, "doc-2", "The marked words.")],
        )
    if "fail" in lower:
        script = _oom()
        script.failure = "The model server does not answer at http://127.0.0.1:9; start it with groundwork up."
        return script
    script = _oom()
    script.hold = "wait" in lower
    if "long" in lower and not goes_on:
        script.answer = script.answer.model_copy(update={"truncated": True})
    return script


def _oom() -> Script:
    return _answered(
        [
            ("The container was ended because it used more memory than its **limit**.", "verified", 1),
            ("Kubernetes shows this as `OOMKilled` with exit code 137.", "verified", 1),
            ("Raise the limit to 512 MiB.", "partial", 2),
            ("This always happens on Fridays.", "unsupported", 0),
        ],
        [
            _citation(1, "doc-1", "When a container exceeds its memory limit, the kernel ends it and the pod status"),
            _citation(2, "doc-1", "Raise the limit in the deployment", "Memory limits > What to do"),
            _citation(3, "doc-1", "find the leak first", "Memory limits > What to do"),
        ],
    )


def _citation(number: int, document_id: str, quote: str, section: str = "") -> Citation:
    record, text = DOCUMENTS[document_id]
    start = text.index(quote)
    return Citation(
        number=number, document_id=document_id, chunk_id=f"{document_id}-0", source=record.source,
        title=record.title, page=3, section=section, quote=quote, char_start=start,
        char_end=start + len(quote),
    )  # fmt: skip


def _answered(sentences: list[tuple[str, Verdict, int]], citations: list[Citation]) -> Script:
    text = ""
    claims: list[Claim] = []
    for sentence, verdict, number in sentences:
        start = len(text)
        text += sentence
        claims.append(
            Claim(
                text=sentence, verdict=verdict, citations=(number,) if number else (), char_start=start,
                char_end=len(text), explanation=f"Explained: {verdict}.",
            )
        )  # fmt: skip
        text += f" [{number}] " if number else " "
    answer = Answer(
        status="answered", answer=text.strip(), claims=tuple(claims), citations=tuple(citations), context=CONTEXT,
        usage=Usage(prompt_tokens=1800, completion_tokens=64), tokens_per_second=25.3, model="stub",
        timings_ms=AnswerTimings(retrieve=12, ttft=840, total=3400), run_id="", thread_id="",
    )  # fmt: skip
    written = " ".join(sentence for sentence, _, _ in sentences)
    return Script(answer, tuple(re.findall(r"\S+\s*", written)))


def _abstention(question: str) -> Script:
    abstention = Abstention(
        reason="weak_evidence",
        searched=f"{question} in all collections",
        nearest=(
            NearestPassage(
                document_id="doc-1", chunk_id="doc-1-0", source="/handbook/memory.md", title="Memory limits",
                section="Memory limits", cosine=0.12,
            ),
        ),
    )  # fmt: skip
    text = f"The documents do not answer this question.\n\nSearched: {abstention.searched}."
    answer = Answer(
        status="abstained", answer=text, abstention=abstention,
        timings_ms=AnswerTimings(retrieve=9, total=30), run_id="", thread_id="",
    )  # fmt: skip
    return Script(answer)
