"""A block of code is checked line by line: a line is found when it stands in a passage, white space aside."""

from __future__ import annotations

from agents.proof.evidence import Evidence
from agents.proof.verdicts import Judgement, Support


def judge_code(code: str, evidence: Evidence) -> Judgement:
    """``verified`` if one passage holds every line, ``partial`` if one holds half of them, else ``unsupported``."""
    lines = [squeezed for line in code.splitlines() if (squeezed := _squeeze(line))]
    best: list[tuple[int, int]] = []
    best_passage = 0
    for number, chunk in enumerate(evidence.chunks):
        stored = _stored_lines(chunk.text)
        found = [stored[line] for line in lines if line in stored]
        if len(found) > len(best):
            best, best_passage = found, number
    if not lines or len(best) * 2 < len(lines):
        return Judgement("unsupported", (), "No passage holds this code.")
    support = Support(best_passage, min(start for start, _ in best), max(end for _, end in best))
    if len(best) == len(lines):
        return Judgement("verified", (support,), "Every line of code found in the passage.", 1.0)
    explanation = f"Found in part: {len(lines) - len(best)} of {len(lines)} lines of code do not stand in the passage."
    return Judgement("partial", (support,), explanation, len(best) / len(lines))


def _stored_lines(text: str) -> dict[str, tuple[int, int]]:
    lines: dict[str, tuple[int, int]] = {}
    start = 0
    for line in text.splitlines(keepends=True):
        squeezed = _squeeze(line)
        if squeezed:
            begin = start + len(line) - len(line.lstrip())
            lines.setdefault(squeezed, (begin, start + len(line.rstrip())))
        start += len(line)
    return lines


def _squeeze(line: str) -> str:
    return " ".join(line.split()).removeprefix("$ ")
