"""Chat models behind real HTTP: chosen by name, standing in for each other, and misbehaving in every way we know."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import pytest

from agents.events import is_terminal
from agents.gateway import route
from agents.gateway.capabilities import Capabilities
from agents.settings import EndpointSettings
from app.errors import SettingsInvalid
from app.settings import Settings
from app.wiring import open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.model_stub import DONE, ModelStub, Reply, chunk, refusal, stream, words
from tests.app.model_world import ANSWER, QUESTION, ask, events_of, opened


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "FIRST_PAUSE_SECONDS", 0.01)


async def test_run_is_answered_by_the_model_it_names(settings: Settings) -> None:
    main, other = ModelStub([words("main says nothing")]), ModelStub([words(ANSWER)])
    async with opened(settings, main, other) as (platform, http):
        run_id = await ask(http, model="other", temperature=0.5, top_k=7, repetition_penalty=1.1, stop=["END"])
        events = await events_of(platform, run_id)

    assert events[0].type == "run_started"
    assert events[0].model == "other"
    answer = next(event.answer for event in events if event.type == "answer_done")
    assert (answer.model, answer.usage.cached_tokens) == ("other", 30)
    (body,) = other.bodies
    assert not main.bodies
    assert (body["model"], body["temperature"], body["top_k"], body["stop"]) == ("stub", 0.5, 7, ["END"])
    assert body["repetition_penalty"] == body["repeat_penalty"] == 1.1
    assert "return_progress" not in body


async def test_llama_cpp_by_address_is_asked_how_far_it_has_read(settings: Settings) -> None:
    main, other = ModelStub([words("main says nothing")]), ModelStub([words(ANSWER)])
    async with opened(settings, main, other) as (platform, http):
        platform.gateway.endpoint("other").found = Capabilities(kind="llama.cpp")
        await events_of(platform, await ask(http, model="other"))
    (body,) = other.bodies
    assert body["return_progress"] is True


async def test_unknown_model_is_refused_before_anything_runs(settings: Settings) -> None:
    async with opened(settings, ModelStub([words(ANSWER)])) as (_, http):
        thread = (await http.post("/api/threads", json={})).json()["thread_id"]
        refused = await http.post(f"/api/threads/{thread}/runs", json={"question": QUESTION, "model": "huge"})

    assert (refused.status_code, refused.json()["code"]) == (404, "model_unknown")
    assert "there are: main" in refused.json()["detail"]


async def test_models_are_listed_with_what_they_can_and_without_addresses(settings: Settings) -> None:
    main, other = ModelStub([words(ANSWER)], name="main"), ModelStub([words(ANSWER)])
    async with opened(settings, main, other, fallback=True) as (_, http):
        listed = (await http.get("/api/models", params={"detect": "true"})).json()
        wire = (await http.get("/v1/models")).json()

    first, second = listed["models"]
    assert (first["name"], first["default"], first["server"], first["fallback"]) == ("main", True, "vllm", ["other"])
    assert (second["tools"], second["structured"], second["server_models"]) == ("native", True, ["stub"])
    assert "127.0.0.1" not in json.dumps(listed)
    assert [card["id"] for card in wire["data"]] == ["groundwork", "main", "other"]


async def test_opening_a_home_asks_no_model_server_anything(settings: Settings) -> None:
    main, other = ModelStub([words(ANSWER)]), ModelStub([words(ANSWER)])
    async with opened(settings, main, other) as (_, http):
        listed = (await http.get("/api/models")).json()["models"]

    assert (main.listings, other.listings) == (0, 0)
    assert [model["structured"] for model in listed] == [None, None]


async def test_openai_client_chooses_the_model(settings: Settings) -> None:
    other = ModelStub([words(ANSWER)])
    async with opened(settings, ModelStub([words("nothing")]), other) as (_, http):
        messages = [{"role": "user", "content": QUESTION}]
        body = {"model": "other", "messages": messages, "stop": "END", "top_p": 0.9, "max_completion_tokens": 77}
        reply = (await http.post("/v1/chat/completions", json=body)).json()

    assert "OOMKilled" in reply["choices"][0]["message"]["content"]
    assert (other.bodies[0]["stop"], other.bodies[0]["top_p"], other.bodies[0]["max_tokens"]) == (["END"], 0.9, 77)


@pytest.mark.parametrize("failure", [refusal(503), refusal(500), stream(b"data: <html>\n\n"), stream()])
async def test_other_model_stands_in_for_one_that_fails(settings: Settings, failure: Reply) -> None:
    main, other = ModelStub([failure]), ModelStub([words(ANSWER)])
    async with opened(settings, main, other, fallback=True) as (platform, http):
        events = await events_of(platform, await ask(http))

    assert events[-1].type == "run_finished"
    assert next(event.answer.model for event in events if event.type == "answer_done") == "other"


HALF = chunk({"content": "Its last "})
MISBEHAVIOURS: dict[str, tuple[Reply, str]] = {
    "half an event": (stream(HALF, HALF[:30]), "model_unavailable"),
    "no JSON": (stream(HALF, b"data: {half\n\n"), "model_unavailable"),
    "closes in the middle": (stream(HALF), "model_unavailable"),
    "stays busy": (refusal(503), "model_unavailable"),
    "too many requests": (refusal(429), "model_unavailable"),
    "refuses": (refusal(400, "prompt too long"), "model_error"),
    "wrong key": (refusal(401), "model_error"),
    "falls silent": (stream(HALF, HALF, pause=30.0), "model_timeout"),
}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
async def test_misbehaving_server_ends_in_one_clear_event(settings: Settings, name: str) -> None:
    reply, kind = MISBEHAVIOURS[name]
    async with opened(settings, ModelStub([reply])) as (platform, http):
        events = await events_of(platform, await ask(http))
        usable = (await http.get("/healthz")).is_success

    last = events[-1]
    assert sum(map(is_terminal, events)) == 1
    assert last.type == "run_failed"
    assert last.kind == kind
    assert last.message.endswith(".")
    assert "Traceback" not in last.message
    assert usable


ANSWERED: dict[str, Reply] = {
    "slow drip": stream(*(chunk({"content": letter}) for letter in ANSWER), *DONE, pause=0.02),
    "a call as text": words(f'{ANSWER} {{"name": "cluster__delete_pod", "arguments": {{}}}}'),
    "calls that nobody offered": stream(
        chunk({"tool_calls": [{"index": 7, "id": None, "function": {"name": "rm", "arguments": "{"}}]}),
        chunk({"content": ANSWER}),
        *DONE,
    ),
    "thoughts": stream(chunk({"reasoning_content": "Let me think."}), chunk({"content": ANSWER}), *DONE),
    "letters cut in their middle": stream(
        *(HALF.replace(b"Its last ", "Größe ".encode())[i : i + 1] for i in range(len(HALF) + 10)),
        chunk({"content": ANSWER}),
        *DONE,
    ),
}


@pytest.mark.parametrize("name", ANSWERED)
async def test_odd_server_is_understood_and_nothing_is_executed(settings: Settings, name: str) -> None:
    async with opened(settings, ModelStub([ANSWERED[name]])) as (platform, http):
        events = await events_of(platform, await ask(http))

    assert sum(map(is_terminal, events)) == 1
    assert events[-1].type == "run_finished"
    answer = next(event.answer for event in events if event.type == "answer_done")
    assert "OOMKilled" in answer.answer
    assert "think" not in answer.answer
    assert not [event for event in events if event.type == "tool_called"]


@pytest.mark.parametrize("how", ["cancel", "delete"])
async def test_stopping_reaches_the_server(settings: Settings, how: str) -> None:
    main = ModelStub([stream(*(chunk({"content": "word "}) for _ in range(2000)), *DONE, pause=0.01)])
    async with opened(settings, main) as (_, http):
        run_id = await ask(http)
        run = (await http.get(f"/api/runs/{run_id}")).json()
        await _until(lambda: main.running == 1)
        if how == "cancel":
            await http.post(f"/api/runs/{run_id}/cancel")
        else:
            await http.delete(f"/api/threads/{run['thread_id']}")
        await _until(lambda: main.running == 0)


async def test_two_models_of_one_name_are_refused(settings: Settings) -> None:
    endpoints = {settings.model.name: EndpointSettings(base_url="http://127.0.0.1:1/v1", model="x")}

    with pytest.raises(SettingsInvalid, match="Two models are called"):
        async with open_platform(settings.model_copy(update={"endpoints": endpoints}), embedder=HashingEmbedder()):
            pass


async def _until(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.01)
    pytest.fail("it never came true")
