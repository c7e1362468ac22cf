"""The proved answer: verdicts for its claims, quotes that are slices of stored text, numbers that the server gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.answer import Citation, Claim, Opinion
from agents.attached import attachment_of
from agents.markers import Marker
from agents.observed import call_of
from agents.proof.claims import ClaimSpan, split_claims
from agents.proof.code import judge_code
from agents.proof.evidence import Evidence, content, keys_of
from agents.proof.tokens import tokenise
from agents.proof.verdicts import Judgement, Support, judge

TERSE_TOKENS = 2
"""A claim with fewer content words is judged together with the question."""
MARKER_REACH = 3
"""Characters behind a claim in which a marker of the model still belongs to it."""


@dataclass(frozen=True, slots=True)
class ProvedAnswer:
    """An answer whose every marker points to a quote; ``dropped_markers`` counts those of the model that did not."""

    text: str
    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    dropped_markers: int

    @property
    def supported(self) -> bool:
        """Whether at least one claim is carried by stored text."""
        return any(claim.verdict != "unsupported" for claim in self.claims)


def prove(
    text: str,
    evidence: Evidence,
    *,
    question: str,
    markers: Sequence[Marker] = (),
    remove_unsupported: bool = False,
    opinions: Sequence[Opinion | None] = (),
) -> ProvedAnswer:
    """Check every claim of an answer and set its citations.

    Args:
        text: The answer without markers.
        evidence: The passages of the prompt, in prompt order.
        question: What was asked; its words count as given.
        markers: What the model cited and where; numbers outside of the passages are counted and dropped.
        remove_unsupported: Take claims without support out of the text.
        opinions: Of a second judge, one a claim, in order; each may lower a verdict, none raises one.
    """
    known = range(1, len(evidence.chunks) + 1)
    judged: list[tuple[ClaimSpan, Judgement]] = []
    spans = split_claims(text)
    for span in spans:
        if span.kind == "code":
            judged.append((span, judge_code(span.judged, evidence)))
        else:
            cited = _cited_by(span, spans, markers)
            known_cited = {number - 1 for number in cited if number in known}
            judged.append((span, _judge(span.judged, evidence, question, known_cited)))
    for number, opinion in enumerate(opinions[: len(judged)]):
        span, judgement = judged[number]
        judged[number] = (span, lowered(judgement, opinion))
    dropped = sum(number not in known for marker in markers for number in marker.numbers)
    return _assemble(text, judged, evidence, dropped, remove_unsupported=remove_unsupported)


def lowered(judgement: Judgement, opinion: Opinion | None) -> Judgement:
    """The judgement after a second opinion: never a better one."""
    if opinion == "contradicts" and judgement.verdict != "unsupported":
        return Judgement("unsupported", (), "A second judge reads the passage the other way.", judgement.coverage)
    if opinion == "unsure" and judgement.verdict == "verified":
        explanation = "Found in part: a second judge does not read it in the passage."
        return Judgement("partial", judgement.supports, explanation, judgement.coverage)
    return judgement


def quote(support: Support, evidence: Evidence, number: int) -> Citation:
    """A citation whose quote is exactly what is stored."""
    chunk = evidence.chunks[support.passage]
    return Citation(
        number=number,
        document_id=chunk.document_id,
        chunk_id=chunk.chunk_id,
        source=chunk.source,
        title=chunk.title,
        page=chunk.page,
        section=chunk.section,
        quote=chunk.text[support.start : support.end],
        char_start=chunk.char_start + support.start,
        char_end=chunk.char_start + support.end,
        call_id=call_of(chunk),
        attachment_id=attachment_of(chunk),
    )


def _judge(claim: str, evidence: Evidence, question: str, cited: set[int]) -> Judgement:
    """A claim of a word or two (``6``) says nothing without its question, so both are looked for as one statement."""
    asked = tokenise(question)
    if len(content(tokenise(claim))) < TERSE_TOKENS and content(asked):
        return judge(f"{question.strip(' ?')} {claim}", evidence, given=frozenset(), cited=cited)
    return judge(claim, evidence, given=keys_of(asked), cited=cited)


def _cited_by(span: ClaimSpan, spans: Sequence[ClaimSpan], markers: Sequence[Marker]) -> set[int]:
    """Numbers the model gave a claim: behind it, or before it where the model begins its sentences with them."""
    leading = bool(markers) and markers[0].offset <= spans[0].start
    if leading:
        before = max((other.end for other in spans if other.end <= span.start), default=0)
        held = [marker for marker in markers if before <= marker.offset <= span.start]
    else:
        held = [marker for marker in markers if span.start < marker.offset <= span.end + MARKER_REACH]
    return {number for marker in held for number in marker.numbers}


def _assemble(
    text: str,
    judged: Sequence[tuple[ClaimSpan, Judgement]],
    evidence: Evidence,
    dropped: int,
    *,
    remove_unsupported: bool,
) -> ProvedAnswer:
    numbers: dict[Support, int] = {}
    claims: list[Claim] = []
    out: list[str] = []
    place = length = 0
    for span, judgement in judged:
        if judgement.verdict == "unsupported" and remove_unsupported:
            kept = _without_bullet(text[place : span.start])
            out.append(kept)
            length += len(kept)
            place = span.removed_to
            claims.append(_claim(text, span, judgement, (), length).model_copy(update={"char_end": length}))
            continue
        cited = tuple(dict.fromkeys(numbers.setdefault(s, len(numbers) + 1) for s in judgement.supports))
        start = length + span.start - place
        claims.append(_claim(text, span, judgement, cited, start))
        marks = "".join(f"[{number}]" for number in cited)
        marks = f"\n\n{marks}" if marks and span.kind == "code" else f" {marks}" if marks else ""
        out += [text[place : span.marker_at], marks]
        length += span.marker_at - place + len(marks)
        place = span.marker_at
    out.append(text[place:])
    whole = "".join(out).rstrip()
    return ProvedAnswer(
        text=whole,
        claims=tuple(claims),
        citations=tuple(quote(support, evidence, number) for support, number in numbers.items()),
        dropped_markers=dropped,
    )


def _claim(text: str, span: ClaimSpan, judgement: Judgement, cited: tuple[int, ...], start: int) -> Claim:
    return Claim(
        text=text[span.start : span.end],
        verdict=judgement.verdict,
        citations=cited,
        char_start=start,
        char_end=start + span.end - span.start,
        explanation=judgement.explanation,
    )


def _without_bullet(text: str) -> str:
    """What stands before a removed claim, without the bullet or number that introduced it."""
    line_start = text.rfind("\n") + 1
    marker = text[line_start:].strip()
    if marker in ("-", "*", "+", "•") or (marker[:-1].isdigit() and marker[-1:] in (".", ")")):
        return text[:line_start].rstrip("\n") + ("\n" if line_start else "")
    return text
