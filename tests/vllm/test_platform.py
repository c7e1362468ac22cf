"""Ingest, ask, act with an approval, structured output and cancel, through the API over a real vLLM."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import openai
import pytest

from agents.chat_model import ChatMessage, Sampling, ToolDefinition, ToolOffer
from agents.openai_chat import OpenAIChatModel
from app.approval_schema import DecisionRequest
from app.schema import RunRequest
from evals.prefix_cache import KeepingModel
from tests.app.conftest import HANDBOOK, Served
from tests.ui.servers import ROOT
from tests.vllm.api import ingest, new_thread, seconds_until, settled, turn
from tests.vllm.conftest import CONTEXT_TOKENS, KEY, VllmServer

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

LIMIT, REQUEST = "What is the memory limit of booking-api?", "And what is its memory request?"
PAGE = ROOT / "samples" / "handbook" / "resources" / "requests-and-limits.md"
QUESTION = "What is the last state of a container that used more memory than its limit?"
REMEMBER = "Remember this fact with your tool: the orders team owns orders-api."
REUSE_BAR = 0.8
PATIENCE_SECONDS = 15.0
"""Of the 40 s and more that a whole reply of ``LONG`` takes; how soon it stops is a figure and no test."""
LONG = {
    "question": "Why is a container killed that used more memory than its limit? Write many sentences.",
    "max_tokens": 400,
}
CLIENT = """
import sys, httpx
with httpx.stream("POST", sys.argv[1] + "/chat/completions", json={
    "model": "chat", "stream": True, "max_tokens": 400, "ignore_eos": True,
    "messages": [{"role": "user", "content": "Count from one to a thousand in words."}],
}, headers={"Authorization": "Bearer " + sys.argv[2]}, timeout=300) as response:
    for line in response.iter_lines():
        print(line, flush=True)
"""
PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "state": {"enum": ["running", "terminated"]},
        "codes": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3},
        "limit": {
            "type": "object",
            # A small model that is left alone with an integer may write zeros until its limit.
            "properties": {"mebibytes": {"type": "integer", "minimum": 1, "maximum": 65536}},
            "required": ["mebibytes"],
        },
    },
    "required": ["name", "state", "codes", "limit"],
    "additionalProperties": False,
}


@pytest.fixture
def document(tmp_path: Path) -> Path:
    path = tmp_path / "handbook.md"
    path.write_text(HANDBOOK, encoding="utf-8")
    return path


async def test_answer_is_proved_and_a_follow_up_reads_little_anew(served: Served, vllm: VllmServer) -> None:
    api = served.api
    await ingest(api, PAGE)
    thread = await new_thread(api)
    first = await turn(api, vllm, thread, RunRequest(question=LIMIT))
    assert first.run.state == "answered", first.events[-1]
    assert first.run.answer
    assert first.run.answer.citations
    second = await turn(api, vllm, thread, RunRequest(question=REQUEST))
    vllm.figures |= {
        "ask_first_ttft_seconds": first.ttft_seconds,
        "ask_first_cached_share": first.cached_share,
        "ask_follow_up_ttft_seconds": second.ttft_seconds,
        "ask_follow_up_cached_share": second.cached_share,
    }
    assert second.run.state in ("answered", "abstained")
    assert second.cached_share >= REUSE_BAR


async def test_agent_acts_once_after_its_approval_and_its_second_round_reads_little_anew(
    served: Served, vllm: VllmServer, model: KeepingModel
) -> None:
    api = served.api
    thread = await new_thread(api)
    asked = await turn(api, vllm, thread, RunRequest(question=REMEMBER, agent="operator"))
    assert asked.run.state == "waiting", asked.events[-1]
    (card,) = (await api.approvals(states=["pending"])).approvals
    assert (card.tool, (await api.facts()).facts) == ("remember", [])
    await api.decide(card.call_id, DecisionRequest(decision="approve", seen_hash=card.arguments_hash))
    run = await settled(api, asked.run.run_id)
    _, second, *_ = (call for call in model.calls if call.offered)
    vllm.figures["agent_second_round_cached_share"] = second.share
    assert run.state in ("answered", "abstained")
    assert len((await api.facts()).facts) == 1
    assert second.share >= REUSE_BAR


async def test_tools_and_schemas_are_held_to_by_the_server(vllm: VllmServer) -> None:
    model = OpenAIChatModel(vllm.base_url, name="chat", context_tokens=CONTEXT_TOKENS, api_key=KEY)
    tool = ToolDefinition("restart_pod", "Restart a pod.", PERSON)
    offer = ToolOffer((tool,), "required")
    question = [ChatMessage("user", "Restart the pod orders-api. It is terminated, code 137, limit 512 mebibytes.")]
    deltas = [it async for it in model.stream(question, Sampling(max_tokens=200, temperature=0.0), tools=offer)]
    await model.aclose()
    calls = [request for delta in deltas for request in delta.tool_requests]
    assert len(calls) == 1, "".join(delta.text for delta in deltas)
    (call,) = calls
    assert call.name == "restart_pod"
    jsonschema.validate(json.loads(call.arguments), PERSON)

    client = openai.AsyncOpenAI(base_url=vllm.base_url, api_key=KEY)
    answer = await client.chat.completions.create(
        model="chat",
        messages=[{"role": "user", "content": "Describe the pod orders-api as JSON."}],
        response_format={"type": "json_schema", "json_schema": {"name": "pod", "schema": PERSON, "strict": True}},
        max_tokens=200,
        temperature=0.0,
    )
    await client.close()
    jsonschema.validate(json.loads(answer.choices[0].message.content or ""), PERSON)


async def test_object_that_the_api_was_asked_for_fits_its_schema(
    served: Served, vllm: VllmServer, document: Path
) -> None:
    schema = {
        "type": "object",
        "properties": {"state": {"type": "string"}, "exit_code": {"type": "integer"}},
        "required": ["state", "exit_code"],
        "additionalProperties": False,
    }
    await ingest(served.api, document)
    request = RunRequest.model_validate({"question": QUESTION, "output_schema": schema})
    asked = await turn(served.api, vllm, await new_thread(served.api), request)
    assert asked.run.state == "answered", asked.events[-1]
    assert asked.run.answer
    jsonschema.validate(asked.run.answer.output, schema)


async def test_stop_ends_the_work_of_the_engine(served: Served, vllm: VllmServer, document: Path) -> None:
    api = served.api
    await ingest(api, document)
    run = await api.start_run(await new_thread(api), RunRequest.model_validate(LONG))
    await seconds_until(lambda: vllm.running >= 1)
    await api.cancel_run(run.run_id)
    vllm.figures["cancel_stop_seconds"] = await _idle(vllm)
    assert (await api.run(run.run_id)).state == "cancelled"


async def test_closed_connection_ends_the_work_of_the_engine(served: Served, vllm: VllmServer, document: Path) -> None:
    await ingest(served.api, document)
    transport = httpx.AsyncHTTPTransport(uds=str(served.socket))
    body = {"model": "groundwork", "stream": True, "messages": [{"role": "user", "content": LONG["question"]}]}
    headers = {"Authorization": f"Bearer {served.platform.local_token}"}
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=300) as client,
        client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as response,
    ):
        assert response.status_code == 200
        await seconds_until(lambda: vllm.running >= 1)
    vllm.figures["cancel_closed_connection_seconds"] = await _idle(vllm)


async def test_killed_client_ends_the_work_of_the_engine(vllm: VllmServer) -> None:
    pipe = asyncio.subprocess.PIPE
    client = await asyncio.create_subprocess_exec(sys.executable, "-c", CLIENT, vllm.base_url, KEY, stdout=pipe)
    assert client.stdout
    await client.stdout.readline()
    assert vllm.running >= 1
    client.kill()
    vllm.figures["cancel_killed_client_seconds"] = await _idle(vllm)
    await client.wait()


async def test_speed_alone_and_together(vllm: VllmServer) -> None:
    client = openai.AsyncOpenAI(base_url=vllm.base_url, api_key=KEY, timeout=600)

    async def write(tokens: int, prompt: str) -> int:
        answer = await client.chat.completions.create(
            model="chat", messages=[{"role": "user", "content": prompt}], max_tokens=tokens, temperature=0.0,
            extra_body={"ignore_eos": True},
        )  # fmt: skip
        assert answer.usage
        return answer.usage.prompt_tokens

    for name, requests in (("one", 1), ("four", 4)):
        began = time.monotonic()
        await asyncio.gather(*(write(48, f"{number}: count from one to a hundred.") for number in range(requests)))
        vllm.figures[f"writing_{name}_tokens_per_second"] = 48 * requests / (time.monotonic() - began)
    began = time.monotonic()
    tokens = await write(1, "A line of a log that nobody has read before. " * 120)
    vllm.figures["reading_tokens_per_second"] = tokens / (time.monotonic() - began)
    vllm.figures["reading_again_seconds"] = -time.monotonic()
    await write(1, "A line of a log that nobody has read before. " * 120)
    vllm.figures["reading_again_seconds"] += time.monotonic()
    await client.close()
    assert vllm.running == 0


async def _idle(vllm: VllmServer) -> float:
    """Seconds until vLLM works on nothing."""
    return await seconds_until(lambda: vllm.running == 0, patience_seconds=PATIENCE_SECONDS)
