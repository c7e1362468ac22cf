"""An answer as claims: sentences, list items, table rows and blocks of code, each with its place in the text."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from agents.proof.evidence import content, mask_markup
from agents.proof.segments import Segment, segment
from agents.proof.tokens import tokenise

SHORT_ITEM_TOKENS = 4
"""A list item with fewer words is judged together with the sentence that introduces the list."""
_FENCE_START = re.compile(r"^[^\n`~]*(?:`{3,}|~{3,})[^\n]*\n\s*\Z", re.MULTILINE)
_FENCE_END = re.compile(r"[^\n]*\n?[ \t]*(?:`{3,}|~{3,})[ \t]*")


class ClaimSpan(NamedTuple):
    """A claim of an answer; ``judged`` is its text, joined with its introduction where it needs one."""

    kind: Literal["text", "row", "code"]
    start: int
    end: int
    marker_at: int
    """Where a marker goes."""
    removed_to: int
    """End of what goes when the claim is taken out."""
    judged: str


def split_claims(answer: str) -> list[ClaimSpan]:
    """Claims in order, without overlap. Headings, rules, table headers, questions and bare openings are none."""
    masked = mask_markup(answer)
    parts = segment(masked)
    claims: list[ClaimSpan] = []
    place = 0
    while place < len(parts):
        part = parts[place]
        if claims and part.start < claims[-1].end:  # inside of a block whose fences are out of step
            place += 1
            continue
        if part.kind == "code":
            last = place
            while last + 1 < len(parts) and parts[last + 1].block == part.block:
                last += 1
            claims.append(_code(answer, part.start, parts[last].end))
            place = last + 1
            continue
        claim = _claim(answer, masked, parts, place)
        if claim is not None:
            claims.append(claim)
        place += 1
    return claims


def _claim(answer: str, masked: str, parts: list[Segment], place: int) -> ClaimSpan | None:
    part = parts[place]
    text = answer[part.start : part.end]
    if part.kind in ("heading", "rule") or text.rstrip("*_ ").endswith("?"):
        return None
    words = content(tokenise(masked[part.start : part.end]))
    if not words:
        return None
    if part.kind == "row":
        return _row(text, part) if part.lead >= 0 else None
    if text.rstrip("*_ ").endswith(":") and len(words) < SHORT_ITEM_TOKENS and not any(w.forms for w in words):
        return None
    judged = text
    if part.kind == "item" and part.lead >= 0 and len(words) < SHORT_ITEM_TOKENS:
        lead = parts[part.lead]
        judged = f"{answer[lead.start : lead.end].rstrip(':')} {text}"
    return ClaimSpan("text", part.start, part.end, part.end, part.end, judged)


def _row(text: str, part: Segment) -> ClaimSpan:
    inside = text.rstrip()
    marker_at = part.start + len(inside.removesuffix("|").rstrip()) if inside.endswith("|") else part.end
    return ClaimSpan("row", part.start, marker_at, marker_at, part.end, text.replace("|", " "))


def _code(answer: str, start: int, end: int) -> ClaimSpan:
    """The whole block with its fences; a model that was cut off leaves it open."""
    opening = _FENCE_START.search(answer, 0, start)
    closing = _FENCE_END.match(answer, end)
    first = opening.start() if opening else start
    last = closing.end() if closing else len(answer.rstrip())
    return ClaimSpan("code", first, last, last, last, answer[start:end])
