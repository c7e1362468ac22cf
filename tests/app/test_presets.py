"""Presets over the API: saved as versions, taken by questions and threads, refused with a reason."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest

from agents.answer import Answer
from agents.events import AnswerDone
from agents.prompting import load_prompt
from app.database import open_database
from app.preset_schema import Preset, SavedPreset
from app.preset_store import PresetStore
from app.presets import guidance_of, with_preset
from app.receipts.render import receipt_markdown
from app.receipts.schema import Receipt
from app.schema import RunRequest
from app.settings import Settings
from app.wiring import Platform
from ingestion.sources import discover
from tests.app.conftest import HANDBOOK
from tests.app.model_stub import ModelStub, words
from tests.app.model_world import ANSWER, QUESTION, opened

PRESET: dict[str, Any] = {
    "description": "For people on call.",
    "system_prompt": "Name the exit code first.",
    "sampling": {"temperature": 0.5, "top_k": 7},
    "collections": ["default"],
    "examples": [{"question": "What is 1?", "answer": "A general error."}],
}


@pytest.fixture
def stub() -> ModelStub:
    """The only chat model."""
    return ModelStub([words(ANSWER)])


@pytest.fixture
async def world(settings: Settings, stub: ModelStub) -> AsyncGenerator[tuple[Platform, httpx.AsyncClient]]:
    """A platform with one document and a model behind real HTTP."""
    async with opened(settings, stub) as opened_world:
        yield opened_world


async def _thread(http: httpx.AsyncClient) -> str:
    return (await http.post("/api/threads", json={})).json()["thread_id"]


async def _answered(
    platform: Platform, http: httpx.AsyncClient, thread: str, **values: Any
) -> tuple[dict[str, Any], Answer]:
    body = {"question": QUESTION, **values}
    run = (await http.post(f"/api/threads/{thread}/runs", json=body)).raise_for_status().json()
    events = [event async for event in await platform.runs.follow(run["run_id"])]
    (done,) = [event for event in events if isinstance(event, AnswerDone)]
    return (await http.get(f"/api/runs/{run['run_id']}")).json(), done.answer


async def test_each_change_is_a_version_and_old_ones_can_be_taken_again(http: httpx.AsyncClient) -> None:
    first = (await http.put("/api/presets/on-call", json=PRESET)).json()
    same = (await http.put("/api/presets/on-call", json=PRESET)).json()
    changed = (await http.put("/api/presets/on-call", json=PRESET | {"system_prompt": "Be brief."})).json()
    assert (first["version"], same["version"], changed["version"]) == (1, 1, 2)
    assert first["saved_by"] == "local"

    history = (await http.get("/api/presets/on-call/versions")).json()["versions"]
    assert [(entry["version"], entry["current"]) for entry in history] == [(2, True), (1, False)]
    old = (await http.get("/api/presets/on-call", params={"version": 1})).json()
    assert old["preset"]["system_prompt"] == "Name the exit code first."

    back = (await http.put("/api/presets/on-call/current", json={"version": 1})).json()
    assert (back["version"], back["current"]) == (1, True)
    (listed,) = (await http.get("/api/presets")).json()["presets"]
    assert listed == back
    assert (await http.put("/api/presets/on-call", json=PRESET | {"description": "x"})).json()["version"] == 3


async def test_deleted_preset_is_gone_and_its_numbers_are_not_given_again(http: httpx.AsyncClient) -> None:
    await http.put("/api/presets/on-call", json=PRESET)
    thread = await _thread(http)
    await http.patch(f"/api/threads/{thread}", json={"preset": "on-call"})
    assert (await http.delete("/api/presets/on-call")).status_code == 204
    for gone in (
        await http.get("/api/presets/on-call"),
        await http.get("/api/presets/on-call/versions"),
        await http.delete("/api/presets/on-call"),
        await http.put("/api/presets/on-call/current", json={"version": 1}),
    ):
        assert (gone.status_code, gone.json()["code"]) == (404, "preset_unknown")
    assert (await http.get("/api/presets")).json()["presets"] == []
    assert (await http.get(f"/api/threads/{thread}")).json()["thread"]["preset"] == ""
    assert (await http.put("/api/presets/on-call", json=PRESET)).json()["version"] == 2


async def test_saves_at_once_get_numbers_of_their_own(database_settings: Settings) -> None:
    async with open_database(database_settings) as engine:
        store = PresetStore(engine)
        saves = [store.save("one", Preset(system_prompt=f"Say {n}."), user="ann") for n in range(6)]
        saved = await asyncio.gather(*saves)
        assert sorted(entry.version for entry in saved) == [1, 2, 3, 4, 5, 6]
        history = await store.history("one")
        assert [entry.version for entry in history if entry.current] == [6]
        await store.delete("one")
        assert (await store.save("one", Preset(), user="ben")).version == 7


@pytest.mark.parametrize(
    ("name", "changes", "status", "code", "said"),
    [
        ("On Call", {}, 422, "preset_invalid", "small letters"),
        ("x" * 65, {}, 422, "preset_invalid", "at most 64"),
        ("-x", {}, 422, "preset_invalid", "begin with a letter"),
        ("x", {"model": "huge"}, 404, "model_unknown", "there are: gated"),
        ("x", {"agent": "nobody"}, 404, "agent_unknown", "there are: operator"),
        ("x", {"output_schema": {"type": "array"}}, 422, "schema_invalid", '"type": "object"'),
        ("x", {"output_schema": {"type": "object"}, "agent": "operator"}, 422, "preset_invalid", "leave it or the"),
        ("x", {"sampling": {"temperature": 3}}, 422, "request_invalid", "sampling.temperature"),
        ("x", {"sampling": {"heat": 1}}, 422, "request_invalid", "sampling.heat"),
        ("x", {"examples": [{"question": "Why?", "answer": " "}]}, 422, "request_invalid", "examples.0.answer"),
        ("x", {"colour": "red"}, 422, "request_invalid", "colour"),
    ],
)
async def test_preset_that_does_not_fit_is_refused_with_a_reason(
    http: httpx.AsyncClient, name: str, changes: dict[str, Any], status: int, code: str, said: str
) -> None:
    refused = await http.put(f"/api/presets/{name}", json=PRESET | changes)
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert said in refused.json()["detail"]
    assert (await http.get("/api/presets")).json()["presets"] == []


async def test_question_is_asked_as_the_preset_says_and_the_run_names_it(
    world: tuple[Platform, httpx.AsyncClient], stub: ModelStub
) -> None:
    platform, http = world
    await http.put("/api/presets/on-call", json=PRESET)
    run, answer = await _answered(platform, http, await _thread(http), preset="on-call", temperature=0.1)

    assert (run["preset"], run["preset_version"]) == ("on-call", 1)
    (body,) = stub.bodies
    assert (body["temperature"], body["top_k"]) == (0.1, 7)
    system, example, reply, asked = body["messages"]
    assert system["content"].startswith(load_prompt("system"))
    assert system["content"].endswith("Name the exit code first.")
    assert (example["content"], reply["content"]) == ("What is 1?", "A general error.")
    assert QUESTION in asked["content"]
    assert answer.status == "answered"

    receipt = (await http.get(f"/api/runs/{run['run_id']}/receipt")).json()
    assert "preset on-call version 1." in receipt_markdown(Receipt.model_validate(receipt))
    kept = receipt["making"]["settings"]["preset"]
    assert (kept["preset"], kept["version"], kept["system_prompt"]) == ("on-call", 1, "Name the exit code first.")


async def test_thread_keeps_a_preset_that_a_question_may_leave_out(
    world: tuple[Platform, httpx.AsyncClient], stub: ModelStub
) -> None:
    platform, http = world
    await http.put("/api/presets/on-call", json=PRESET)
    await http.put("/api/presets/on-call", json=PRESET | {"system_prompt": "Be brief."})
    thread = await _thread(http)
    changed = (await http.patch(f"/api/threads/{thread}", json={"preset": "on-call"})).json()
    assert changed["preset"] == "on-call"

    taken, _ = await _answered(platform, http, thread)
    earlier, _ = await _answered(platform, http, thread, preset="on-call", preset_version=1)
    without, _ = await _answered(platform, http, thread, preset="")
    assert [run["preset_version"] for run in (taken, earlier, without)] == [2, 1, 0]
    prompts = [body["messages"][0]["content"] for body in stub.bodies]
    assert prompts[0].endswith("Be brief.")
    assert prompts[1].endswith("Name the exit code first.")
    assert prompts[2] == load_prompt("system")

    assert (await http.patch(f"/api/threads/{thread}", json={"preset": ""})).json()["preset"] == ""
    assert (await http.patch(f"/api/threads/{thread}", json={})).status_code == 200


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"preset": "none"}, 404, "preset_unknown"),
        ({"preset": "on-call", "preset_version": 9}, 404, "preset_unknown"),
        ({"preset_version": 1}, 422, "preset_invalid"),
    ],
)
async def test_preset_that_is_not_there_is_refused_before_anything_runs(
    http: httpx.AsyncClient, asked: dict[str, Any], status: int, code: str
) -> None:
    await http.put("/api/presets/on-call", json=PRESET)
    thread = await _thread(http)
    refused = await http.post(f"/api/threads/{thread}/runs", json={"question": QUESTION, **asked})
    assert (refused.status_code, refused.json()["code"]) == (status, code)
    assert (await http.get(f"/api/threads/{thread}")).json()["runs"] == []


async def test_thread_refuses_a_preset_that_is_not_there(http: httpx.AsyncClient) -> None:
    thread = await _thread(http)
    refused = await http.patch(f"/api/threads/{thread}", json={"preset": "none"})
    assert (refused.status_code, refused.json()["code"]) == (404, "preset_unknown")
    unknown = await http.patch("/api/threads/none", json={"preset": ""})
    assert (unknown.status_code, unknown.json()["code"]) == (404, "thread_unknown")


async def test_collection_of_a_preset_that_does_not_exist_is_named(platform: Platform, tmp_path: Path) -> None:
    from app.asking import ask
    from ingestion.errors import CollectionUnknown

    document = tmp_path / "handbook.md"
    document.write_text(HANDBOOK, encoding="utf-8")
    await platform.ingester.ingest(discover([str(document)]), collection="default")
    await platform.presets.save("far", Preset(collections=("attic",)), user="ann")
    thread = await platform.threads.create()
    with pytest.raises(CollectionUnknown, match="attic"):
        await ask(platform, thread.thread_id, RunRequest(question=QUESTION, preset="far"))


async def test_openai_client_names_a_preset(world: tuple[Platform, httpx.AsyncClient], stub: ModelStub) -> None:
    _, http = world
    await http.put("/api/presets/on-call", json=PRESET)
    body = {"model": "groundwork", "preset": "on-call", "messages": [{"role": "user", "content": QUESTION}]}
    reply = (await http.post("/v1/chat/completions", json=body)).json()
    assert reply["choices"][0]["message"]["status"] == "answered"
    assert stub.bodies[0]["messages"][0]["content"].endswith("Name the exit code first.")
    refused = await http.post("/v1/chat/completions", json=body | {"preset": "none"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (404, "preset_unknown")


def _saved(**values: Any) -> SavedPreset:
    preset = Preset.model_validate(values)
    return SavedPreset(name="p", version=2, current=True, saved_at="", saved_by="", preset=preset)


def test_what_a_request_says_stands_over_the_preset() -> None:
    saved = _saved(model="big", collections=("a",), agent="operator", sampling={"seed": 1, "top_p": 0.5})
    taken = with_preset(RunRequest(question="Why?"), saved)
    assert (taken.model, taken.collections, taken.agent, taken.seed, taken.top_p) == ("big", ("a",), "operator", 1, 0.5)
    own = RunRequest(question="Why?", model="small", collections=("b",), agent="scribe", seed=2)
    merged = with_preset(own, saved)
    assert (merged.model, merged.collections, merged.agent, merged.seed) == ("small", ("b",), "scribe", 2)
    assert merged.top_p == 0.5
    assert with_preset(own, None) is own


def test_examples_become_turns_in_order() -> None:
    saved = _saved(examples=[{"question": "a", "answer": "b"}, {"question": "c", "answer": "d"}])
    turns = [(turn.role, turn.content) for turn in guidance_of(saved).examples]
    assert turns == [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")]


async def test_agent_of_a_request_and_schema_of_a_preset_do_not_go_together(http: httpx.AsyncClient) -> None:
    await http.put("/api/presets/object", json={"output_schema": {"type": "object"}})
    body = {"question": QUESTION, "preset": "object", "agent": "operator"}
    refused = await http.post(f"/api/threads/{await _thread(http)}/runs", json=body)
    assert (refused.status_code, refused.json()["code"]) == (422, "schema_invalid")
    assert "'object'" in refused.json()["detail"]
