"""What nodes say while they work; agents/stream.py makes events of it, with run, thread, number and time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from agents.answer import Answer, Citation, Claim, ContextReport
from retrieval.types import Hit


@dataclass(frozen=True, slots=True)
class QueryDraft:
    """The search asks something else than the person did."""

    query: str


@dataclass(frozen=True, slots=True)
class HitsDraft:
    """The search is done and the context is filled."""

    query: str
    hits: tuple[Hit, ...]
    context: ContextReport


@dataclass(frozen=True, slots=True)
class TokenDraft:
    """A piece of the answer, markers taken out."""

    text: str


@dataclass(frozen=True, slots=True)
class ClaimsDraft:
    """The proof is done."""

    claims: tuple[Claim, ...]
    citations: tuple[Citation, ...]
    dropped_markers: int


@dataclass(frozen=True, slots=True)
class AnswerDraft:
    """The answer as it stands; ids and timings are filled in by the stream."""

    answer: Answer


Draft: TypeAlias = QueryDraft | HitsDraft | TokenDraft | ClaimsDraft | AnswerDraft
