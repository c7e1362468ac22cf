"""Do the verdicts of a receipt follow from its evidence: by the rules, and with today's text. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.answer import Claim
from agents.attached import COLLECTION as ATTACHED
from agents.citations import ProvedAnswer
from agents.observed import COLLECTION as OBSERVED
from agents.proof_record import EvidencePassage, ProofRecord
from agents.proof_replay import prove_again, rules_fingerprint
from app.receipts.integrity import OpenedReceipt
from app.receipts.report import Finding, FindingCode
from app.receipts.schema import Receipt, ReceiptProof
from app.receipts.sources import FoundSources, passage_now

_RANK = {"unsupported": 0, "partial": 1, "verified": 2}


@dataclass(slots=True)
class ProofCheck:
    """What the rules say; sentences by their place from 0."""

    findings: list[Finding] = field(default_factory=list[Finding])
    sentences: dict[int, list[Finding]] = field(default_factory=dict[int, list[Finding]])
    today: dict[int, str] = field(default_factory=dict[int, str])
    """Of each sentence, verdict and reason with the text of its documents as it is now."""

    def add(self, place: int, code: FindingCode, detail: str, *, citation: int | None = None) -> None:
        """Note a finding on a sentence."""
        self.sentences.setdefault(place, []).append(Finding(code=code, detail=detail, citation=citation))


def check_proof(receipt: Receipt, opened: OpenedReceipt, sources: FoundSources) -> ProofCheck:
    """Make the proof again from the file, compare, and make it once more with today's text."""
    check = ProofCheck()
    if receipt.run.status == "abstained":
        return check
    if receipt.proof is None:
        check.findings.append(
            Finding(code="proof_not_recorded", detail="The log kept no record of the proof; quotes alone are checked.")
        )
        return check
    altered = (*opened.altered, *opened.missing)
    if any(path == "proof" or path.startswith("evidence/") for path in altered):
        check.findings.append(
            Finding(code="proof_not_repeated", detail="The evidence was altered, so the proof cannot be repeated.")
        )
        return check
    record = _record(receipt, receipt.proof)
    again = prove_again(record)
    _compare(receipt, again, check, same_rules=receipt.proof.rules == rules_fingerprint())
    _compare_today(receipt, record, again, check, sources)
    return check


def _record(receipt: Receipt, proof: ReceiptProof) -> ProofRecord:
    return ProofRecord(
        question=proof.question,
        draft=proof.draft,
        markers=proof.markers,
        passages=receipt.evidence,
        removed_unsupported=proof.removed_unsupported,
        opinions=proof.opinions,
    )


def _compare(receipt: Receipt, again: ProvedAnswer, check: ProofCheck, *, same_rules: bool) -> None:
    """The claims, quotes and text of the file against those that the rules give."""
    for place, claim in enumerate(receipt.claims):
        _compare_claim(place, claim, again, check, same_rules=same_rules)
    for place, claim in enumerate(again.claims[len(receipt.claims) :], start=len(receipt.claims)):
        detail = f"Sentence {place + 1} of the checked words is missing: {claim.text!r}"
        check.findings.append(Finding(code="part_missing", detail=detail))
    if same_rules:
        _compare_citations(receipt, again, check)
        _compare_text(receipt.answer.text, again, check)


def _compare_claim(place: int, claim: Claim, again: ProvedAnswer, check: ProofCheck, *, same_rules: bool) -> None:
    expected = again.claims[place] if place < len(again.claims) else None
    if expected == claim:
        return
    if expected is None or expected.text != claim.text:
        check.add(place, "claim_altered", "The words that were checked hold no such sentence here.")
    elif expected.verdict != claim.verdict:
        code: FindingCode = "verdict_altered" if same_rules else "verdict_differs"
        by = "the rules" if same_rules else "the rules of this version"
        check.add(place, code, f"By {by} it is {expected.verdict}: {expected.explanation}")
    elif same_rules:
        check.add(place, "claim_altered", "Its quotes, place or explanation are not what the rules give.")


def _compare_citations(receipt: Receipt, again: ProvedAnswer, check: ProofCheck) -> None:
    for place, citation in enumerate(receipt.citations):
        expected = again.citations[place] if place < len(again.citations) else None
        if expected is not None and all(getattr(citation, name) == value for name, value in expected):
            continue
        quoted = expected is not None and expected.quote != citation.quote
        code: FindingCode = "quote_altered" if quoted else "citation_altered"
        for number, claim in enumerate(receipt.claims):
            if place + 1 in claim.citations:
                detail = f"[{place + 1}] is not what the evidence in the file gives."
                check.add(number, code, detail, citation=place + 1)


def _compare_text(shown: str, again: ProvedAnswer, check: ProofCheck) -> None:
    """Where the shown answer differs from the checked one, the sentences that the difference touches."""
    if shown == again.text:
        return
    start = _same_start(shown, again.text)
    same_end = _same_start(shown[start:][::-1], again.text[start:][::-1])
    end = max(start + 1, len(again.text) - same_end)
    touched = [at for at, claim in enumerate(again.claims) if claim.char_start < end and start < claim.char_end]
    for place in touched:
        check.add(place, "claim_altered", "The answer shown says something else here than what was checked.")
    if not touched:
        check.findings.append(Finding(code="part_altered", detail="The answer shown is not the one that was checked."))


def _same_start(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _compare_today(
    receipt: Receipt, record: ProofRecord, again: ProvedAnswer, check: ProofCheck, sources: FoundSources
) -> None:
    """The same proof with the passages as their documents hold them now."""
    passages = tuple(_today(passage, receipt, sources) for passage in record.passages)
    if passages == record.passages:
        return
    today = prove_again(record.model_copy(update={"passages": passages}))
    if len(today.claims) != len(again.claims):
        return
    for place, (before, now) in enumerate(zip(again.claims, today.claims, strict=True)):
        check.today[place] = f"{now.verdict}. {now.explanation}"
        if (
            place < len(receipt.claims)
            and _quotes_stand(receipt.claims[place], receipt, sources)
            and _weaker(now, before)
        ):
            detail = f"Its quotes still stand, but what is around them has changed. By today's text: {now.verdict}. "
            check.add(place, "context_changed", detail + now.explanation)


def _weaker(now: Claim, before: Claim) -> bool:
    return _RANK[now.verdict] < _RANK[before.verdict]


def _quotes_stand(claim: Claim, receipt: Receipt, sources: FoundSources) -> bool:
    """Whether all documents that a sentence quotes can be read and hold its quotes."""
    for number in claim.citations:
        citation = receipt.citations[number - 1] if 0 < number <= len(receipt.citations) else None
        if citation is None or citation.document is None or not 0 <= citation.document < len(sources.documents):
            continue
        text = sources.documents[citation.document].text
        if text is None or " ".join(citation.quote.split()) not in " ".join(text.split()):
            return False
    return True


def _today(passage: EvidencePassage, receipt: Receipt, sources: FoundSources) -> EvidencePassage:
    """The passage as its document holds it now, empty where that is gone; of other texts the passage as it was."""
    if passage.collection in (OBSERVED, ATTACHED):
        return passage
    for place, document in enumerate(receipt.documents):
        if document.document_id == passage.document_id and place < len(sources.documents):
            text = sources.documents[place].text
            now = passage_now(text, passage.text, passage.char_start) if text is not None else ""
            return passage if now == passage.text else passage.model_copy(update={"text": now})
    return passage
