"""Runs that take the place of an earlier one, and runs that go on with an answer that was cut off."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from agents.answer import Answer
from app.errors import RequestInvalid, RunUnknown
from app.schema import RunInfo, RunRequest, RunState
from app.settings import Settings
from app.turns import history_of, place_of
from app.wiring import Platform
from tests.app.model_stub import ModelStub, chunk, stream, words
from tests.app.model_world import ANSWER, QUESTION, events_of, opened

CUT_OFF = stream(chunk({"content": f"{ANSWER} The kernel"}), chunk(finish="length"), b"data: [DONE]\n\n")


def run_of(
    run_id: str,
    *,
    question: str = "Why?",
    state: RunState = "answered",
    truncated: bool = False,
    agent: str = "",
    replaces: str = "",
    continues: str = "",
) -> RunInfo:
    given = Answer(status="answered", answer=f"Said in {run_id}.", truncated=truncated, run_id=run_id, thread_id="t")
    return RunInfo(
        run_id=run_id, thread_id="t", question=question, state=state, created_at="", last_seq=3, agent=agent,
        answer=given if state == "answered" else None, replaces=replaces, continues=continues,
    )  # fmt: skip


def said(runs: list[RunInfo], *, without: str = "") -> list[str]:
    return [message.content for message in history_of(runs, without=without) if message.role == "assistant"]


def test_replaced_answer_leaves_the_history_once_another_stands_in_its_place() -> None:
    one, failed = run_of("one"), run_of("two", state="failed", replaces="one")

    assert said([one, failed]) == ["Said in one."]
    assert said([one, failed, run_of("three", replaces="two")]) == ["Said in three."]
    assert said([one], without="one") == []


def test_continued_answer_is_one_answer_and_leaves_as_one() -> None:
    runs = [run_of("zero"), run_of("one", truncated=True), run_of("two", continues="one")]

    assert said(runs) == ["Said in zero.", "Said in one.\n\nSaid in two."]
    assert said(runs, without="one") == ["Said in zero."]
    assert said([*runs, run_of("three", replaces="two", continues="one")])[1] == "Said in one.\n\nSaid in three."


def test_run_that_goes_on_asks_the_first_question_behind_all_that_was_written() -> None:
    runs = [run_of("one", question="Why?", truncated=True), run_of("two", truncated=True, continues="one")]

    place = place_of(RunRequest(question="Go on", continues="two"), runs)

    assert (place.question, place.history, place.so_far) == ("Why?", (), "Said in one.\n\nSaid in two.")


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"replaces": "nobody"}, RunUnknown),
        ({"continues": "nobody"}, RunUnknown),
        ({"replaces": "acted"}, RequestInvalid),
        ({"continues": "acted"}, RequestInvalid),
        ({"continues": "whole"}, RequestInvalid),
        ({"continues": "cut", "agent": "agent"}, RequestInvalid),
        ({"continues": "cut", "output_schema": {"type": "object"}}, RequestInvalid),
    ],
)
def test_run_that_cannot_be_replaced_or_gone_on_with_is_refused(values: dict[str, Any], error: type[Exception]) -> None:
    runs = [run_of("acted", agent="agent", truncated=True), run_of("whole"), run_of("cut", truncated=True)]

    with pytest.raises(error):
        place_of(RunRequest.model_validate({"question": "Why?", **values}), runs)


async def test_answer_that_was_cut_off_goes_on_where_it_stopped(settings: Settings) -> None:
    model = ModelStub([CUT_OFF, words(f"{ANSWER} That is all.")])
    async with opened(settings, model) as (platform, http):
        first = await _asked(platform, http, {"question": QUESTION})
        assert first["answer"]["truncated"]
        assert first["answer"]["answer"].startswith(ANSWER.removesuffix("."))
        second = await _asked(platform, http, {"question": "x", "continues": first["run_id"]}, first["thread_id"])

    assert (second["continues"], second["question"]) == (first["run_id"], QUESTION)
    assert not second["answer"]["truncated"]
    (system, asked) = model.bodies[1]["messages"]
    assert system["role"] == "system"
    assert f"<answer_so_far>\n{ANSWER}" in asked["content"]
    assert "[1]" not in asked["content"]


async def test_openai_client_is_told_that_an_answer_was_cut_off(settings: Settings) -> None:
    body = {"model": "groundwork", "messages": [{"role": "user", "content": QUESTION}]}
    async with opened(settings, ModelStub([CUT_OFF, words(ANSWER)])) as (_, http):
        replies = [(await http.post("/v1/chat/completions", json=body)).json() for _ in range(2)]

    assert [reply["choices"][0]["finish_reason"] for reply in replies] == ["length", "stop"]


async def test_replacing_run_is_asked_without_the_turn_that_it_replaces(settings: Settings) -> None:
    model = ModelStub([words(ANSWER)])
    async with opened(settings, model) as (platform, http):
        first = await _asked(platform, http, {"question": QUESTION})
        replacing = {"question": QUESTION, "replaces": first["run_id"]}
        second = await _asked(platform, http, replacing, first["thread_id"])
        listed = (await http.get(f"/api/threads/{first['thread_id']}")).json()["runs"]
        missing = {"question": QUESTION, "replaces": "nobody"}
        refused = await http.post(f"/api/threads/{first['thread_id']}/runs", json=missing)

    assert [run["replaces"] for run in listed] == ["", first["run_id"]]
    assert second["state"] == "answered"
    assert len(model.bodies[1]["messages"]) == 2
    assert (refused.status_code, refused.json()["code"]) == (404, "run_unknown")


async def _asked(
    platform: Platform, http: httpx.AsyncClient, body: dict[str, str], thread_id: str = ""
) -> dict[str, Any]:
    """The run when it has ended."""
    thread_id = thread_id or (await http.post("/api/threads", json={})).json()["thread_id"]
    run_id = (await http.post(f"/api/threads/{thread_id}/runs", json=body)).raise_for_status().json()["run_id"]
    await events_of(platform, run_id)
    return (await http.get(f"/api/runs/{run_id}")).json()
