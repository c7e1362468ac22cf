"""Attached texts over HTTP: from a real MCP server, from files, from documents; asked, cited, removed, kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.main import create_app
from app.settings import AttachmentSettings, Settings
from app.wiring import Platform, open_platform
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.texts_server import PLAN, REPORT, SENTENCE
from tests.fakes import GatedChatModel

TEXTS_SERVER = Path(__file__).parent / "texts_server.py"
QUESTION = "How many nodes had the node pool burst-4?"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A home with a server of texts, and one that cannot start."""
    home = tmp_path / "home"
    home.mkdir()
    servers = {
        "texts": {"command": sys.executable, "args": [str(TEXTS_SERVER)]},
        "gone": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
    }
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    limits = AttachmentSettings(max_bytes=20_000, max_characters=5_000, max_per_thread=2)
    return Settings(home_path=home, attachments=limits)


@pytest.fixture
def chat_model() -> GatedChatModel:
    return GatedChatModel(SENTENCE)


@pytest.fixture
async def thread(http: httpx.AsyncClient) -> str:
    """Address of a new thread."""
    return f"/api/threads/{(await http.post('/api/threads', json={})).json()['thread_id']}"


async def attach(http: httpx.AsyncClient, thread: str, **what: object) -> dict[str, Any]:
    answer = await http.post(f"{thread}/attachments", json=what)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def attach_file(http: httpx.AsyncClient, thread: str, name: str, data: bytes) -> httpx.Response:
    return await http.post(f"{thread}/attachments/file", files={"file": (name, data)})


async def listed(http: httpx.AsyncClient, thread: str) -> list[str]:
    return [entry["name"] for entry in (await http.get(f"{thread}/attachments")).json()["attachments"]]


async def ask(http: httpx.AsyncClient, thread: str, question: str = QUESTION, **more: object) -> dict[str, Any]:
    """The run when it has ended."""
    run = (await http.post(f"{thread}/runs", json={"question": question, **more})).json()
    await http.get(f"/api/runs/{run['run_id']}/events")
    return (await http.get(f"/api/runs/{run['run_id']}")).json()


async def problem_of(answer: httpx.Response) -> tuple[int, str, str]:
    body = answer.json()
    return answer.status_code, body["code"], body["detail"]


async def test_resource_of_a_server_is_answered_from_and_cited(http: httpx.AsyncClient, thread: str) -> None:
    entry = await attach(http, thread, kind="resource", server="texts", uri="texts://report", name="Incident report")
    assert (entry["kind"], entry["server"], entry["uri"]) == ("resource", "texts", "texts://report")
    assert (entry["name"], entry["media_type"]) == ("Incident report", "text/markdown")

    answer = (await ask(http, thread))["answer"]

    assert answer["status"] == "answered"
    (citation,) = answer["citations"]
    assert citation["attachment_id"] == entry["attachment_id"]
    assert citation["source"] == "mcp:texts:texts://report"
    stored = (await http.get(f"{thread}/attachments/{entry['attachment_id']}")).json()
    assert stored["text"].strip() == REPORT.strip()
    assert stored["text"][citation["char_start"] : citation["char_end"]] == citation["quote"] == SENTENCE


async def test_removed_text_is_seen_no_more_and_its_citation_still_opens(http: httpx.AsyncClient, thread: str) -> None:
    entry = await attach(http, thread, kind="resource", server="texts", uri="texts://report")
    await ask(http, thread)
    address = f"{thread}/attachments/{entry['attachment_id']}"

    assert (await http.delete(address)).status_code == 204

    assert await listed(http, thread) == []
    assert (await http.get(address)).json()["attachment"]["removed_at"]
    assert (await problem_of(await http.delete(address)))[:2] == (404, "attachment_unknown")
    assert (await ask(http, thread))["state"] == "abstained"


async def test_file_goes_through_the_loaders_and_its_pieces_keep_their_headings(
    http: httpx.AsyncClient, thread: str, platform: Platform
) -> None:
    answer = await attach_file(http, thread, "report.md", REPORT.encode())
    assert answer.status_code == 201, answer.text
    (text,) = await platform.attachments.store.texts([answer.json()["attachment_id"]])
    assert {piece.heading_path for piece in text.pieces} == {
        ("Incident 42", "What happened"),
        ("Incident 42", "What was done"),
    }
    assert (await ask(http, thread))["answer"]["citations"][0]["source"] == "file:report.md"


async def test_document_is_attached_as_it_is_now(http: httpx.AsyncClient, thread: str, platform: Platform) -> None:
    await http.post("/api/documents", files={"files": ("plan.md", f"# Plan\n\n{SENTENCE}\n".encode())})
    documents: list[dict[str, Any]] = []
    while not documents or documents[0]["status"] != "ready":
        documents = (await http.get("/api/documents")).json()["documents"]
    entry = await attach(http, thread, kind="document", document_id=documents[0]["document_id"])
    assert entry["name"] == "Plan"
    assert (await problem_of(await http.post(f"{thread}/attachments", json={"kind": "document", "document_id": "x"})))[
        :2
    ] == (404, "document_unknown")


@pytest.mark.parametrize(("uri", "expected"), [("texts://page", PLAN), ("texts://notes.txt", PLAN)])
async def test_pages_and_bytes_are_read_as_files_are(
    http: httpx.AsyncClient, thread: str, uri: str, expected: str
) -> None:
    entry = await attach(http, thread, kind="resource", server="texts", uri=uri)
    text = (await http.get(f"{thread}/attachments/{entry['attachment_id']}")).json()["text"]
    assert expected in text
    assert "alert" not in text


async def test_what_is_no_text_or_too_much_is_refused_in_one_sentence(http: httpx.AsyncClient, thread: str) -> None:
    picture = {"kind": "resource", "server": "texts", "uri": "texts://picture"}
    status, code, detail = await problem_of(await http.post(f"{thread}/attachments", json=picture))
    assert (status, code) == (422, "attachment_refused")
    assert "is image/png; only what holds text can be attached" in detail
    _, code, detail = await problem_of(await attach_file(http, thread, "long.txt", b"word " * 3000))
    assert code == "attachment_refused"
    assert "max_characters" in detail
    assert (await attach_file(http, thread, "large.txt", b"x" * 200_000)).status_code == 413
    _, code, detail = await problem_of(await attach_file(http, thread, "empty.txt", b"  \n"))
    assert code == "attachment_refused"


async def test_thread_has_a_limit_and_the_same_place_is_replaced(http: httpx.AsyncClient, thread: str) -> None:
    for uri in ("texts://shift/monday", "texts://shift/tuesday", "texts://shift/tuesday"):
        await attach(http, thread, kind="resource", server="texts", uri=uri)
    assert await listed(http, thread) == ["monday", "tuesday"]
    third = {"kind": "resource", "server": "texts", "uri": "texts://report"}
    _, code, detail = await problem_of(await http.post(f"{thread}/attachments", json=third))
    assert code == "attachment_refused"
    assert "remove one first" in detail


async def test_server_that_is_gone_and_thread_that_is_not_there_are_named(http: httpx.AsyncClient, thread: str) -> None:
    gone = {"kind": "resource", "server": "gone", "uri": "texts://report"}
    status, code, detail = await problem_of(await http.post(f"{thread}/attachments", json=gone))
    assert (status, code) == (503, "tool_server_unavailable")
    assert "'gone' cannot be reached" in detail
    answer = await http.post("/api/threads/nothing/attachments", json=gone)
    assert (await problem_of(answer))[:2] == (404, "thread_unknown")


async def test_prompt_is_filled_in_and_what_it_embeds_can_be_attached(http: httpx.AsyncClient, thread: str) -> None:
    filled = (await http.post("/api/tools/servers/texts/prompts/look_at_plan", json={})).json()
    resource = filled["messages"][1]["resource"]
    assert resource["text"] == PLAN
    fields = {key: resource[key] for key in ("uri", "media_type", "text")}
    entry = await attach(http, thread, kind="embedded", server="texts", **fields)
    assert (entry["kind"], entry["name"], entry["characters"]) == ("resource", "plan", len(PLAN))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"prompt": "who", "argument": "day", "value": "t"}, ["tuesday"]),
        ({"template": "texts://shift/{day}", "argument": "day"}, ["monday", "tuesday"]),
    ],
)
async def test_server_suggests_values_for_blanks(
    http: httpx.AsyncClient, asked: dict[str, str], expected: list[str]
) -> None:
    assert (await http.post("/api/tools/servers/texts/completions", json=asked)).json() == {"values": expected}


async def test_blank_of_neither_a_prompt_nor_a_template_is_refused(http: httpx.AsyncClient) -> None:
    answer = await http.post("/api/tools/servers/texts/completions", json={"argument": "day"})
    assert answer.status_code == 422


async def test_attached_text_outlives_a_restart_and_goes_with_its_thread(
    database_settings: Settings, chat_model: GatedChatModel
) -> None:
    address = ""
    for start in range(2):
        async with open_platform(database_settings, embedder=HashingEmbedder(), chat_model=chat_model) as platform:
            transport = httpx.ASGITransport(create_app(database_settings, platform=platform))
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
                if start == 0:
                    address = f"/api/threads/{(await http.post('/api/threads', json={})).json()['thread_id']}"
                    fields = {"uri": "texts://plan", "media_type": "text/plain", "text": PLAN}
                    await attach(http, address, kind="embedded", server="texts", **fields)
                    continue
                assert await listed(http, address) == ["plan"]
                (kept,) = (await http.get(f"{address}/attachments")).json()["attachments"]
                assert (await http.delete(address)).status_code == 204
                assert await platform.attachments.store.texts([kept["attachment_id"]]) == []
