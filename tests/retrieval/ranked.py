"""Candidates for tests, in a fused order that is given."""

from __future__ import annotations

from retrieval.candidates import Candidate, fuse_legs
from retrieval.types import Chunk, LegResult, ScoredId
from tests.retrieval.points import make_chunk


def ranked(*chunks: Chunk, scores: tuple[float, ...] = ()) -> list[Candidate]:
    """Candidates best first; their fused scores are ``scores``, which run from 1 down to 0, or evenly spaced."""
    given = scores or tuple(1 - place / max(len(chunks) - 1, 1) for place in range(len(chunks)))
    leg = LegResult([ScoredId(chunk.chunk_id, score) for chunk, score in zip(chunks, given, strict=True)])
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    fused = fuse_legs(leg, leg, method="minmax", dense_weight=0.5)
    return [Candidate(by_id[one.chunk_id], one) for one in fused]


def passage(document: str, text: str, position: int = 0) -> Chunk:
    """A chunk of a document."""
    return make_chunk(text, document=document, position=position)


def texts(candidates: list[Candidate]) -> list[str]:
    """What the candidates say, in their order."""
    return [candidate.chunk.text for candidate in candidates]
