"""``ask --agent`` against a real server: what is told, and what is left for later."""

from __future__ import annotations

import asyncio
import socket
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from agents.testing import ScriptedCalls, ScriptedChatModel
from app.approval_schema import DecisionRequest
from app.cli import exits
from app.cli.ask import run_question
from app.client import ApiClient
from app.schema import RunInfo, RunRequest
from app.serve import answering
from app.settings import Settings
from app.wiring import open_platform
from retrieval.embedders.hashing import HashingEmbedder

REMEMBER = ScriptedCalls((("remember", '{"text": "The orders team owns orders-api."}'),))
CALCULATE = ScriptedCalls((("calculator", '{"expression": "512 * 2"}'),))


@pytest.fixture
async def api(settings: Settings) -> AsyncGenerator[ApiClient]:
    agents = settings.agents.model_copy(update={"tool_mode": "native"})
    settings = settings.model_copy(update={"agents": agents})
    model = ScriptedChatModel([CALCULATE, REMEMBER, "512 * 2 is 1024."])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "api.sock"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        async with (
            open_platform(settings, embedder=HashingEmbedder(), chat_model=model) as platform,
            answering(settings, platform, listener),
            ApiClient("http://localhost", token=platform.local_token, uds=path) as client,
        ):
            yield client


def ignore(_: str) -> None:
    return


async def test_a_run_that_waits_is_left_where_nobody_can_be_asked(
    api: ApiClient, capsys: pytest.CaptureFixture[str]
) -> None:
    ending = await run_question(api, None, RunRequest(question="Twice 512?", agent="operator"), ignore)
    assert ending.code == exits.PARTIAL
    assert isinstance(ending.answer, RunInfo)
    told = capsys.readouterr().err
    assert "operator: calculator(expression='512 * 2') runs" in told
    assert "calculator done: 512 * 2 = 1024" in told
    assert "remember(text=" in told
    assert "waits for approval" in told


async def test_a_run_goes_on_when_its_call_is_decided_elsewhere(
    api: ApiClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def somebody_else(client: ApiClient, call_ids: tuple[str, ...]) -> bool:
        (call_id,) = call_ids
        seen = (await client.approval(call_id)).approval.arguments_hash
        await client.decide(call_id, DecisionRequest(decision="approve", seen_hash=seen))
        return True

    monkeypatch.setattr("app.cli.ask.decide_here", somebody_else)
    async with asyncio.timeout(60):
        ending = await run_question(api, None, RunRequest(question="Twice 512?", agent="operator"), ignore)
    assert ending.code == exits.DONE
    assert [fact.text for fact in (await api.facts()).facts] == ["The orders team owns orders-api."]
