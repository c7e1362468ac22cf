"""Why a passage was found, step by step, as HTML; every text is escaped."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from app.search_schema import LEG_WORDS, PROMPT_REASONS, PromptPlace
from retrieval.explanation import HitExplanation, LegShare, RerankShare, SearchExplanation, TermShare
from ui.markup import styled
from ui.wording import plural

MOST_FEATURES = 8
"""Features of a learned ranker that are shown, largest share first."""
_FUSIONS = {"dbsf": "scores by their distribution", "minmax": "scores by their range", "rrf": "ranks"}


def explanation_html(explanation: HitExplanation) -> str:
    """A line to fold open: legs, terms, and what later steps did."""
    return styled(
        '<details class="gw-why"><summary>Why this passage</summary><div class="gw-passage">'
        f"{''.join(_steps(explanation))}</div></details>"
    )


def search_sentence(explanation: SearchExplanation) -> str:
    """What happened to the search as a whole, in plain words."""
    cut = explanation.stored - explanation.searched
    parts = [
        f"{plural(explanation.searched, 'passage')} searched{f', {cut:,} cut by filters' if cut else ''}",
        f"{explanation.dense_candidates} by meaning and {explanation.bm25_candidates} by words, "
        f"together {explanation.fused}",
    ]
    if explanation.reranked:
        parts.append(f"{explanation.reranked} reranked")
    if explanation.duplicates:
        parts.append(f"{plural(explanation.duplicates, 'repeat')} left out")
    joined = _FUSIONS[explanation.fusion]
    parts.append(f"joined by {joined}, {explanation.dense_weight:.0%} for meaning")
    return " · ".join(parts)


def place_words(place: PromptPlace) -> str:
    """Whether the passage would enter the prompt."""
    tokens = "" if place.tokens is None else f", {plural(place.tokens, 'token')}"
    if place.number is not None:
        return f"In the prompt as passage {place.number}{tokens}"
    return f"Not in the prompt: {PROMPT_REASONS[place.reason or 'not_looked_at']}{tokens}"


def _steps(explanation: HitExplanation) -> Iterator[str]:
    rows = "".join(map(_leg, explanation.legs))
    yield (
        '<div class="gw-scroll"><table><thead><tr><th scope="col">Found by</th><th scope="col">Rank</th>'
        '<th scope="col">Score</th><th scope="col">Scaled</th><th scope="col">Weight</th><th scope="col">Adds</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )
    support = f", {explanation.support:+.3f} for its document" if explanation.support else ""
    yield f"<p>Together {explanation.fused_score:.3f}, rank {explanation.fused_rank}{support}.</p>"
    if explanation.rerank:
        yield _rerank(explanation.rerank)
    if diversity := explanation.diversity:
        yield (
            f"<p>For variety {diversity.penalty:.3f} taken off from rank {diversity.rank_before}: it is "
            f"{diversity.similarity:.0%} like one above.</p>"
        )
    if explanation.duplicates:
        yield f"<p>{plural(len(explanation.duplicates), 'passage')} left out that say the same.</p>"
    found = [term for term in explanation.terms if term.count]
    if found:
        cells = "".join(map(_term, found))
        yield (
            '<div class="gw-scroll"><table><thead><tr><th scope="col">Word</th><th scope="col">Times</th>'
            f'<th scope="col">Rarity</th><th scope="col">Adds</th></tr></thead><tbody>{cells}</tbody></table></div>'
        )
    if missing := [term.spelling for term in explanation.terms if not term.count]:
        yield f"<p>Not in it: {escape(', '.join(missing))}</p>"


def _leg(leg: LegShare) -> str:
    rank = "not found" if leg.rank is None else str(leg.rank)
    score = "" if leg.score is None else f"{leg.score:.3f}"
    return (
        f'<tr><th scope="row">{LEG_WORDS[leg.leg].capitalize()}</th><td>{rank}</td><td>{score}</td>'
        f"<td>{leg.normalised:.3f}</td>"
        f"<td>{leg.weight:.2f}</td><td>{leg.contribution:.3f}</td></tr>"
    )


def _term(term: TermShare) -> str:
    rarity = "" if term.idf is None else f"{term.idf:.2f}"
    return (
        f'<tr><th scope="row">{escape(term.spelling)}</th><td>{term.count}</td><td>{rarity}</td>'
        f"<td>{term.contribution:.2f}</td></tr>"
    )


def _rerank(rerank: RerankShare) -> str:
    shares = ", ".join(
        f"{escape(feature.name)} {feature.contribution:+.2f}" for feature in rerank.features[:MOST_FEATURES]
    )
    more = len(rerank.features) - MOST_FEATURES
    made_of = f" It is made of: {shares}{f' and {more} more' if more > 0 else ''}." if shares else ""
    return (
        f"<p>Reranked by {escape(rerank.reranker)} from {rerank.rank_before} to {rerank.rank_after}, "
        f"score {rerank.score:.3f}.{made_of}</p>"
    )
