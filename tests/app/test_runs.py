from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from agents.events import RunCancelled, RunEvent, RunFailed, is_terminal
from agents.request import AnswerRequest
from app.database import open_database
from app.errors import RunActive, RunUnknown, ThreadUnknown
from app.run_log import RunLog
from app.runs import RunService
from app.settings import Settings
from app.threads import ThreadStore
from tests.fakes import ScriptedAnswers, run_service

_WAIT_SECONDS = 10


@pytest.fixture
async def engine(database_settings: Settings) -> AsyncGenerator[AsyncEngine]:
    async with open_database(database_settings) as engine:
        yield engine


@pytest.fixture
def answers() -> ScriptedAnswers:
    return ScriptedAnswers()


@pytest.fixture
async def service(engine: AsyncEngine, answers: ScriptedAnswers) -> AsyncGenerator[RunService]:
    service = run_service(engine, RunLog(engine, owner="test"), answers)
    yield service
    await service.close()


@pytest.fixture
async def request_(engine: AsyncEngine) -> AnswerRequest:
    thread = await ThreadStore(engine).create()
    return AnswerRequest(run_id=uuid4().hex, thread_id=thread.thread_id, question="How many?")


async def test_events_are_numbered_without_gap_and_end_with_one_terminal_event(
    service: RunService, request_: AnswerRequest
) -> None:
    await service.start(request_)
    events = await _collect(service, request_.run_id)
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert [event.type for event in events] == ["run_started", "token", "token", "token", "answer_done", "run_finished"]
    run = await service.get(request_.run_id)
    assert (run.state, run.last_seq, run.answer and run.answer.answer) == ("answered", 6, "one two three")


@pytest.mark.parametrize("after", range(7))
async def test_follower_gets_exactly_what_comes_after_its_number(
    service: RunService, answers: ScriptedAnswers, request_: AnswerRequest, after: int
) -> None:
    answers.hold_before = 1
    await service.start(request_)
    await answers.held.wait()
    while_running = asyncio.create_task(_collect(service, request_.run_id, after=after))
    answers.release.set()
    everything = await _collect(service, request_.run_id)
    assert await while_running == everything[after:]
    assert await _collect(service, request_.run_id, after=after) == everything[after:]


async def test_followers_that_attach_at_any_moment_see_the_same_events(
    service: RunService, answers: ScriptedAnswers, request_: AnswerRequest
) -> None:
    answers.words = tuple(f"{number} " for number in range(300))
    await service.start(request_)
    followers: list[asyncio.Task[list[RunEvent]]] = []
    first = await service.follow(request_.run_id)
    async for event in first:
        if event.seq % 50 == 0:
            followers.append(asyncio.create_task(_collect(service, request_.run_id)))
    expected = await _collect(service, request_.run_id)
    assert len(expected) == 303
    for follower in followers:
        assert await follower == expected


async def test_terminal_event_is_in_the_log_before_it_is_seen(
    service: RunService, engine: AsyncEngine, request_: AnswerRequest
) -> None:
    log = RunLog(engine, owner="other")
    await service.start(request_)
    async for event in await service.follow(request_.run_id):
        if is_terminal(event):
            stored = await log.events(request_.run_id, after=0)
            assert stored[-1] == event
            assert (await log.get(request_.run_id)).state == "answered"


async def test_detaching_does_not_stop_the_run(
    service: RunService, answers: ScriptedAnswers, request_: AnswerRequest
) -> None:
    answers.hold_before = 2
    await service.start(request_)
    events = await service.follow(request_.run_id)
    await anext(events)
    await events.aclose()
    answers.release.set()
    assert (await _collect(service, request_.run_id))[-1].type == "run_finished"
    assert answers.stopped == []


async def test_cancel_stops_the_model_and_keeps_what_was_written(
    service: RunService, answers: ScriptedAnswers, request_: AnswerRequest
) -> None:
    answers.hold_before = 2
    await service.start(request_)
    await answers.held.wait()
    run = await service.cancel(request_.run_id)
    events = await _collect(service, request_.run_id)
    assert run.state == "cancelled"
    assert answers.stopped == [request_.run_id]
    assert isinstance(events[-1], RunCancelled)
    assert events[-1].partial == "one two "
    assert [is_terminal(event) for event in events].count(True) == 1


async def test_run_cancelled_at_once_has_its_terminal_event(service: RunService, request_: AnswerRequest) -> None:
    await service.start(request_)
    assert (await service.cancel(request_.run_id)).state == "cancelled"
    assert [event.type for event in await _collect(service, request_.run_id)][-1] == "run_cancelled"


async def test_cancelling_an_ended_run_changes_nothing(service: RunService, request_: AnswerRequest) -> None:
    await service.start(request_)
    events = await _collect(service, request_.run_id)
    assert (await service.cancel(request_.run_id)).state == "answered"
    assert await _collect(service, request_.run_id) == events


async def test_second_run_of_a_thread_is_refused_until_the_first_has_ended(
    service: RunService, answers: ScriptedAnswers, request_: AnswerRequest
) -> None:
    answers.hold_before = 0
    await service.start(request_)
    second = AnswerRequest(run_id=uuid4().hex, thread_id=request_.thread_id, question="And now?")
    with pytest.raises(RunActive):
        await service.start(second)
    answers.release.set()
    await _collect(service, request_.run_id)
    await service.start(second)
    assert (await _collect(service, second.run_id))[-1].type == "run_finished"


async def test_of_many_concurrent_starts_in_a_thread_one_wins(
    service: RunService, answers: ScriptedAnswers, request_: AnswerRequest
) -> None:
    answers.hold_before = 0
    requests = [
        AnswerRequest(run_id=uuid4().hex, thread_id=request_.thread_id, question=f"Question {number}")
        for number in range(8)
    ]
    results = await asyncio.gather(*(service.start(item) for item in requests), return_exceptions=True)
    assert sum(isinstance(result, RunActive) for result in results) == 7


async def test_answer_that_breaks_off_ends_as_failed(engine: AsyncEngine, request_: AnswerRequest) -> None:
    service = run_service(engine, RunLog(engine, owner="test"), ScriptedAnswers(error=ValueError("boom")))
    await service.start(request_)
    events = await _collect(service, request_.run_id)
    assert isinstance(events[-1], RunFailed)
    assert events[-1].kind == "internal_error"
    assert "boom" not in events[-1].message
    assert (await service.get(request_.run_id)).state == "failed"


async def test_closing_ends_runs_as_interrupted(
    service: RunService, answers: ScriptedAnswers, request_: AnswerRequest
) -> None:
    answers.hold_before = 1
    await service.start(request_)
    await answers.held.wait()
    follower = asyncio.create_task(_collect(service, request_.run_id))
    await service.close()
    last = (await follower)[-1]
    assert isinstance(last, RunFailed)
    assert last.kind == "interrupted"


async def test_run_of_a_killed_process_is_interrupted_at_the_next_start(
    engine: AsyncEngine, request_: AnswerRequest
) -> None:
    killed = ScriptedAnswers(tuple(f"{number} " for number in range(5)))
    killed.hold_before = 3
    before = run_service(engine, RunLog(engine, owner="this"), killed)
    await before.start(request_)
    await killed.held.wait()

    log = RunLog(engine, owner="this")
    assert await RunLog(engine, owner="another machine").interrupt_running() == 0
    assert await log.interrupt_running() == 1
    after = run_service(engine, log, ScriptedAnswers())
    events = await _collect(after, request_.run_id)
    assert [is_terminal(event) for event in events] == [False] * (len(events) - 1) + [True]
    assert isinstance(events[-1], RunFailed)
    assert events[-1].kind == "interrupted"
    assert (await after.get(request_.run_id)).state == "failed"
    assert await _collect(after, request_.run_id, after=1000) == events[-1:]


async def test_history_holds_earlier_questions_and_answers_in_order(
    service: RunService, request_: AnswerRequest
) -> None:
    await service.start(request_)
    await _collect(service, request_.run_id)
    history = await service.history(request_.thread_id)
    assert [(message.role, message.content) for message in history] == [
        ("user", "How many?"),
        ("assistant", "one two three"),
    ]


async def test_run_log_is_readable_by_a_service_that_did_not_write_it(
    service: RunService, engine: AsyncEngine, request_: AnswerRequest
) -> None:
    await service.start(request_)
    events = await _collect(service, request_.run_id)
    other = run_service(engine, RunLog(engine, owner="test"), ScriptedAnswers())
    assert await _collect(other, request_.run_id) == events
    assert await _collect(other, request_.run_id, after=4) == events[4:]


async def test_unknown_ids_are_refused(service: RunService, request_: AnswerRequest) -> None:
    with pytest.raises(RunUnknown):
        await service.follow("nothing")
    with pytest.raises(RunUnknown):
        await service.cancel("nothing")
    with pytest.raises(ThreadUnknown):
        await service.start(AnswerRequest(run_id=uuid4().hex, thread_id="nothing", question="Hello?"))


async def _collect(service: RunService, run_id: str, *, after: int = 0) -> list[RunEvent]:
    async with asyncio.timeout(_WAIT_SECONDS):
        return [event async for event in await service.follow(run_id, after=after)]
