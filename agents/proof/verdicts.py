"""From claim and evidence to a verdict that says why: the best span decides, none that contradicts it verifies it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from agents.answer import Verdict
from agents.proof.alignment import align
from agents.proof.evidence import Evidence, content, mask_markup
from agents.proof.rules import RULES, Comparison, Finding
from agents.proof.tokens import Token, tokenise
from agents.proof.windows import Window, candidates, found_in, odd_negations

VERIFIED_COVERAGE = 0.74
"""Least share of a claim's weight that a verifying span holds; see docs/grounding.md for how it was chosen."""
PARTIAL_COVERAGE = 0.42
"""Least share for ``partial``."""
PASSAGE_SHARE = 0.6
"""What a word counts that stands elsewhere in the passage; the span may take its subject up with ``it``."""
GIVEN_SHARE = 0.5
"""What a word counts that comes from the question; the asker said it, the passage did not."""
CONTRADICTION_COST = 0.1
"""A span that contradicts decides only if it is nearer to the claim by this much than one that does not."""
MIN_CLAUSE_TOKENS = 2
MAX_PARTS = 4


class Support(NamedTuple):
    """A span of a passage, by its place in the evidence and its offsets in the chunk's text."""

    passage: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict of one claim; ``supports`` is empty for ``unsupported``."""

    verdict: Verdict
    supports: tuple[Support, ...]
    explanation: str
    coverage: float = 0.0


def judge(claim: str, evidence: Evidence, *, given: frozenset[str], cited: Collection[int] = ()) -> Judgement:
    """Verdict of one claim over all passages.

    Args:
        claim: The statement as written, Markdown allowed.
        evidence: The passages that the model was given.
        given: Keys of the question's words.
        cited: Passages that the model named for this claim; looked at first.
    """
    tokens = tokenise(mask_markup(claim))
    whole = _best(tokens, evidence, given, cited)
    if whole.verdict == "verified" or whole.coverage < PARTIAL_COVERAGE / 2:
        return whole
    parts = _parts(tokens)
    if len(parts) < 2:
        return whole
    return _joined(parts, evidence, given, cited) or whole


def _best(tokens: Sequence[Token], evidence: Evidence, given: frozenset[str], cited: Collection[int]) -> Judgement:
    if not content(tokens):
        return Judgement("unsupported", (), "Says nothing that could be checked.")
    best: Judgement | None = None
    for window in candidates(tokens, evidence, cited):
        judgement = _weigh(tokens, window, evidence, given)
        if best is None or _order(judgement) > _order(best):
            best = judgement
    return best or Judgement("unsupported", (), "None of its words stand in the passages.")


def _order(judgement: Judgement) -> tuple[bool, float]:
    length = sum(support.end - support.start for support in judgement.supports)
    cost = 0.0001 * length if judgement.supports else CONTRADICTION_COST
    return judgement.verdict == "verified", judgement.coverage - cost


def _weigh(tokens: Sequence[Token], window: Window, evidence: Evidence, given: frozenset[str]) -> Judgement:
    kept = tuple(token for token in tokens if token.kind not in ("stop", "negation"))
    pairs = tuple(align(kept, window.tokens))
    total = sum(evidence.weight(token) for token in content(kept)) or 1.0
    aligned = sum(
        evidence.weight(kept[pair.claim]) for pair in pairs if kept[pair.claim] in content((kept[pair.claim],))
    )
    comparison = Comparison(
        claim=kept,
        claim_negations=odd_negations(tokens, [(0, token.clause) for token in tokens]),
        window=window,
        pairs=pairs,
        aligned_share=aligned / total,
        given=given,
        evidence=evidence,
    )
    missing = [token for token in content(kept) if not _stands(token, window)]
    coverage = sum(_share(token, window, evidence, given) * evidence.weight(token) for token in content(kept)) / total
    findings = [finding for rule in RULES for finding in rule(comparison)]
    return _verdict(coverage, findings, missing, Support(window.passage, window.start, window.end))


def _verdict(coverage: float, findings: Sequence[Finding], missing: Sequence[Token], support: Support) -> Judgement:
    against = [finding.message for finding in findings if finding.severity == "contradiction"]
    short = list(dict.fromkeys(finding.message for finding in findings if finding.severity == "gap"))
    words = ", ".join(repr(word) for word in dict.fromkeys(token.text for token in missing))
    if against and coverage >= PARTIAL_COVERAGE:
        return Judgement("unsupported", (), _sentence(f"contradicted: {against[0]}"), coverage)
    if coverage >= VERIFIED_COVERAGE and not findings:
        found = f"found in the passage, but for {words}" if words else "every word found in the passage"
        return Judgement("verified", (support,), _sentence(found), coverage)
    if coverage >= PARTIAL_COVERAGE and not against:
        reason = short[0] if short else f"the passage lacks {words}"
        return Judgement("partial", (support,), _sentence(f"found in part: {reason}"), coverage)
    return Judgement("unsupported", (), _sentence(f"no passage says this; the nearest lacks {words}"), coverage)


def _stands(token: Token, window: Window) -> bool:
    if token.kind == "figure":
        return any(not token.forms.isdisjoint(other.forms) for other in window.tokens if other.forms)
    return found_in(token, window.keys) or found_in(token, window.context)


def _share(token: Token, window: Window, evidence: Evidence, given: frozenset[str]) -> float:
    if _stands(token, window):
        return 1.0
    if token.kind == "figure":
        return 0.0
    if found_in(token, evidence.passage_keys[window.passage]):
        return PASSAGE_SHARE
    return GIVEN_SHARE if token.key in given else 0.0


def _parts(tokens: Sequence[Token]) -> list[list[Token]]:
    """A claim that joins several statements, cut where a clause ends; short clauses stay with their neighbour."""
    parts: list[list[Token]] = []
    for token in tokens:
        if not parts or parts[-1][-1].clause != token.clause:
            parts.append([])
        parts[-1].append(token)
    joined: list[list[Token]] = []
    for part in parts:
        if joined and min(len(content(part)), len(content(joined[-1]))) < MIN_CLAUSE_TOKENS:
            joined[-1].extend(part)
        else:
            joined.append(part)
    while len(joined) > MAX_PARTS:
        sizes = [len(content(left)) + len(content(right)) for left, right in pairwise(joined)]
        place = sizes.index(min(sizes))
        joined[place : place + 2] = [joined[place] + joined[place + 1]]
    return joined


def _joined(
    parts: Sequence[Sequence[Token]], evidence: Evidence, given: frozenset[str], cited: Collection[int]
) -> Judgement | None:
    """Verified if every part is, each by its own span; None when the parts bring nothing over the whole."""
    judgements: list[Judgement] = []
    said = given
    for part in parts:
        judgement = _best(part, evidence, said, cited)
        if judgement.verdict != "verified":
            return None
        judgements.append(judgement)
        said = said | {token.key for token in content(part)}
    supports = tuple(dict.fromkeys(support for judgement in judgements for support in judgement.supports))
    coverage = min(judgement.coverage for judgement in judgements)
    return Judgement("verified", supports, _sentence(f"each of its {len(parts)} parts found in the passages"), coverage)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
