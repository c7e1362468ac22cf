"""How the result of a search looks in a terminal: hits, and on request what put each where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from app.cli import output
from app.cli.approval_card import plain
from app.search_schema import LEG_WORDS, PROMPT_REASONS, PromptPlace, PromptPreview, SearchHit, SearchResponse
from retrieval.explanation import HitExplanation, LegShare, RerankShare, SearchExplanation, TermShare

EXCERPT_CHARACTERS = 300
MOST_FEATURES = 5
"""Features of a learned ranker that are shown, largest share first; JSON has them all."""


def print_search(response: SearchResponse) -> None:
    """Filters that were read, hits, and what was searched."""
    output.write_text("".join(f"{line}\n" for line in _lines(response)))


def _lines(response: SearchResponse) -> Iterator[str]:
    for one in response.filters:
        if one.applied:
            yield f'Read {one.name} from "{plain(one.words)}"; --drop-filter {one.name} leaves it out.'
        else:
            yield f'Not used: {one.name} from "{plain(one.words)}".'
    if response.searched not in ("", response.query):
        yield f"Searched for: {plain(response.searched)}"
    for warning in response.warnings:
        yield f"Note: {plain(warning.detail)}"
    if response.filters or response.warnings:
        yield ""
    for hit in response.hits:
        yield from _hit(hit)
    if response.explanation:
        yield from _search(response.explanation)
    if response.context:
        yield from _prompt(response.context)
    timings = response.timings_ms
    yield (
        f"{len(response.hits)} hits in {timings['total']:.1f} ms"
        f" (embed {timings['embed']:.1f}, search {timings['search']:.1f}, rerank {timings['rerank']:.1f})"
    )


def _hit(hit: SearchHit) -> Iterator[str]:
    where = output.place(hit.page, plain(hit.section))
    yield f"{hit.rank}. {plain(hit.title)}{f' ({where})' if where else ''}"
    yield f"   {plain(hit.source)}"
    if hit.explanation:
        yield from (f"   {line}" for line in _explanation(hit.explanation))
    if hit.prompt:
        yield f"   prompt: {_place(hit.prompt)}"
    excerpt = plain(" ".join(hit.text.split()))
    yield f"   {excerpt[:EXCERPT_CHARACTERS]}{'...' if len(excerpt) > EXCERPT_CHARACTERS else ''}"
    yield ""


def _explanation(explanation: HitExplanation) -> Iterator[str]:
    rows = [("leg", "rank", "score", "scaled", "weight", "adds"), *map(_leg, explanation.legs)]
    yield from _aligned(rows)
    support = f", {explanation.support:+.3f} for its document" if explanation.support else ""
    yield f"together {explanation.fused_score:.3f} at rank {explanation.fused_rank}{support}"
    if explanation.rerank:
        yield _rerank(explanation.rerank)
    if explanation.diversity:
        diversity = explanation.diversity
        yield (
            f"variety: from rank {diversity.rank_before}, {diversity.penalty:.3f} taken off"
            f" for a likeness of {diversity.similarity:.2f}"
        )
    if explanation.duplicates:
        yield f"stands for {len(explanation.duplicates)} more that say the same"
    found = [term for term in explanation.terms if term.count]
    missing = [term.spelling for term in explanation.terms if not term.count]
    if found:
        yield f"has: {'; '.join(map(_term, found))}"
    if missing:
        yield f"lacks: {', '.join(map(plain, missing))}"


def _leg(leg: LegShare) -> tuple[str, ...]:
    return (
        LEG_WORDS[leg.leg],
        "-" if leg.rank is None else str(leg.rank),
        "-" if leg.score is None else f"{leg.score:.3f}",
        f"{leg.normalised:.3f}",
        f"{leg.weight:.2f}",
        f"{leg.contribution:.3f}",
    )


def _aligned(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        figures = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        yield "  ".join([first.ljust(widths[0]), *figures])


def _rerank(rerank: RerankShare) -> str:
    shown = rerank.features[:MOST_FEATURES]
    features = ", ".join(f"{feature.name} {feature.contribution:+.2f}" for feature in shown)
    more = len(rerank.features) - len(shown)
    parts = f" ({features}{f', {more} more' if more else ''})" if features else ""
    return (
        f"reranked by {plain(rerank.reranker)}: {rerank.score:.3f},"
        f" from rank {rerank.rank_before} to {rerank.rank_after}{parts}"
    )


def _term(term: TermShare) -> str:
    times = f" {term.count}x" if term.count > 1 else ""
    idf = "" if term.idf is None else f" idf {term.idf:.2f}"
    return f"{plain(term.spelling)}{times}{idf} adds {term.contribution:.2f}"


def _place(place: PromptPlace) -> str:
    tokens = "" if place.tokens is None else f", {place.tokens} tokens"
    if place.number is not None:
        return f"[{place.number}]{tokens}"
    return f"left out, {PROMPT_REASONS[place.reason or 'not_looked_at']}{tokens}"


def _search(explanation: SearchExplanation) -> Iterator[str]:
    cut = explanation.stored - explanation.searched
    filtered = f", {cut:,} cut by filters" if cut else ""
    yield f"Searched {explanation.searched:,} passages{filtered}."
    yield (
        f"By meaning {explanation.dense_candidates}, by words {explanation.bm25_candidates},"
        f" together {explanation.fused} ({explanation.fusion}, weight of meaning {explanation.dense_weight:.2f});"
        f" reranked {explanation.reranked}, repeats left out {explanation.duplicates},"
        f" below the limit {explanation.below_limit}."
    )


def _prompt(context: PromptPreview) -> Iterator[str]:
    for query in context.queries:
        yield f"Query ({query.kind.replace('_', ' ')}, by {query.by}): {plain(query.query)}"
    used = {name: count for name, count in context.report.used.model_dump().items() if count}
    spent = ", ".join(f"{name} {count}" for name, count in used.items())
    yield f"Prompt: {context.report.budget_tokens} tokens of context{f'; {spent}' if spent else ''}."
    if context.abstention:
        yield f"The chat would not answer ({context.abstention.reason.replace('_', ' ')})."
