from __future__ import annotations

from app.eval_schema import EvalQuestion
from evals.search_case import judge_search, summarise_searches
from retrieval.types import Chunk, Hit, HitScores, SearchResult, SearchTimings


def found(*sources: str) -> SearchResult:
    hits = tuple(
        Hit(
            rank=rank,
            chunk=Chunk(
                chunk_id=f"c{rank}",
                document_id=source,
                collection="default",
                source=f"/docs/{source}",
                title=source,
                position=rank,
                text=source,
                char_start=0,
                char_end=len(source),
            ),
            scores=HitScores(),
        )
        for rank, source in enumerate(sources, start=1)
    )
    return SearchResult("q", hits, SearchTimings(1.0, 1.0, 0.0, 2.0))


def asked(*files: str, also: tuple[str, ...] = (), kind: str = "lookup") -> EvalQuestion:
    return EvalQuestion(id="q", question="What?", relevant_files=files, also_relevant=also, kind=kind)


def test_a_hit_counts_at_its_passage_and_files_at_their_best() -> None:
    case = judge_search(asked("a.md"), found("x.md", "x.md", "x.md", "a.md", "a.md"))
    assert {name: case.values[name] for name in ("hit@1", "hit@3", "hit@5", "hit@10")} == {
        "hit@1": 0.0,
        "hit@3": 0.0,
        "hit@5": 1.0,
        "hit@10": 1.0,
    }
    assert case.values["mrr@10"] == 0.5
    assert case.passed
    assert [passage.relevant for passage in case.passages] == [False, False, False, True, True]


def test_a_question_over_two_files_wants_both_and_takes_others_for_hits() -> None:
    question = asked("a.md", "b.md", also=("c.md",), kind="multi-hop")
    case = judge_search(question, found("c.md", "a.md", *["x.md"] * 4, "b.md"))
    assert (case.values["hit@1"], case.values["all_files@5"], case.values["all_files@10"]) == (1.0, 0.0, 1.0)


def test_what_is_not_found_has_a_reason() -> None:
    assert judge_search(asked("a.md"), found("x.md")).why_not == "No passage of a relevant file was found."
    deep = judge_search(asked("a.md"), found(*["x.md"] * 6, "a.md"))
    assert (deep.passed, deep.why_not) == (False, "The first relevant passage is at 7.")


def test_questions_without_an_answer_count_in_no_average() -> None:
    nothing = EvalQuestion(id="n", question="What?", answerable=False)
    cases = [judge_search(asked("a.md"), found("a.md")), judge_search(nothing, found("x.md"))]
    assert summarise_searches(cases).metrics["hit@1"] == 1.0
    assert summarise_searches(cases).metrics["questions"] == 1.0
