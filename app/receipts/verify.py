"""Checks a receipt sentence by sentence: is it as written, do its verdicts follow, do its quotes still stand. Pure.

What the file says of itself comes first; only what was not altered is compared with the rules and with the sources.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from agents.answer import Claim
from app.receipts.integrity import OpenedReceipt
from app.receipts.proof_check import ProofCheck, check_proof
from app.receipts.report import (
    ALTERED,
    CHANGED,
    DocumentCheck,
    Finding,
    FindingCode,
    KeyCheck,
    ReceiptState,
    SentenceCheck,
    VerifyReport,
    state_of,
)
from app.receipts.schema import Receipt, ReceiptCitation
from app.receipts.sources import FoundSources, find_quote

_PARTS: dict[str, FindingCode] = {
    "claims": "claim_altered",
    "citations": "citation_altered",
    "evidence": "evidence_altered",
    "documents": "source_altered",
    "texts": "source_altered",
}
_SAID: dict[FindingCode, str] = {
    "claim_altered": "The record of this sentence is not as it was written.",
    "citation_altered": "A quote that it rests on is not as it was written.",
    "evidence_altered": "A passage that it rests on is not as it was written.",
    "source_altered": "What the file says of the origin of a quote is not as it was written.",
}


def verify(opened: OpenedReceipt, sources: FoundSources, key: KeyCheck) -> VerifyReport:
    """The report on a receipt.

    Args:
        opened: The file.
        sources: What became of what it quotes; empty where alterations have left no receipt.
        key: Whose signature it bears.
    """
    receipt = opened.receipt
    findings = _file_findings(opened, key, sources)
    if receipt is None:
        return _report(opened.raw, findings, _raw_sentences(opened), (), sources, key)
    proof = check_proof(receipt, opened, sources)
    findings += proof.findings
    sentences = tuple(_sentence(place, receipt, opened, proof, sources) for place in range(len(receipt.claims)))
    return _report(opened.raw, findings, sentences, _documents(receipt, sources), sources, key)


def _report(
    raw: Mapping[str, JsonValue],
    findings: Sequence[Finding],
    sentences: tuple[SentenceCheck, ...],
    documents: tuple[DocumentCheck, ...],
    sources: FoundSources,
    key: KeyCheck,
) -> VerifyReport:
    codes = {finding.code for finding in findings} | {f.code for sentence in sentences for f in sentence.findings}
    state: ReceiptState = "altered" if codes & ALTERED else "changed" if codes & CHANGED else "holds"
    return VerifyReport(
        state=state,
        against=sources.against,
        run_id=_member(raw, "run", "run_id"),
        question=_member(raw, "question", "text"),
        asked_at=_member(raw, "run", "asked_at"),
        status=_member(raw, "run", "status"),
        model=_member(raw, "answer", "model"),
        signature=key,
        findings=tuple(findings),
        sentences=sentences,
        documents=documents,
    )


def _file_findings(opened: OpenedReceipt, key: KeyCheck, sources: FoundSources) -> list[Finding]:
    findings = [
        Finding(code="part_altered", detail=f"The part {path!r} of the file is not as it was written.")
        for path in opened.altered
    ]
    findings += [
        Finding(code="part_missing", detail=f"The part {path!r} was taken out of the file.") for path in opened.missing
    ]
    if opened.digests_altered:
        findings.append(Finding(code="digests_altered", detail="The digests in the file are not as they were written."))
    if not key.valid:
        findings.append(
            Finding(code="signature_wrong", detail="The signature does not fit the file: it was altered after signing.")
        )
    elif key.holder == "other":
        findings.append(Finding(code="other_key", detail="The file is signed with another key than the one given."))
    if sources.log == "changed":
        findings.append(
            Finding(code="log_changed", detail="The log of this run in the home is not the one that the file is of.")
        )
    elif sources.log == "gone":
        findings.append(Finding(code="log_gone", detail="The home has no log of this run any more."))
    return findings


def _sentence(
    place: int, receipt: Receipt, opened: OpenedReceipt, proof: ProofCheck, sources: FoundSources
) -> SentenceCheck:
    claim = receipt.claims[place]
    findings = list(proof.sentences.get(place, ()))
    found = {finding.code for finding in findings}
    for path in (*opened.altered, *opened.missing):
        code = _PARTS.get(path.partition("/")[0])
        if code and place in opened.sentences[path] and not found & ALTERED:
            findings.append(Finding(code=code, detail=_SAID[code]))
    altered_parts = frozenset((*opened.altered, *opened.missing))
    for number in claim.citations:
        citation = receipt.citations[number - 1] if 0 < number <= len(receipt.citations) else None
        if citation is None:
            findings.append(Finding(code="claim_altered", detail=f"The file has no quote {number}.", citation=number))
        elif f"citations/{number - 1}" not in altered_parts:
            findings += _source_findings(citation, number, receipt, sources, proof.today.get(place))
    return _checked(place, claim, findings)


def _checked(place: int, claim: Claim, findings: list[Finding]) -> SentenceCheck:
    return SentenceCheck(
        number=place + 1,
        text=claim.text,
        verdict=claim.verdict,
        citations=claim.citations,
        state=state_of(findings, proved=claim.verdict != "unsupported"),
        findings=tuple(dict.fromkeys(findings)),
    )


def _source_findings(
    citation: ReceiptCitation, number: int, receipt: Receipt, sources: FoundSources, today: str | None
) -> list[Finding]:
    def found(code: FindingCode, detail: str) -> list[Finding]:
        return [Finding(code=code, detail=detail, citation=number)]

    if citation.text is not None:
        return _text_findings(citation, number, receipt, sources)
    if citation.document is None or not 0 <= citation.document < len(sources.documents):
        return found("document_gone", f"{citation.source} was no longer there when the file was written.")
    document = sources.documents[citation.document]
    if document.text is None:
        code: FindingCode = "document_gone" if document.state == "gone" else "document_unreadable"
        return found(code, document.detail or f"{citation.source} is gone.")
    place = find_quote(document.text, citation.quote, citation.char_start)
    if place is None:
        now = f" By today's text: {today}" if today else ""
        return found("quote_gone", f"{citation.source} no longer holds the words of [{number}].{now}")
    if place != (citation.char_start, citation.char_end):
        return found("quote_moved", f"The words of [{number}] stand elsewhere in {citation.source} now, at {place[0]}.")
    if document.state == "changed":
        return found(
            "document_changed", f"{citation.source} has changed; the words of [{number}] stand where they did."
        )
    return []


def _text_findings(citation: ReceiptCitation, number: int, receipt: Receipt, sources: FoundSources) -> list[Finding]:
    place = citation.text
    if place is None or not 0 <= place < len(receipt.texts):
        return [
            Finding(code="quote_altered", detail=f"The file does not hold the text of [{number}].", citation=number)
        ]
    text = receipt.texts[place].text
    if text[citation.char_start : citation.char_end] != citation.quote:
        detail = f"The text in the file does not hold the words of [{number}] where it should."
        return [Finding(code="quote_altered", detail=detail, citation=number)]
    kind = "tool result" if receipt.texts[place].kind == "tool" else "attached text"
    if sources.against == "originals":
        detail = f"[{number}] quotes a {kind}, which the file holds whole and no original does."
        return [Finding(code="text_recorded", detail=detail, citation=number)]
    stored = sources.texts[place] if place < len(sources.texts) else None
    if stored is None:
        return [Finding(code="text_gone", detail=f"The home has no {kind} of [{number}] any more.", citation=number)]
    if stored != text:
        return [Finding(code="text_changed", detail=f"The {kind} of [{number}] in the home differs.", citation=number)]
    return []


def _documents(receipt: Receipt, sources: FoundSources) -> tuple[DocumentCheck, ...]:
    return tuple(
        DocumentCheck(
            source=document.source,
            title=document.title,
            state=found.state,
            found=found.found,
            content_sha256=document.content_sha256,
            current_sha256=found.sha256,
            detail=found.detail,
        )
        for document, found in zip(receipt.documents, sources.documents, strict=False)
    )


def _raw_sentences(opened: OpenedReceipt) -> tuple[SentenceCheck, ...]:
    """Sentences of a file that is no whole receipt any more: what its digests say of them, and no more."""
    claims = opened.raw.get("claims")
    sentences: list[SentenceCheck] = []
    for place, claim in enumerate(claims if isinstance(claims, list) else []):
        values = claim if isinstance(claim, dict) else {}
        codes: list[FindingCode] = [
            code
            for path in (*opened.altered, *opened.missing)
            if place in opened.sentences[path] and (code := _PARTS.get(path.partition("/")[0]))
        ]
        findings = tuple(Finding(code=code, detail=_SAID[code]) for code in dict.fromkeys(codes))
        verdict = str(values.get("verdict", ""))
        sentences.append(
            SentenceCheck(
                number=place + 1,
                text=str(values.get("text", "")),
                verdict=verdict,
                state="altered" if findings else "unproved",
                findings=findings,
            )
        )
    return tuple(sentences)


def _member(raw: Mapping[str, JsonValue], section: str, name: str) -> str:
    values = raw.get(section)
    return str(values.get(name, "")) if isinstance(values, dict) else ""
