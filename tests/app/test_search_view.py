"""What ``search --explain`` prints."""

from __future__ import annotations

import pytest

from agents.answer import BudgetUse, ContextReport
from app.cli.search_view import print_search
from app.search_schema import (
    PromptPlace,
    PromptPreview,
    ReadFilterInfo,
    SearchHit,
    SearchNotice,
    SearchQuery,
    SearchResponse,
    SearchScores,
)
from retrieval.explanation import (
    FeatureShare,
    HitExplanation,
    LegShare,
    RerankShare,
    SearchExplanation,
    TermShare,
)

HIT = SearchHit(
    rank=1,
    chunk_id="c",
    document_id="d",
    source="/docs/limits.md",
    title="Limits",
    page=3,
    section="Memory",
    char_start=0,
    char_end=9,
    text="exit code\n137 \x1b[31m",
    scores=SearchScores(dense=0.5, dense_rank=24, bm25=45.5, bm25_rank=1, fused=1.0, rerank=2.5),
    matched_terms=["exit"],
)
EXPLANATION = HitExplanation(
    legs=(LegShare("dense", 24, 0.655, 0.588, 0.4, 0.235), LegShare("bm25", None, None, 0.0, 0.6, 0.0)),
    terms=(TermShare("exit", "exit", 2, 4.7, 5.14), TermShare("zanzibar", "zanzibar", 0, None, 0.0)),
    fused_score=0.235,
    fused_rank=4,
    support=0.381,
    rerank=RerankShare("learned 1", 2.5, 4, 1, (FeatureShare("coverage", 0.9, 1.2),)),
    duplicates=("x",),
)
SEARCH = SearchExplanation(
    fusion="dbsf",
    dense_weight=0.4,
    stored=12_000,
    searched=9_844,
    dense_candidates=100,
    bm25_candidates=90,
    fused=182,
    reranked=30,
    duplicates=1,
    below_limit=180,
)
TIMINGS = {"embed": 1.0, "search": 2.0, "rerank": 0.5, "total": 3.5}


def printed(capsys: pytest.CaptureFixture[str], **fields: object) -> list[str]:
    body = {"query": "exit zanzibar", "hits": [HIT], "timings_ms": TIMINGS, **fields}
    print_search(SearchResponse.model_validate(body))
    return capsys.readouterr().out.splitlines()


def test_a_search_prints_place_source_and_excerpt_without_steering_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed(capsys) == [
        "1. Limits (page 3, Memory)",
        "   /docs/limits.md",
        "   exit code 137 \\x1b[31m",
        "",
        "1 hits in 3.5 ms (embed 1.0, search 2.0, rerank 0.5)",
    ]


def test_an_explained_hit_shows_legs_terms_and_later_steps(capsys: pytest.CaptureFixture[str]) -> None:
    hit = HIT.model_copy(update={"explanation": EXPLANATION})
    lines = printed(capsys, hits=[hit], explanation=SEARCH)
    assert lines[2:-2] == [
        "   leg      rank  score  scaled  weight   adds",
        "   meaning    24  0.655   0.588    0.40  0.235",
        "   words       -      -   0.000    0.60  0.000",
        "   together 0.235 at rank 4, +0.381 for its document",
        "   reranked by learned 1: 2.500, from rank 4 to 1 (coverage +1.20)",
        "   stands for 1 more that say the same",
        "   has: exit 2x idf 4.70 adds 5.14",
        "   lacks: zanzibar",
        "   exit code 137 \\x1b[31m",
        "",
        "Searched 9,844 passages, 2,156 cut by filters.",
    ]
    assert lines[-2].startswith("By meaning 100, by words 90, together 182 (dbsf, weight of meaning 0.40); reranked 30")


def test_filters_notes_and_the_prompt_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    hits = [
        HIT.model_copy(update={"prompt": PromptPlace(number=2, tokens=213)}),
        HIT.model_copy(update={"prompt": PromptPlace(tokens=640, reason="budget")}),
    ]
    lines = printed(
        capsys,
        hits=hits,
        searched="exit",
        filters=(
            ReadFilterInfo(name="collection=runbooks", kind="collection", words="in the runbooks coll", applied=True),
            ReadFilterInfo(name="year=2024", kind="year", words="from 2024", applied=False),
        ),
        warnings=(SearchNotice(code="rerank_timeout", detail="The reranker took too long."),),
        context=PromptPreview(
            queries=(SearchQuery(query="exit code pod", kind="follow_up"),),
            report=ContextReport(budget_tokens=4096, used=BudgetUse(system=90, evidence=213)),
        ),
    )
    assert lines[:4] == [
        'Read collection=runbooks from "in the runbooks coll"; --drop-filter collection=runbooks leaves it out.',
        'Not used: year=2024 from "from 2024".',
        "Searched for: exit",
        "Note: The reranker took too long.",
    ]
    assert "   prompt: [2], 213 tokens" in lines
    assert "   prompt: left out, no room left, 640 tokens" in lines
    assert lines[-3:-1] == [
        "Query (follow up, by rules): exit code pod",
        "Prompt: 4096 tokens of context; system 90, evidence 213.",
    ]
