"""Found passages and checked claims as HTML; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from agents.answer import Claim, FoundPassage
from app.search_schema import SearchHit
from ui.markup import sentence_html, styled
from ui.wording import GLYPHS, VERDICTS, place, reflowed


def passages_html(passages: Iterable[FoundPassage]) -> str:
    """Passages as a list to fold open, each with its place and why it was found."""
    return styled("".join(_passage(passage) for passage in passages))


def scores_html(passage: FoundPassage) -> str:
    """Why a passage was found, leg by leg."""
    return styled(_chips(passage))


def found_passage(hit: SearchHit) -> FoundPassage:
    """A hit of a search as the passage it is."""
    fields = hit.model_dump(exclude={"scores", "matched_terms", "explanation", "prompt"}) | hit.scores.model_dump()
    return FoundPassage.model_validate(fields)


def claims_html(claims: Iterable[Claim]) -> str:
    """Claims with verdict, sources and the reason of the verdict."""
    return styled("".join(_claim(claim) for claim in claims))


def _passage(passage: FoundPassage) -> str:
    where = place(passage.title or passage.source, passage.page, passage.section)
    return (
        f"<details><summary><b>{passage.rank}. {escape(where)}</b><br><small>{escape(passage.source)}</small>"
        f'{_chips(passage)}</summary><div class="gw-passage">{escape(reflowed(passage.text))}</div></details>'
    )


def _chips(passage: FoundPassage) -> str:
    chips = "".join(f'<span class="gw-chip">{chip}</span>' for chip in _scores(passage))
    return f'<span class="gw-chips">{chips}</span>'


def _scores(passage: FoundPassage) -> Iterator[str]:
    if passage.attachment_id:
        yield "attached to this chat"
        yield (
            "whole"
            if passage.bm25_rank is None
            else f"words: rank {passage.bm25_rank} among its pieces{_score(', BM25', passage.bm25)}"
        )
        return
    yield (
        "not found by meaning"
        if passage.dense_rank is None
        else (f"meaning: rank {passage.dense_rank}{_score(', cosine', passage.dense)}")
    )
    yield (
        "not found by words"
        if passage.bm25_rank is None
        else (f"words: rank {passage.bm25_rank}{_score(', BM25', passage.bm25)}")
    )
    yield f"together {passage.fused:.3f}"
    if passage.rerank is not None:
        yield f"reranked {passage.rerank:.3f}"


def term_spans(text: str, terms: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Words of the text that begin with one of the terms, which are stems."""
    stems = tuple(term.lower() for term in terms if term)
    start = None
    for position, character in enumerate(f"{text} "):
        if character.isalnum():
            start = position if start is None else start
        elif start is not None:
            if stems and text[start:position].lower().startswith(stems):
                yield start, position
            start = None


def _score(label: str, score: float | None) -> str:
    return "" if score is None else f"{label} {score:.2f}"


def _claim(claim: Claim) -> str:
    numbers = ", ".join(str(number) for number in claim.citations)
    sources = f" Source {numbers}." if numbers else ""
    return (
        f'<div class="gw-claim"><b class="{claim.verdict}">{GLYPHS[claim.verdict]}</b><div>{sentence_html(claim.text)}'
        f'<br><span class="gw-note">{VERDICTS[claim.verdict]}. {escape(claim.explanation)}{sources}</span></div></div>'
    )
