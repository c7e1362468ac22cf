"""One answered question, judged: the match, the citations, the claims, the decision to abstain. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.answer import Answer, Citation, Claim, FoundPassage
from app.eval_schema import CheckedCitation, EvalCase, EvalPassage, EvalQuestion
from evals.answer_match import missing_items
from evals.questions import is_from, relevant_files
from evals.support import is_supported


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking one question.

    Attributes:
        answer: The answer; None when the run failed without one.
        passages: What the search found, best first.
        milliseconds: From the question to the end of the run.
        error: Why it failed, in words; empty when it did not.
    """

    answer: Answer | None
    passages: Sequence[FoundPassage] = ()
    milliseconds: float = 0.0
    error: str = ""
    unmarked: frozenset[str] = field(default=frozenset({"verified"}))
    """Verdicts that a reader sees no warning for."""


def judge_answer(question: EvalQuestion, asked: Asked) -> EvalCase:
    """The case of one question.

    An answerable question passes when it was answered and the answer holds every item of ``must_contain``, any other
    one when nothing was answered.
    """
    answer = asked.answer
    status = "failed" if answer is None else answer.status
    claims = answer.claims if answer is not None and status == "answered" else ()
    cited = _check_citations(question, answer.citations if answer is not None and claims else (), claims)
    quotes = {item.citation.number: item.citation.quote for item in cited}
    texts = {passage.chunk_id: passage.text for passage in asked.passages}
    missing = missing_items(answer.answer, question.must_contain) if answer is not None else []
    answered = status == "answered"
    matched = answered and question.answerable and not missing
    carried = [_carried(claim, quotes, question.question) for claim in claims]
    unmarked = [claim for claim in claims if claim.verdict in asked.unmarked]
    unsupported = [claim for claim in unmarked if not _in_passages(claim, cited, texts, question.question)]
    counts = {
        "citations": len(cited),
        "citations_supporting": sum(item.supports for item in cited),
        "citations_relevant": sum(item.relevant for item in cited),
        "claims": len(claims),
        "claims_cited": sum(carried),
        "claims_unmarked": len(unmarked),
        "claims_unmarked_unsupported": len(unsupported),
        "claims_partial": sum(claim.verdict == "partial" for claim in claims),
        "claims_marked": sum(claim.verdict == "unsupported" for claim in claims),
        "evidence_files": len(question.relevant_files) if answered else 0,
        "evidence_files_cited": sum(
            any(is_from(item.citation.source, [file]) for item in cited) for file in question.relevant_files
        ),
        "failed": int(status == "failed"),
        "answered": int(answered),
        "abstained": int(status == "abstained"),
        "abstained_rightly": int(status == "abstained" and not question.answerable),
    }
    return EvalCase(
        question_id=question.id,
        kind=question.kind,
        answerable=question.answerable,
        question=question.question,
        values=_values(question, asked, status=status, matched=matched, counts=counts),
        counts=counts,
        passed=matched if question.answerable else status == "abstained",
        why_not=_why_not(question, asked, status, missing),
        status=status,
        answer=answer.answer if answer is not None else "",
        expected=question.answer,
        claims=claims,
        citations=cited,
        passages=eval_passages(question, asked.passages),
    )


def eval_passages(question: EvalQuestion, passages: Sequence[FoundPassage]) -> tuple[EvalPassage, ...]:
    """Passages with whether they are from a file that the question names."""
    files = relevant_files(question)
    return tuple(
        EvalPassage(
            rank=passage.rank,
            chunk_id=passage.chunk_id,
            document_id=passage.document_id,
            source=passage.source,
            title=passage.title,
            section=passage.section,
            text=passage.text,
            relevant=is_from(passage.source, files),
        )
        for passage in passages
    )


def _check_citations(
    question: EvalQuestion, citations: Sequence[Citation], claims: Sequence[Claim]
) -> tuple[CheckedCitation, ...]:
    files = relevant_files(question)
    evidence = [_plain(item.quote) for item in question.evidence]
    quotes = {citation.number: citation.quote for citation in citations}
    checked: list[CheckedCitation] = []
    for citation in citations:
        quote = _plain(citation.quote)
        # A claim that two quotes carry together is carried by each that it cannot do without.
        supports = any(
            _carried(claim, quotes, question.question) and _needed(claim, citation.number, quotes, question.question)
            for claim in claims
            if citation.number in claim.citations
        )
        relevant = is_from(citation.source, files) or any(text in quote or quote in text for text in evidence)
        checked.append(CheckedCitation(citation=citation, supports=supports, relevant=relevant))
    return tuple(checked)


def _needed(claim: Claim, number: int, quotes: dict[int, str], question: str) -> bool:
    """Whether a quote carries the claim alone, or the claim falls without it."""
    if is_supported(claim.text, [quotes[number]], question=question):
        return True
    others = [quotes[other] for other in claim.citations if other != number and other in quotes]
    return not is_supported(claim.text, others, question=question)


def _carried(claim: Claim, quotes: dict[int, str], question: str) -> bool:
    return is_supported(claim.text, [quotes[n] for n in claim.citations if n in quotes], question=question)


def _in_passages(claim: Claim, cited: Sequence[CheckedCitation], texts: dict[str, str], question: str) -> bool:
    """Whether the quotes of a claim, or the passages they are from, carry it."""
    own = [item.citation for item in cited if item.citation.number in claim.citations]
    surroundings = [f"{c.title}\n{c.section}\n{texts.get(c.chunk_id, '')}\n{c.quote}" for c in own]
    return is_supported(claim.text, surroundings, question=question)


def _values(
    question: EvalQuestion, asked: Asked, *, status: str, matched: bool, counts: dict[str, int]
) -> dict[str, float]:
    values = {"decision_right": float((status == "answered") == question.answerable and status != "failed")}
    values["latency_ms"] = asked.milliseconds
    if question.answerable:
        values["answer_match"] = float(matched)
        values["answered"] = float(status == "answered")
    if counts["citations"]:
        values["citation_precision"] = counts["citations_supporting"] / counts["citations"]
    if counts["claims"]:
        values["citation_recall"] = counts["claims_cited"] / counts["claims"]
    return values


def _why_not(question: EvalQuestion, asked: Asked, status: str, missing: Sequence[str]) -> str:
    if status == "failed":
        return asked.error or "The run failed."
    if not question.answerable:
        return "" if status == "abstained" else "Answered, though the documents hold no answer."
    if status == "abstained":
        return "Abstained, though the documents hold the answer."
    return f"The answer lacks {', '.join(map(repr, missing))}." if missing else ""


def _plain(text: str) -> str:
    return " ".join(text.split()).lower()
