from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agents.errors import ModelUnavailable
from app.client import ApiClient
from app.errors import ApiProblem
from app.eval_schema import ENDED, EvalDetail, EvalQuestion, EvalRequest
from app.evaluations import changed_settings
from app.schema import IngestRequest
from app.settings import Settings
from tests.app.conftest import ended
from tests.fakes import GatedChatModel

KILLED = EvalQuestion(
    id="killed",
    question="What is the last state of a container that uses more memory than its limit?",
    must_contain=("OOMKilled", "137"),
    relevant_files=("handbook.md",),
    kind="keyword-exact",
)
PRICE = EvalQuestion(id="price", question="How much does zebra fodder cost in Ulan Bator?", answerable=False)
QUESTIONS = (KILLED, PRICE)


@pytest.fixture
async def filled(api: ApiClient, handbook: Path) -> ApiClient:
    """A home with the handbook."""
    assert (await ended(api, await api.ingest(IngestRequest(paths=(str(handbook),))))).state == "done"
    return api


async def measured(api: ApiClient, request: EvalRequest) -> EvalDetail:
    run = await api.start_eval(request)
    async with asyncio.timeout(30):
        while run.state not in ENDED:
            await asyncio.sleep(0.02)
            run = await api.eval_progress(run.eval_id)
    return await api.eval(run.eval_id)


def asking(*questions: EvalQuestion, **fields: Any) -> EvalRequest:
    return EvalRequest(kind="answers", name="tests", questions=questions or QUESTIONS, **fields)


async def test_each_question_goes_through_the_graph_and_is_judged(filled: ApiClient) -> None:
    detail = await measured(filled, asking())
    killed, price = detail.cases
    assert (detail.run.state, detail.run.done, detail.run.total) == ("done", 2, 2)
    assert (killed.status, killed.passed, price.status, price.passed) == ("answered", True, "abstained", True)
    assert all(citation.supports and citation.relevant for citation in killed.citations)
    assert killed.passages[0].relevant
    assert detail.run.summary.metrics["answer_match"] == 1.0
    assert detail.run.summary.metrics["citation_precision"] == 1.0
    assert detail.run.summary.metrics["abstention.f1"] == 1.0
    assert detail.run.config["model"] == "gated"


async def test_an_answer_that_lacks_what_it_must_contain_does_not_pass(filled: ApiClient) -> None:
    detail = await measured(filled, asking(KILLED.model_copy(update={"must_contain": ("exit code 9",)})))
    assert (detail.cases[0].passed, detail.cases[0].why_not) == (False, "The answer lacks 'exit code 9'.")
    assert detail.run.summary.metrics["answer_match"] == 0.0


async def test_a_run_that_met_a_missing_model_goes_on_where_it_was(
    filled: ApiClient, chat_model: GatedChatModel
) -> None:
    chat_model.error = ModelUnavailable("The model is down; start it.")
    failed = await measured(filled, asking(PRICE, KILLED))
    assert (failed.run.state, failed.run.error, len(failed.cases)) == ("failed", "The model is down; start it.", 1)
    chat_model.error = None
    went_on = await measured(filled, asking(PRICE, KILLED))
    assert (went_on.run.eval_id, went_on.run.state) == (failed.run.eval_id, "done")
    assert went_on.cases[0] == failed.cases[0]
    assert (await measured(filled, asking(PRICE, KILLED))).run.eval_id != failed.run.eval_id


async def test_when_the_time_is_up_no_question_is_begun(filled: ApiClient) -> None:
    detail = await measured(filled, asking(limit_seconds=1e-9))
    assert (detail.run.state, detail.cases) == ("stopped", [])


async def test_search_alone_is_measured_with_settings_of_the_run(filled: ApiClient) -> None:
    request = EvalRequest(kind="retrieval", name="tests", questions=QUESTIONS, settings={"search.fusion": "rrf"})
    detail = await measured(filled, request)
    search = detail.run.config["search"]
    assert isinstance(search, dict)
    assert search["fusion"] == "rrf"
    assert detail.run.summary.metrics["hit@1"] == 1.0
    assert detail.run.summary.metrics["questions"] == 1
    assert "model" not in detail.run.config


@pytest.mark.parametrize(
    "changes", [{"search.fusion": "guess"}, {"model.name": "other"}, {"search.no": 1}, {"search": 1}]
)
async def test_a_setting_that_cannot_be_changed_is_refused(filled: ApiClient, changes: dict[str, Any]) -> None:
    with pytest.raises(ApiProblem) as refused:
        await filled.start_eval(asking(settings=changes))
    assert refused.value.problem.code == "request_invalid"


def test_a_setting_inside_a_section_of_a_section_can_be_changed(settings: Settings) -> None:
    search, _ = changed_settings(settings, {"search.rerank.kind": "learned"})
    assert (search.rerank.kind, search.fusion) == ("learned", settings.search.fusion)


async def test_an_unknown_evaluation_is_not_found(api: ApiClient) -> None:
    with pytest.raises(ApiProblem) as refused:
        await api.eval("nothing")
    assert refused.value.problem.code == "eval_unknown"
