from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from app.client import ApiClient
from app.schema import IngestRequest, RunInfo, RunRequest, ThreadCreate
from evals.questions import parse_questions
from tests.app.conftest import ended


async def asked(api: ApiClient, thread_id: str, question: str) -> RunInfo:
    run = await api.start_run(thread_id, RunRequest(question=question))
    async for _ in api.events(run.run_id):
        pass
    return await api.run(run.run_id)


@pytest.fixture
async def runs(api: ApiClient, handbook: Path) -> list[RunInfo]:
    """Two answered questions of one thread, and one that was withheld."""
    await ended(api, await api.ingest(IngestRequest(paths=(str(handbook),))))
    thread = await api.create_thread(ThreadCreate())
    question = "What is the last state of a container that uses more memory than its limit?"
    first = await asked(api, thread.thread_id, question)
    second = await asked(api, thread.thread_id, "And which exit code does a container over its memory limit have?")
    other = await api.create_thread(ThreadCreate())
    return [first, second, await asked(api, other.thread_id, "How much does zebra fodder cost in Ulan Bator?")]


async def test_an_answer_is_kept_with_its_quotes_its_history_and_what_it_must_contain(
    runs: list[RunInfo], http: httpx.AsyncClient
) -> None:
    first, second, withheld = runs
    kept = [
        (await http.post("/api/evals/questions", json={"run_id": run.run_id})).json()["question"]
        for run in (first, second, withheld)
    ]
    assert (first.state, second.state, withheld.state) == ("answered", "answered", "abstained")
    assert kept[0]["must_contain"] == ["OOMKilled", "137"]
    assert kept[0]["relevant_files"][0].endswith("/handbook.md")
    assert "OOMKilled with exit code 137" in kept[0]["evidence"][0]["quote"]
    assert (kept[0]["kind"], kept[1]["kind"], len(kept[1]["history"])) == ("lookup", "follow-up", 2)
    assert "[" not in kept[1]["history"][1]["content"]
    assert (kept[2]["answerable"], kept[2]["answer"], kept[2]["evidence"]) == (False, "", [])


async def test_what_is_exported_can_be_measured(runs: list[RunInfo], http: httpx.AsyncClient) -> None:
    for run in runs:
        await http.post("/api/evals/questions", json={"run_id": run.run_id})
    exported = (await http.get("/api/evals/questions/export")).text
    questions = parse_questions(exported.splitlines(), origin="the export")
    assert [question.question for question in questions] == [run.question for run in runs]


async def test_a_kept_question_is_changed_and_forgotten(runs: list[RunInfo], http: httpx.AsyncClient) -> None:
    question = (await http.post("/api/evals/questions", json={"run_id": runs[0].run_id})).json()["question"]
    again = await http.post("/api/evals/questions", json={"run_id": runs[0].run_id})
    assert again.status_code == 422
    address = f"/api/evals/questions/{question['id']}"
    changed = await http.put(address, json={**question, "must_contain": ["137"]})
    assert changed.json()["question"]["must_contain"] == ["137"]
    assert (await http.put(address, json={**question, "id": "other"})).status_code == 422
    assert (await http.delete(address)).status_code == 204
    assert (await http.delete(address)).json()["code"] == "eval_unknown"
    assert json.loads((await http.get("/api/evals/questions")).text) == {"questions": []}


async def test_a_run_that_is_not_there_cannot_be_kept(http: httpx.AsyncClient) -> None:
    refused = await http.post("/api/evals/questions", json={"run_id": "nothing"})
    assert (refused.status_code, refused.json()["code"]) == (404, "run_unknown")
