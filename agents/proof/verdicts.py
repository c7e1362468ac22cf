"""From claim and evidence to a verdict that says why: the best span decides, none that contradicts it verifies it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from agents.answer import Verdict
from agents.proof.alignment import align
from agents.proof.evidence import SOFT_KEYS, Evidence, Unit, content, mask_markup, odd_negations
from agents.proof.rules import RULES, VERBATIM, Comparison, Finding
from agents.proof.segments import split_sentences
from agents.proof.tokens import HARD_KINDS, Token, tokenise
from agents.proof.windows import Window, candidates, found_in, held_by, without_unit

VERIFIED_COVERAGE = 0.74
"""Least share of a claim's weight that a verifying span holds; see docs/grounding.md for how it was chosen."""
OWN_COVERAGE = 0.5
"""Least share that a verifying span holds by itself, without headings and introductions."""
MIN_IN_ORDER, IN_ORDER = 3, 0.75
"""Tokens, and share of all tokens, that in the same order make a sentence decide as well, however rare the others."""
ALL_WORDS = 0.95
"""Coverage from which on one sentence decides alone, whatever others say."""
PARTIAL_COVERAGE = 0.42
"""Least share for ``partial``."""
PARTIAL_OWN = 0.35
"""Least share for ``partial`` that the span holds by itself: below it the quote shows nothing of the claim."""
LEAD_SHARE = 0.2
"""Share of a claim that stands in what introduces a span alone, the sentence before a list or block, the header of a
table; from it on that is quoted too."""
QUOTED_TOGETHER = 300
"""Characters up to which a span and the sentence that introduces it are one quote."""
PASSAGE_SHARE = 0.4
"""What a word counts that stands elsewhere in the passage; the span may take its subject up with ``it``."""
GIVEN_SHARE = 0.5
"""What a word counts that comes from the question; the asker said it, the passage did not."""
CONTRADICTION_COST = 0.1
"""A span that contradicts decides only if it is nearer to the claim by this much than one that does not."""
MAX_PARTS = 4
_JOINTS = (
    (re.compile(r";\s+"), 2),
    (re.compile(r",\s+(?:and|but|while|whereas)\s+|\s+(?:while|whereas)\s+"), 3),
    (re.compile(r"\s+and\s+"), 4),
)
"""Where a sentence joins statements that may stand in different places, and the content words each must have."""
_LEAD = re.compile(
    r"\s*(?:(?:according to|based on|as (?:described|mentioned|stated|shown|explained) in)\b[^,.]{3,60},"
    r"|in (?:short|summary|addition|other words|this case|general|conclusion),|(?:please )?note that\b"
    r"|(?:however|therefore|additionally|also|overall|yes|no|thus|finally|similarly|for example|for instance|so),)\s+",
    re.IGNORECASE,
)
"""Openings that say nothing about the matter."""


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


class _Weighed(NamedTuple):
    judgement: Judgement
    decisive: bool
    """The span is one unit with nearly the same words: where the two differ, the claim is wrong."""
    own: float = 0.0
    """Share of the claim that the span holds by itself."""


def judge(claim: str, evidence: Evidence, *, given: frozenset[str], cited: Collection[int] = ()) -> Judgement:
    """Verdict of one claim over all passages.

    Args:
        claim: The statement as written, Markdown allowed; of several sentences each must hold.
        evidence: The passages that the model was given.
        given: Keys of the question's words.
        cited: Passages that the model named for this claim; looked at first.
    """
    masked = mask_markup(claim)
    sentences = [masked[start:end] for start, end in split_sentences(masked, 0, len(masked))]
    checked = [sentence for sentence in sentences if content(tokenise(sentence))]
    if len(checked) < 2:
        return _judge_sentence(masked, evidence, given, cited)
    judgements = [_judge_sentence(sentence, evidence, given, cited) for sentence in checked]
    return _all_of(judgements, "sentences")


def _judge_sentence(sentence: str, evidence: Evidence, given: frozenset[str], cited: Collection[int]) -> Judgement:
    lead = _LEAD.match(sentence)
    text = sentence[lead.end() :] if lead else sentence
    tokens = tokenise(text)
    best = _best(tokens, evidence, given, cited)
    whole = _without_invention(best.judgement, tokens, evidence, given)
    if whole.verdict == "verified" or best.decisive:
        return whole
    for joint, least in _JOINTS:
        parts = [part for part in joint.split(text) if part.strip()]
        if not 2 <= len(parts) <= MAX_PARTS or any(len(content(tokenise(part))) < least for part in parts):
            continue
        joined = _all_of(_judge_parts(parts, evidence, given, cited), "parts")
        if joined.verdict == "verified":
            return joined
    return whole


def _without_invention(
    judgement: Judgement, tokens: Sequence[Token], evidence: Evidence, given: frozenset[str]
) -> Judgement:
    """A figure that neither a passage nor the question has is made up: nothing else in its sentence is support."""
    if judgement.verdict != "partial":
        return judgement
    for figure in (token for token in tokens if token.kind == "figure" and token.key not in given):
        headed = any(figure.key in keys for keys in evidence.heading_keys)
        if not headed and not any(_has_figure(figure, unit) for unit in evidence.units):
            return Judgement("unsupported", (), f"No passage has the figure {figure.text!r}.", judgement.coverage)
    return judgement


def _has_figure(figure: Token, unit: Unit) -> bool:
    """Whether a unit holds a figure; a row of a table may hold its number and leave the unit to the header."""
    forms = figure.forms | without_unit(figure) if unit.kind == "row" else figure.forms
    return any(figure.key == token.key or not forms.isdisjoint(token.forms) for token in unit.tokens)


def _judge_parts(
    parts: Sequence[str], evidence: Evidence, given: frozenset[str], cited: Collection[int]
) -> list[Judgement]:
    """Each part by its own span; what the parts before said is given."""
    judgements: list[Judgement] = []
    for part in parts:
        judgements.append(_judge_sentence(part, evidence, given, cited))
        if judgements[-1].verdict != "verified":
            break
        given = given | {token.key for token in content(tokenise(part))}
    return judgements


def _all_of(judgements: Sequence[Judgement], name: str) -> Judgement:
    """Verified if all are; partial if one has support and none is contradicted for good."""
    supports = tuple(dict.fromkeys(support for judgement in judgements for support in judgement.supports))
    coverage = sum(judgement.coverage for judgement in judgements) / len(judgements)
    failed = [judgement for judgement in judgements if judgement.verdict != "verified"]
    if not failed:
        explanation = _sentence(f"each of its {len(judgements)} {name} found in the passages")
        return Judgement("verified", supports, explanation, coverage)
    verdict: Verdict = "partial" if supports else "unsupported"
    return Judgement(verdict, supports, failed[0].explanation, coverage)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A claim made ready to be laid beside many spans."""

    tokens: tuple[Token, ...]
    """Without function words and negations."""
    negations: frozenset[int]
    weighted: tuple[tuple[Token, float], ...]
    """What it says, each with its share of the whole."""


def _asked(tokens: Sequence[Token], evidence: Evidence) -> _Asked:
    said = content(tokens)
    total = sum(evidence.weight(token) for token in said) or 1.0
    return _Asked(
        tokens=tuple(token for token in tokens if token.kind not in ("stop", "negation")),
        negations=odd_negations(tokens),
        weighted=tuple((token, evidence.weight(token) / total) for token in said),
    )


def _best(tokens: Sequence[Token], evidence: Evidence, given: frozenset[str], cited: Collection[int]) -> _Weighed:
    asked = _asked(tokens, evidence)
    if not asked.weighted:
        return _Weighed(Judgement("unsupported", (), "Says nothing that could be checked."), decisive=False)
    weighed: list[_Weighed] = []
    for window in candidates(tokens, evidence, cited):
        if not window.single and any(one.decisive and one.judgement.verdict == "verified" for one in weighed):
            break
        weighed.append(_weigh(asked, window, evidence, given))
    pool = [one for one in weighed if one.decisive] or weighed
    nothing = _Weighed(Judgement("unsupported", (), "None of its words stand in the passages."), decisive=False)
    return max(pool, key=_order, default=nothing)


def _order(weighed: _Weighed) -> tuple[bool, float]:
    """Verifying spans by what they hold; else headings count half, for the quote has to show the part that it holds."""
    judgement = weighed.judgement
    length = sum(support.end - support.start for support in judgement.supports)
    cost = 0.0001 * length if judgement.supports else CONTRADICTION_COST
    if judgement.verdict == "verified":
        return True, judgement.coverage - cost
    return False, (judgement.coverage + weighed.own) / 2 - cost


def _weigh(asked: _Asked, window: Window, evidence: Evidence, given: frozenset[str]) -> _Weighed:
    placed = [(token, share, _stands_bare(token, window)) for token, share in asked.weighted]
    own = sum(share for _, share, bare in placed if bare)
    missing = [token for token, _, bare in placed if not bare and not held_by(token, window)]
    lost = {token: _share(token, window, evidence, given) for token in missing}
    coverage = sum(share * lost.get(token, 1.0) for token, share in asked.weighted)
    if coverage < PARTIAL_COVERAGE:
        return _Weighed(_verdict(coverage, (), missing, ()), decisive=False)
    if hollow := _hollow(asked, window, own):
        judgement = Judgement("unsupported", (), f"No passage says this; {hollow}.", min(own, PARTIAL_COVERAGE))
        return _Weighed(judgement, decisive=False)
    pairs = tuple(align(asked.tokens, window.tokens))
    shares = dict(asked.weighted)
    aligned = sum(shares.get(asked.tokens[pair.claim], 0.0) for pair in pairs)
    comparison = Comparison(asked.tokens, asked.negations, window, pairs, aligned, evidence, given)
    findings = [finding for rule in RULES for finding in rule(comparison)]
    findings += _too_thin(asked, window, missing, own)
    judgement = _verdict(coverage, findings, missing, _supports(asked, window, evidence))
    in_order = len(pairs) >= MIN_IN_ORDER and len(pairs) >= IN_ORDER * len(asked.tokens)
    differs = any(finding.severity != "gap" for finding in findings)
    decides = differs or judgement.verdict == "verified"
    nearly_same = aligned >= VERBATIM or own >= ALL_WORDS or in_order
    return _Weighed(judgement, window.single and nearly_same and decides, own)


def _hollow(asked: _Asked, window: Window, own: float) -> str:
    """Why a span that has a claim's words shows nothing of what it says; empty where it does."""
    if own < PARTIAL_OWN:
        return "the nearest has its words in headings and in the question alone"
    if len(window.tokens) == 1 and window.tokens[0].kind == "identifier":
        (name,) = window.tokens
        named = any(token.key == name.key for token, _ in asked.weighted)
        return "" if named else f"{name.text!r} is a name and states nothing"
    exact = any(token.kind in HARD_KINDS and _stands_bare(token, window) for token, _ in asked.weighted)
    return "entries of data hold its words, not its statement" if window.data and not exact else ""


def _supports(asked: _Asked, window: Window, evidence: Evidence) -> tuple[Support, ...]:
    """The span, and the sentence or the header that introduces it where the claim takes as much from that."""
    for number in window.leads:
        lead = evidence.units[number]
        taken = sum(
            share for token, share in asked.weighted if found_in(token, lead.keys) and not _is_shown(token, window)
        )
        if taken < LEAD_SHARE:
            continue
        if window.end - lead.start <= QUOTED_TOGETHER:
            return (Support(window.passage, lead.start, window.end),)
        return Support(window.passage, lead.start, lead.end), Support(window.passage, window.start, window.end)
    return (Support(window.passage, window.start, window.end),)


def _too_thin(asked: _Asked, window: Window, missing: Sequence[Token], own: float) -> list[Finding]:
    """A span that says less than the claim cannot carry it, however much its headings add."""
    findings: list[Finding] = []
    unsaid = [token for token in missing if token.key not in SOFT_KEYS]
    if unsaid and len(content(window.tokens)) < len(asked.weighted):
        findings.append(Finding("gap", f"the passage is shorter than the claim and lacks {unsaid[0].text!r}"))
    if own < OWN_COVERAGE:
        findings.append(Finding("gap", "most of its words stand beside the passage's sentence, not in it"))
    return findings


def _verdict(
    coverage: float, findings: Sequence[Finding], missing: Sequence[Token], supports: tuple[Support, ...]
) -> Judgement:
    against = [finding.message for finding in findings if finding.severity == "contradiction"]
    short = list(dict.fromkeys(finding.message for finding in findings if finding.severity != "contradiction"))
    words = ", ".join(repr(word) for word in dict.fromkeys(token.text for token in missing))
    if against and coverage >= PARTIAL_COVERAGE:
        return Judgement("unsupported", (), _sentence(f"contradicted: {against[0]}"), coverage)
    if coverage >= VERIFIED_COVERAGE and not findings:
        found = f"found in the passage, but for {words}" if words else "every word found in the passage"
        return Judgement("verified", supports, _sentence(found), coverage)
    if coverage >= PARTIAL_COVERAGE and not against:
        reason = short[0] if short else f"the passage lacks {words}"
        return Judgement("partial", supports, _sentence(f"found in part: {reason}"), coverage)
    return Judgement("unsupported", (), _sentence(f"no passage says this; the nearest lacks {words}"), coverage)


def _stands_bare(token: Token, window: Window) -> bool:
    """Whether the span itself holds a token, not what introduces it."""
    return held_by(token, window) if token.kind == "figure" else found_in(token, window.keys)


def _is_shown(token: Token, window: Window) -> bool:
    """Whether a quote of the span alone shows a token."""
    return held_by(token, window) if token.kind == "figure" else found_in(token, window.shown)


def _share(token: Token, window: Window, evidence: Evidence, given: frozenset[str]) -> float:
    """What a token counts that the span does not hold."""
    if token.kind == "figure":
        return 0.0
    if found_in(token, evidence.passage_keys[window.passage]):
        return PASSAGE_SHARE
    return GIVEN_SHARE if token.key in given else 0.0


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
