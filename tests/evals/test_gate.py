from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic import JsonValue

from app.client import ApiClient
from app.eval_schema import EvalRequest
from app.settings import Settings
from evals.answers_report import QuestionsReport, report_of
from evals.cli_questions import follow
from evals.errors import BaselineUnreadable, WorldUnusable
from evals.gate import Baseline, Bound, Breach, baseline_of, breaches, read_baseline, write_baseline
from evals.questions import read_questions
from evals.sample_home import open_sample_home
from retrieval.embedders.hashing import HashingEmbedder
from tests.fakes import GatedChatModel

ROOT = Path(__file__).parents[2]
BASELINES = ROOT / "evals" / "baselines"


def report(**metrics: float) -> QuestionsReport:
    return QuestionsReport(
        eval_id="e",
        kind="answers",
        name="samples",
        state="done",
        questions=3,
        total=3,
        metrics=metrics,
        by_kind={},
        config={"model": "m", "embedding_model": "e"},
        cases=[],
    )


def baseline(**bounds: tuple[float, float]) -> Baseline:
    metrics = {name: Bound(value=value, tolerance=tolerance) for name, (value, tolerance) in bounds.items()}
    return Baseline(kind="answers", name="samples", questions=3, metrics=metrics)


def test_a_figure_may_fall_as_far_as_its_tolerance_and_rise_as_far_as_it_likes() -> None:
    expected = baseline(answer_match=(0.5, 0.1), citation_recall=(0.5, 0.0))
    assert breaches(report(answer_match=0.4, citation_recall=1.0), expected) == []
    assert breaches(report(answer_match=0.39, citation_recall=1.0), expected) == [
        Breach("answer_match", 0.5, 0.39, 0.1)
    ]


def test_fewer_unsupported_claims_are_better() -> None:
    expected = baseline(unsupported_claim_rate=(0.02, 0.01))
    assert breaches(report(unsupported_claim_rate=0.0), expected) == []
    assert [breach.metric for breach in breaches(report(unsupported_claim_rate=0.04), expected)] == [
        "unsupported_claim_rate"
    ]


def test_a_figure_that_is_no_longer_measured_is_a_breach() -> None:
    assert breaches(report(), baseline(answer_match=(0.5, 0.1))) == [Breach("answer_match", 0.5, None, 0.1)]


def test_a_baseline_is_read_as_it_was_written(tmp_path: Path) -> None:
    made = baseline_of(report(answer_match=0.5, failed=0.0))
    write_baseline(tmp_path / "a" / "b.json", made)
    assert read_baseline(tmp_path / "a" / "b.json") == made
    assert set(made.metrics) == {"answer_match"}


@pytest.mark.parametrize("text", [None, "{}"])
def test_what_is_no_baseline_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "b.json").write_text(text, encoding="utf-8")
    with pytest.raises(BaselineUnreadable, match="--update"):
        read_baseline(tmp_path / "b.json")


def test_the_baselines_of_the_repository_can_be_read() -> None:
    files = sorted(BASELINES.glob("*.json"))
    assert {read_baseline(file).name for file in files} == {"samples/questions"}


@pytest.fixture
async def handbook(settings: Settings) -> AsyncGenerator[ApiClient]:
    settings.home_path.mkdir()
    documents, model = ROOT / "samples" / "handbook", GatedChatModel("Nothing.")
    async with open_sample_home(settings, documents, embedder=HashingEmbedder(), chat_model=model) as api:
        yield api


async def test_a_search_that_was_made_worse_breaks_the_gate(handbook: ApiClient) -> None:
    questions = read_questions(ROOT / "samples" / "questions.jsonl")

    async def measured(changes: dict[str, JsonValue]) -> QuestionsReport:
        request = EvalRequest(kind="retrieval", name="samples", questions=questions, settings=changes, fresh=True)
        return report_of(await follow(handbook, request, _quiet))

    expected = baseline_of(await measured({}))
    assert breaches(await measured({}), expected) == []
    # The dense leg of hashed words alone finds next to nothing.
    worse = await measured({"search.dense_weight": 1, "search.candidates": 1, "search.rerank.kind": "none"})
    assert {"hit@1", "hit@5"} <= {breach.metric for breach in breaches(worse, expected)}


async def test_documents_that_are_not_there_are_named(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(WorldUnusable, match="no folder"):
        async with open_sample_home(settings, tmp_path / "nothing"):
            pass


def _quiet(*_progress: object) -> None:
    """Nobody looks."""
