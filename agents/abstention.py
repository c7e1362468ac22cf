"""When no answer is better than any: decided from the evidence before the model, and from the proof after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.answer import Abstention, NearestPassage
from agents.citations import ProvedAnswer
from agents.coverage import all_keys, telling_words, word_coverage
from agents.draught import NOT_FOUND
from agents.prompting import fill_prompt
from agents.proof.evidence import Evidence, content
from agents.proof.tokens import Token, tokenise
from agents.proof.windows import found_in
from agents.queries import OWN_NAME
from agents.request import AnswerRequest
from agents.thresholds import FittedThresholds, load_thresholds
from retrieval.types import Hit, SearchFilter

LEAD_OVER = 10
"""Place of the passage that the best one's lead is counted from."""
NEAREST_SHOWN = 3
_REFUSAL = re.compile(
    r"\b(?:passages?|documents?|documentation|context|texts?|sources?|information|excerpts?)\b[^.]{0,60}?"
    r"\b(?:do(?:es)?\s+not|don['’]t|doesn['’]t|no|not|lacks?|cannot|can['’]t)\b[^.]{0,40}?"
    r"\b(?:mention(?:ed)?|contain(?:ed)?|provided?|specif(?:y|ied)|answer(?:ed)?|include[ds]?|say|stated?|discuss(?:ed)?|"
    r"information|found|describe[ds]?|cover(?:ed)?|given)\b|\bi (?:do not|don['’]t) (?:know|have)\b|\bnot_found\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class EvidenceSignals:
    """What the passages have of a question; all of it is cheap and known before the model is asked."""

    top_cosine: float | None
    """None when the dense leg returned nothing."""
    coverage: float
    """Share in [0, 1] of the question's words, rare ones weighing more, that stand in the passages."""
    missing: tuple[str, ...]
    """Names and identifiers of the question that stand in no passage."""
    names: int
    """Names and identifiers in the question."""
    missing_code: int
    """Of the missing ones, those written as code: ``memorySwapRatio``, ``oom_score_adj``, ``H200``."""
    code: int
    """Names written as code in the question."""
    lead: float = 2.0
    """Best cosine less the tenth best; 2, the most there can be, where it is not known."""
    doubt: float | None = None
    """Probability that there is no answer, by learned weights; None without them."""


class Standard(NamedTuple):
    """What an answer is held to."""

    strict: bool = False
    """Withheld with any claim that neither a document nor the words of a picture hold."""
    seen: bool = False
    """The model was sent a picture: what it says of it cannot be proved, and is no reason to withhold the answer."""
    picture_claims: tuple[int, ...] = ()
    """Places of the claims that stand in words read from a picture."""


USUAL = Standard()


def best_cosine(hits: Sequence[Hit]) -> float | None:
    """Cosine of the passage nearest in meaning, wherever fusion put it; None when the dense leg returned none."""
    return max((hit.scores.dense for hit in hits if hit.scores.dense is not None), default=None)


def cosine_lead(hits: Sequence[Hit]) -> float:
    """How far the best cosine stands above the tenth best, which counts as 0 where there are fewer."""
    cosines = sorted((hit.scores.dense for hit in hits if hit.scores.dense is not None), reverse=True)
    return (cosines[0] if cosines else 0.0) - (cosines[LEAD_OVER - 1] if len(cosines) >= LEAD_OVER else 0.0)


def evidence_signals(
    question: str, top_cosine: float | None, evidence: Evidence, *, lead: float = 2.0, doubt: float | None = None
) -> EvidenceSignals:
    """How far the passages speak of what the question names."""
    words, keys = telling_words(question), all_keys(evidence)
    named = [token for token in words if token.kind in ("name", "identifier") and not OWN_NAME.fullmatch(token.text)]
    missing = [token for token in named if not found_in(token, keys)]
    return EvidenceSignals(
        top_cosine=top_cosine,
        coverage=word_coverage(words, evidence),
        missing=tuple(token.text for token in missing),
        names=len(named),
        missing_code=sum(token.kind == "identifier" for token in missing),
        code=sum(token.kind == "identifier" for token in named),
        lead=lead,
        doubt=doubt,
    )


def is_too_weak(signals: EvidenceSignals, fitted: FittedThresholds | None = None) -> bool:
    """Whether to withhold an answer without asking the model; None takes the thresholds that are shipped."""
    fitted = fitted or load_thresholds()
    if fitted.learned is not None and signals.doubt is not None:
        return signals.doubt >= fitted.learned.threshold
    limits = fitted.thresholds
    cosine = signals.top_cosine if signals.top_cosine is not None else 0.0
    if cosine < limits.min_cosine or signals.lead < limits.min_lead:
        return True
    if cosine < limits.doubtful_cosine and signals.coverage < limits.min_coverage:
        return True
    if signals.code and signals.missing_code == signals.code:
        return signals.coverage < limits.code_coverage or cosine < limits.sure_cosine
    return bool(signals.missing) and 2 * len(signals.missing) >= signals.names and cosine < limits.sure_cosine


def before_generation(
    request: AnswerRequest,
    query: str,
    hits: Sequence[Hit],
    signals: EvidenceSignals,
    fitted: FittedThresholds | None = None,
) -> Abstention | None:
    """The abstention that the evidence calls for, or None to go on."""
    searched = describe_search(query, request.search_filter)
    if not hits:
        reason = "no_documents" if content(tokenise(query)) else "weak_evidence"
        return Abstention(reason=reason, searched=searched)
    if is_too_weak(signals, fitted):
        return Abstention(reason="weak_evidence", searched=searched, nearest=nearest(hits))
    return None


def after_proof(
    text: str,
    proved: ProvedAnswer,
    query: str,
    hits: Sequence[Hit],
    request: AnswerRequest,
    standard: Standard = USUAL,
) -> Abstention | None:
    """The abstention that the model's words and their proof call for, or None to let the answer stand.

    Args:
        text: What the model wrote.
        proved: The same, proved.
        query: What was searched for.
        hits: What was found.
        request: The question.
        standard: What it is held to.
    """
    searched = describe_search(query, request.search_filter, attached=len(request.attachments))
    if is_refusal(text):
        return Abstention(reason="weak_evidence", searched=searched, nearest=nearest(hits))
    lacking = any(
        claim.verdict == "unsupported" and place not in standard.picture_claims
        for place, claim in enumerate(proved.claims)
    )
    supported = proved.supported or standard.seen or bool(standard.picture_claims)
    if not supported or (standard.strict and lacking):
        return Abstention(reason="unsupported_answer", searched=searched, nearest=nearest(hits))
    return None


def is_refusal(text: str) -> bool:
    """Whether the model says that the passages do not answer."""
    stripped = text.strip().strip("`*.\"' ")
    if not stripped or stripped.upper().replace(" ", "_").startswith(NOT_FOUND):
        return True
    first = re.split(r"(?<=[.!?])\s", stripped, maxsplit=1)[0]
    return bool(_REFUSAL.search(first))


def nearest(hits: Sequence[Hit]) -> tuple[NearestPassage, ...]:
    """The best hits, one per section of a document."""
    seen: dict[tuple[str, str], Hit] = {}
    for hit in hits:
        seen.setdefault((hit.chunk.document_id, hit.chunk.section), hit)
    return tuple(
        NearestPassage(
            document_id=hit.chunk.document_id,
            chunk_id=hit.chunk.chunk_id,
            source=hit.chunk.source,
            title=hit.chunk.title,
            section=hit.chunk.section,
            cosine=hit.scores.dense,
        )
        for hit in list(seen.values())[:NEAREST_SHOWN]
    )


def describe_search(query: str, scope: SearchFilter, *, attached: int = 0) -> str:
    """What was searched, in words; ``attached`` counts the texts that are attached to the thread."""
    where = ", ".join(repr(name) for name in scope.collections)
    place = (
        f"collection {where}" if len(scope.collections) == 1 else f"collections {where}" if where else "all collections"
    )
    limits = [f"{name} = {value!r}" for name, value in scope.metadata.items()]
    limits += [f"source = {source!r}" for source in scope.sources]
    beside = "" if not attached else " and the attached text" if attached == 1 else f" and {attached} attached texts"
    return f"{place}{' where ' + ', '.join(limits) if limits else ''}{beside}, for “{' '.join(query.split())}”"


def abstention_text(abstention: Abstention, question: str, missing: Sequence[str] = ()) -> str:
    """The answer that says that there is none: what was searched, what stood nearest, what would be needed."""
    lines = [f"- {_name(passage)}" for passage in abstention.nearest]
    found = "\n\nNearest passages:\n\n" + "\n".join(lines) if lines else ""
    if abstention.reason == "no_documents":
        needed = "There are no documents there yet; add some with `groundwork ingest PATH` or on the documents page."
    else:
        about = ", ".join(f"“{word}”" for word in missing) or f"“{' '.join(question.split())}”"
        needed = f"Needed: a document that speaks of {about}."
    return fill_prompt("abstention", searched=f"Searched: {abstention.searched}.", nearest=found, needed=needed)


def missing_words(question: str, evidence: Evidence) -> list[str]:
    """Names of the question that stand in no passage, for the text of an abstention."""
    keys = all_keys(evidence)
    tokens: dict[str, Token] = {token.key: token for token in content(tokenise(question))}
    return [t.text for t in tokens.values() if t.kind in ("name", "identifier") and not found_in(t, keys)]


def _name(passage: NearestPassage) -> str:
    section = passage.section.removeprefix(passage.title).strip(" >")
    return f"{passage.title} > {section}" if section else passage.title or passage.source
