"""A report, and a receipt, as Markdown for people: for a post-mortem, a ticket, an audit."""

from __future__ import annotations

from collections.abc import Sequence

from app.receipts.report import Against, DocumentCheck, KeyCheck, SentenceCheck, VerifyReport
from app.receipts.schema import Receipt, ReceiptPicture

_STATES = {
    "holds": "Everything holds.",
    "changed": "Some of it no longer rests on what it rested on.",
    "altered": "The file is not as it was written.",
}
_SENTENCES = {
    "holds": "holds",
    "moved": "holds; its document has changed since",
    "changed": "no longer holds",
    "altered": "altered in this file",
    "unproved": "never had support",
}
_AGAINST: dict[Against, str] = {"store": "the store", "originals": "original files"}


def report_markdown(report: VerifyReport) -> str:
    """The report: verdict on the whole, then each sentence, then each document."""
    lines = [
        f"# {_STATES[report.state]}",
        "",
        f"- Question: {_one_line(report.question)}",
        f"- Run {report.run_id}, {report.status} by {report.model}, asked {report.asked_at}",
        f"- Checked against {_AGAINST[report.against]}",
        f"- Signature: {_signature(report.signature)}",
        *(f"- **{finding.code}**: {_one_line(finding.detail)}" for finding in report.findings),
    ]
    if report.sentences:
        lines += ["", "## Sentences", "", *(line for entry in report.sentences for line in _sentence(entry))]
    if report.documents:
        lines += ["", "## Documents", "", *(_document(document) for document in report.documents)]
    return "\n".join(lines) + "\n"


def receipt_markdown(receipt: Receipt) -> str:
    """The receipt itself, unchecked: answer, sentences with their quotes, sources."""
    lines = [f"# {_one_line(receipt.question.text)}", "", receipt.answer.text, ""]
    if pictures := receipt.question.pictures:
        lines += ["## Pictures beside the question", ""]
        lines += [f"- {_one_line(one.name)}, SHA-256 `{one.sha256}`, {_given(one)}" for one in pictures]
        lines.append("")
    if receipt.claims:
        lines += ["## Sentences", ""]
    for number, claim in enumerate(receipt.claims, start=1):
        marks = "".join(f"[{entry}]" for entry in claim.citations)
        lines.append(f"{number}. {_one_line(claim.text)} {marks} ({claim.verdict}: {claim.explanation})")
    if receipt.citations:
        lines += ["", "## Quotes", ""]
    for citation in receipt.citations:
        where = f", page {citation.page}" if citation.page is not None else ""
        lines.append(f"- [{citation.number}] {citation.source}{where}, {citation.char_start} to {citation.char_end}")
        lines.append(f"  > {_one_line(citation.quote)}")
    lines += ["", "## Sources", ""]
    lines += [f"- {entry.source}, SHA-256 `{entry.content_sha256}`" for entry in receipt.documents]
    lines += [f"- {entry.name}, quoted whole in the receipt" for entry in receipt.texts]
    made_with = f"model {receipt.answer.model}{_preset(receipt)}"
    lines += ["", f"Run {receipt.run.run_id}, asked {receipt.run.asked_at}, {made_with}."]
    return "\n".join(lines) + "\n"


def _given(picture: ReceiptPicture) -> str:
    words = f"{picture.words} words read from it"
    return f"seen by the model, with {words}" if picture.seen else f"not seen by the model, which was given {words}"


def _preset(receipt: Receipt) -> str:
    used = receipt.making.settings.get("preset") if receipt.making else None
    return f", preset {used['preset']} version {used['version']}" if used else ""


def _sentence(entry: SentenceCheck) -> Sequence[str]:
    marks = "".join(f"[{number}]" for number in entry.citations)
    first = f"{entry.number}. **{_SENTENCES[entry.state]}** ({entry.verdict}): {_one_line(entry.text)} {marks}".rstrip()
    return first, *(f"   - {finding.code}: {_one_line(finding.detail)}" for finding in entry.findings)


def _document(document: DocumentCheck) -> str:
    found = f", found as {document.found}" if document.found and document.found != document.source else ""
    return f"- {document.state}: {document.source}{found}"


def _signature(key: KeyCheck) -> str:
    if not key.valid:
        return "wrong"
    whose = {
        "this_home": "of this home",
        "given_key": "of the key given",
        "other": "of another key than the one given",
        "unknown": "of a key that is not known here, so it does not tell who made the file",
    }
    return f"{whose[key.holder]} ({key.public_key})"


def _one_line(text: str) -> str:
    return " ".join(text.split())
