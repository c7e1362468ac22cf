from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

import httpx
import pytest

from agents.errors import ModelUnavailable
from agents.events import EVENT_ADAPTER, RunEvent, RunFailed, is_terminal
from app.client import ApiClient
from app.errors import ApiProblem
from app.schema import RunRequest, ThreadCreate
from app.search_schema import SearchRequest
from app.sse import parse_run_events
from tests.app.conftest import ended
from tests.fakes import GatedChatModel

QUESTION = RunRequest(question="What is the exit code of a container that was OOMKilled?")


async def test_question_is_answered_with_a_citation_of_stored_text(api: ApiClient, handbook: Path) -> None:
    await ended(api, await api.upload([handbook]))
    thread = await api.create_thread(ThreadCreate())
    run = await api.start_run(thread.thread_id, QUESTION)
    events = await _collect(api, run.run_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [is_terminal(event) for event in events].count(True) == 1
    run = await api.run(run.run_id)
    assert run.answer is not None
    assert run.state == "answered"
    [citation] = run.answer.citations
    text = (await api.document_text(citation.document_id)).text
    assert text[citation.char_start : citation.char_end] == citation.quote
    detail = await api.thread(thread.thread_id)
    assert detail.thread.title == QUESTION.question
    assert detail.runs == [run]
    assert [item.thread_id for item in (await api.threads()).threads] == [thread.thread_id]


@pytest.mark.parametrize(
    ("query", "header", "first"),
    [("", None, 1), ("?after=2", None, 3), ("", "2", 3), ("?after=1", "3", 4), ("?after=1000", None, None)],
)
async def test_stream_begins_behind_the_number_or_the_header_which_wins(
    http: httpx.AsyncClient, query: str, header: str | None, first: int | None
) -> None:
    run_id = await _ask(http)
    headers = {"Last-Event-ID": header} if header else {}
    everything = await _stream(http, run_id)
    last = everything[-1].seq
    events = await _stream(http, run_id, query=query, headers=headers)
    assert [event.seq for event in events] == (list(range(first, last + 1)) if first else [last])


async def test_each_event_carries_its_number_and_type_on_the_wire(http: httpx.AsyncClient) -> None:
    run_id = await _ask(http)
    response = await http.get(f"/api/runs/{run_id}/events")
    assert response.headers["content-type"].startswith("text/event-stream")
    blocks = [block for block in response.text.split("\n\n") if block and not block.startswith(":")]
    for block in blocks:
        fields = dict(line.split(": ", 1) for line in block.split("\n"))
        event = EVENT_ADAPTER.validate_json(fields["data"])
        assert (fields["event"], fields["id"]) == (event.type, str(event.seq))


async def test_follower_attaches_while_tokens_come_and_cancel_reaches_the_model(
    api: ApiClient, chat_model: GatedChatModel, handbook: Path
) -> None:
    await ended(api, await api.upload([handbook]))
    chat_model.gated = True
    thread = await api.create_thread(ThreadCreate())
    run = await api.start_run(thread.thread_id, QUESTION)
    first = asyncio.create_task(_collect(api, run.run_id))
    await chat_model.held.wait()
    with pytest.raises(ApiProblem) as refusal:
        await api.start_run(thread.thread_id, QUESTION)
    assert refusal.value.problem.code == "run_active"
    cancelled = await api.cancel_run(run.run_id)
    assert cancelled.state == "cancelled"
    assert chat_model.stopped_early == 1
    events = await first
    assert events[-1].type == "run_cancelled"
    assert await _collect(api, run.run_id) == events
    assert (await api.cancel_run(run.run_id)).state == "cancelled"


async def test_deleting_a_thread_stops_its_run(api: ApiClient, chat_model: GatedChatModel, handbook: Path) -> None:
    await ended(api, await api.upload([handbook]))
    chat_model.gated = True
    thread = await api.create_thread(ThreadCreate())
    run = await api.start_run(thread.thread_id, QUESTION)
    await chat_model.held.wait()
    await api.delete_thread(thread.thread_id)
    assert chat_model.stopped_early == 1
    with pytest.raises(ApiProblem) as refusal:
        await api.run(run.run_id)
    assert refusal.value.problem.code == "run_unknown"


async def test_model_server_down_fails_the_run_and_leaves_search(
    api: ApiClient, chat_model: GatedChatModel, handbook: Path
) -> None:
    await ended(api, await api.upload([handbook]))
    chat_model.error = ModelUnavailable("The model server is not there; start it.")
    thread = await api.create_thread(ThreadCreate())
    run = await api.start_run(thread.thread_id, QUESTION)
    last = (await _collect(api, run.run_id))[-1]
    assert isinstance(last, RunFailed)
    assert (last.kind, last.message) == ("model_unavailable", "The model server is not there; start it.")
    assert (await api.search(SearchRequest(query="OOMKilled"))).hits
    readiness = await api.readiness()
    assert not readiness.ready
    assert readiness.parts["model"] == "The model server is not there; start it."
    assert readiness.parts["store"] == "ready"


async def test_follow_up_brings_the_earlier_turns_to_the_model(
    api: ApiClient, chat_model: GatedChatModel, handbook: Path
) -> None:
    await ended(api, await api.upload([handbook]))
    thread = await api.create_thread(ThreadCreate())
    for question in (QUESTION, RunRequest(question="And the exit code of OOMKilled again?")):
        run = await api.start_run(thread.thread_id, question)
        await _collect(api, run.run_id)
    assert any(QUESTION.question in message.content for message in chat_model.prompts[-1])


async def test_question_over_no_documents_ends_as_abstention(api: ApiClient) -> None:
    thread = await api.create_thread(ThreadCreate())
    run = await api.start_run(thread.thread_id, RunRequest(question="Anything?", collections=("nowhere",)))
    await _collect(api, run.run_id)
    assert (await api.run(run.run_id)).state == "abstained"


async def test_all_parts_ready_is_200_and_metrics_count_what_happened(http: httpx.AsyncClient) -> None:
    ready = await http.get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    run_id = await _ask(http)
    await _stream(http, run_id)
    text = (await http.get("/metrics")).text
    assert 'groundwork_runs_total{state="abstained"} 1.0' in text
    assert (
        'groundwork_http_requests_total{method="POST",route="/api/threads/{thread_id}/runs",status="202"} 1.0' in text
    )


async def _collect(api: ApiClient, run_id: str) -> list[RunEvent]:
    async with asyncio.timeout(30):
        return [event async for event in api.events(run_id)]


async def _ask(http: httpx.AsyncClient) -> str:
    thread_id = (await http.post("/api/threads", json={})).json()["thread_id"]
    response = await http.post(f"/api/threads/{thread_id}/runs", json={"question": "Anything?"})
    assert response.status_code == 202
    return response.json()["run_id"]


async def _stream(
    http: httpx.AsyncClient, run_id: str, *, query: str = "", headers: Mapping[str, str] | None = None
) -> list[RunEvent]:
    response = await http.get(f"/api/runs/{run_id}/events{query}", headers=headers)
    assert response.status_code == 200

    async def body() -> AsyncGenerator[bytes]:
        yield response.content

    return [event async for event in parse_run_events(body())]
