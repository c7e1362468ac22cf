"""Attached texts from a server that others wrote: its static and dynamic resources, its prompts and suggestions."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from app.settings import Settings
from tests.app.test_attachments_api import ask, attach, problem_of
from tests.fakes import GatedChatModel
from tests.tools.mcp.test_real_servers import npm

pytestmark = [pytest.mark.integration, pytest.mark.timeout(300)]

ADDRESS = "/api/tools/servers/everything"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    home = tmp_path / "home"
    home.mkdir()
    servers = {"everything": npm("everything", "stdio")}
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    return Settings(home_path=home)


@pytest.fixture
def chat_model() -> GatedChatModel:
    return GatedChatModel("NOT_FOUND")


async def test_everything_attaches_completes_and_fills_in(http: httpx.AsyncClient, chat_model: GatedChatModel) -> None:
    thread = f"/api/threads/{(await http.post('/api/threads', json={})).json()['thread_id']}"
    listed = (await http.get(f"{ADDRESS}/resources")).json()["resources"]
    static = next(item for item in listed if item["uri"].endswith("features.md"))
    assert any(item["template"] for item in listed)

    document = await attach(http, thread, kind="resource", server="everything", uri=static["uri"])
    assert (document["name"], document["media_type"]) == ("features.md", "text/markdown")
    # Bytes that the server calls text are read as the text they are.
    await attach(http, thread, kind="resource", server="everything", uri="demo://resource/dynamic/blob/1")
    await ask(http, thread, "Which features does the attached text list?")
    assert 'from="Attached: features.md' in chat_model.prompts[-1][-1].content

    unknown = {"kind": "resource", "server": "everything", "uri": "demo://resource/dynamic/text/none"}
    assert (await problem_of(await http.post(f"{thread}/attachments", json=unknown)))[0] == 503

    asked = {"prompt": "completable-prompt", "argument": "name", "value": "A", "others": {"department": "Engineering"}}
    assert (await http.post(f"{ADDRESS}/completions", json=asked)).json() == {"values": ["Alice"]}

    blanks = {"arguments": {"resourceType": "Text", "resourceId": "1"}}
    filled = (await http.post(f"{ADDRESS}/prompts/resource-prompt", json=blanks)).json()
    resource = filled["messages"][1]["resource"]
    fields = {key: resource[key] for key in ("uri", "media_type", "text")}
    assert (await attach(http, thread, kind="embedded", server="everything", **fields))["server"] == "everything"
