"""A thread's next turn is sent behind the bytes of the turn before, as long as they are still true and still count."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from app.settings import Settings
from app.wiring import Platform
from tests.app.model_stub import ModelStub, refusal, words
from tests.app.model_world import ANSWER, QUESTION, events_of, opened

FOLLOW_UP = "And what is its exit code?"
Message = dict[str, str]


async def _ask(
    platform: Platform, http: httpx.AsyncClient, thread_id: str, question: str, **values: object
) -> dict[str, Any]:
    body = {"question": question, **values}
    run = (await http.post(f"/api/threads/{thread_id}/runs", json=body)).raise_for_status().json()
    await events_of(platform, run["run_id"])
    return (await http.get(f"/api/runs/{run['run_id']}")).json()


async def _thread(http: httpx.AsyncClient) -> str:
    return (await http.post("/api/threads", json={})).json()["thread_id"]


def _prompts(model: ModelStub) -> list[list[Message]]:
    return [body["messages"] for body in model.bodies]


async def test_second_turn_begins_with_the_first_and_its_reply(settings: Settings) -> None:
    model = ModelStub([words(ANSWER), refusal(400), words(ANSWER), words(ANSWER)])
    async with opened(settings, model) as (platform, http):
        thread = await _thread(http)
        await _ask(platform, http, thread, QUESTION)
        await _ask(platform, http, thread, FOLLOW_UP)  # fails, and is no turn
        await _ask(platform, http, thread, FOLLOW_UP)
        third = await _ask(platform, http, thread, "And who kills it?")
    one, failed, two, three = _prompts(model)
    assert two[: len(one)] == one
    assert two[len(one)]["role"] == "assistant"
    assert two[len(one)]["content"].split() == ANSWER.split()
    assert failed == two
    assert three[: len(two)] == two
    assert "<passage" not in two[-1]["content"]
    assert third["answer"]["context"]["used"]["history"] > 0


async def test_turn_without_a_prompt_stands_between_in_words(settings: Settings) -> None:
    model = ModelStub([words(ANSWER)])
    async with opened(settings, model) as (platform, http):
        thread = await _thread(http)
        await _ask(platform, http, thread, QUESTION)
        off_topic = await _ask(platform, http, thread, "Who won the football world cup in 1998?")
        await _ask(platform, http, thread, QUESTION)
    assert off_topic["state"] == "abstained"
    one, *_, two = _prompts(model)
    assert two[: len(one)] == one
    assert [message["role"] for message in two[len(one) :]] == ["assistant", "user", "assistant", "user"]
    assert "football" in two[len(one) + 1]["content"]


async def test_answer_asked_anew_has_the_prompt_of_the_one_it_replaces(settings: Settings) -> None:
    model = ModelStub([words(ANSWER)])
    async with opened(settings, model) as (platform, http):
        thread = await _thread(http)
        await _ask(platform, http, thread, QUESTION)
        second = await _ask(platform, http, thread, FOLLOW_UP)
        await _ask(platform, http, thread, FOLLOW_UP, replaces=second["run_id"])
    _, two, again = _prompts(model)
    assert again == two


@pytest.mark.parametrize("scope", [{"filter": {"source": "elsewhere.md"}}, {"deleted": True}])
async def test_passages_that_the_person_may_not_see_now_are_not_sent_again(
    settings: Settings, scope: dict[str, Any]
) -> None:
    model = ModelStub([words(ANSWER)])
    async with opened(settings, model) as (platform, http):
        thread = await _thread(http)
        await _ask(platform, http, thread, QUESTION)
        if scope.pop("deleted", False):
            (document,) = (await http.get("/api/documents")).json()["documents"]
            (await http.delete(f"/api/documents/{document['document_id']}")).raise_for_status()
        follow_up = await _ask(platform, http, thread, FOLLOW_UP, **scope)
    assert follow_up["state"] == "abstained"
    _, *others = _prompts(model)
    assert not any("<passage" in message["content"] for prompt in others for message in prompt)
