"""Nothing outside a person's filter shows: in hits, events, citations, tools, counts, hints; over both homes."""

from __future__ import annotations

import asyncio
import json
import socket
import tempfile
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp.client.client import Client
from qdrant_client import QdrantClient

from agents.answer import Answer
from agents.errors import AgentError
from agents.events import AnswerDone, RunEvent, ToolCalled, ToolReturned
from agents.settings import AgentSettings
from agents.testing import ScriptedCalls, ScriptedChatModel
from app.asking import ask
from app.client import ApiClient
from app.main import create_app
from app.schema import RunRequest
from app.serve import answering
from app.settings import Settings
from app.wiring import Platform, open_platform
from ingestion.sources import discover, identity_of
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.store.protocol import VectorStore
from retrieval.store.qdrant import open_qdrant_store
from tests.app.test_mcp_server import serving

SECRET = "zanzibar"
"""Stands in every hidden document, in its text, its name, its title and its collection, and nowhere else."""
PUBLIC = "# Paging\n\nThe pager rings when replication of the database falls behind by 30 seconds.\n"
HIDDEN = f"""# Paging {SECRET}

The pager rings when replication of the database falls behind by 45 seconds, says {SECRET}.

The {SECRET} acquisition closes in March.
"""
QUESTION = "When does the pager ring for the database?"
ANSWER = "The pager rings when replication of the database falls behind by 30 seconds."
SCOPES: list[dict[str, Any]] = [{"collections": ("public",)}, {"filter": {"team": "public"}}]
COLLECTION = f"{SECRET}-deals"
WAIT_SECONDS = 60


pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(600)]


class ToldChatModel(ScriptedChatModel):
    """Says what it was told last."""

    def tell(self, *replies: str | ScriptedCalls) -> None:
        """Replies from now on."""
        self._replies = deque[str | ScriptedCalls | AgentError](replies)


@dataclass(frozen=True, slots=True)
class Stage:
    """A platform over one home, with documents of which only those of ``public`` may be seen."""

    platform: Platform
    model: ToldChatModel
    hidden_id: str


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["edge", "memory"])
async def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Stage]:
    folder = tmp_path_factory.mktemp("access")
    settings = Settings(home_path=folder / "home", agents=AgentSettings(tool_mode="native"))
    embedder, model = HashingEmbedder(), ToldChatModel([ANSWER])
    store: VectorStore | None = None
    if request.param == "memory":
        client = QdrantClient(":memory:")
        store = open_qdrant_store(client, collection="chunks", dim=embedder.dim, fingerprint=embedder.fingerprint)
    async with open_platform(settings, embedder=embedder, chat_model=model, store=store) as platform:
        for team, collection, text in (("public", "public", PUBLIC), (SECRET, COLLECTION, HIDDEN)):
            (folder / team).mkdir()
            for number in range(3):
                page = f"---\nteam: {team}\n---\n{text}\nPage {number} of {team}.\n"
                (folder / team / f"{team}-{number}.md").write_text(page, encoding="utf-8")
            await platform.ingester.ingest(discover([str(folder / team)]), collection=collection)
        hidden = (folder / SECRET / f"{SECRET}-0.md").as_posix()
        yield Stage(platform, model, identity_of(hidden, COLLECTION).document_id)
    if store is not None:
        store.close()


async def shown(platform: Platform, question: str, **chosen: Any) -> list[RunEvent]:
    """All events of a run: hits, context, calls and their results, the answer with its citations and hints."""
    thread = await platform.threads.create()
    run = await ask(platform, thread.thread_id, RunRequest(question=question, **chosen))
    async with asyncio.timeout(WAIT_SECONDS):
        return [event async for event in await platform.runs.follow(run.run_id)]


def text_of(events: list[RunEvent], *, but: tuple[type[RunEvent], ...] = ()) -> str:
    """Everything that the events say, those of some kinds left out."""
    return "\n".join(event.model_dump_json() for event in events if not isinstance(event, but))


def answer_of(events: list[RunEvent]) -> Answer:
    (answer,) = [event.answer for event in events if isinstance(event, AnswerDone)]
    return answer


def hidden_words(text: str, *own: str) -> list[str]:
    """Words of hidden documents in a text, once the person's own words are taken out of it."""
    for words in own:
        text = text.replace(json.dumps(words)[1:-1], "")
    return [word for word in (SECRET, "45 seconds", "March") if word.lower() in text.lower()]


@asynccontextmanager
async def typed(platform: Platform) -> AsyncGenerator[ApiClient]:
    """A typed client of the API on a socket of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "api.sock"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(path))
        async with (
            answering(platform.settings, platform, listener),
            ApiClient("http://localhost", token=platform.local_token, uds=path) as client,
        ):
            yield client


async def test_the_stage_has_something_to_hide(stage: Stage) -> None:
    assert await stage.platform.ledger.text(stage.hidden_id)
    stage.model.tell(ANSWER)
    assert hidden_words(text_of(await shown(stage.platform, QUESTION)), QUESTION) == [SECRET, "45 seconds", "March"]


@pytest.mark.parametrize("chosen", SCOPES)
@pytest.mark.parametrize("query", [QUESTION, f"in the {COLLECTION} collection, when does the pager ring?", SECRET])
@pytest.mark.parametrize("context", [False, True])
async def test_a_search_shows_counts_and_explains_what_may_be_seen_alone(
    stage: Stage, chosen: dict[str, Any], query: str, context: bool
) -> None:
    body = {"query": query, "limit": 100, "explain": True, "context": context, **chosen}
    transport = httpx.ASGITransport(create_app(stage.platform.settings, platform=stage.platform))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        response = await http.post("/api/search", json=body)
    assert response.status_code == 200, response.text
    found = response.json()
    assert {Path(hit["source"]).stem[:-2] for hit in found["hits"]} == {"public"}
    assert found["explanation"]["searched"] == 3
    assert found["filters"] == []
    # The person's own words come back; what is said of them is that nothing has them.
    own = [term for hit in found["hits"] for term in hit["explanation"].pop("terms") if SECRET in term["spelling"]]
    assert all((term["count"], term["idf"], term["contribution"]) == (0, None, 0.0) for term in own)
    shown: dict[str, Any] = found["context"] or {"queries": []}
    queries: list[str] = [one["query"] for one in shown["queries"]]
    assert hidden_words(json.dumps(found), query, found["searched"], *queries) == []


@pytest.mark.parametrize("chosen", SCOPES)
async def test_an_answer_shows_and_cites_what_may_be_seen_alone(stage: Stage, chosen: dict[str, Any]) -> None:
    stage.model.tell(ANSWER)
    events = await shown(stage.platform, QUESTION, **chosen)
    answer = answer_of(events)
    assert answer.status == "answered"
    assert answer.citations
    assert hidden_words(text_of(events), QUESTION) == []


@pytest.mark.parametrize("chosen", SCOPES)
async def test_an_abstention_hints_at_nothing_that_may_not_be_seen(stage: Stage, chosen: dict[str, Any]) -> None:
    question = "When does the acquisition of the harbour close?"
    stage.model.tell("The harbour is bought in May.")
    events = await shown(stage.platform, question, **chosen)
    answer = answer_of(events)
    assert answer.status == "abstained"
    assert answer.abstention
    assert {nearest.title for nearest in answer.abstention.nearest} <= {"Paging"}
    assert hidden_words(text_of(events), question) == []


@pytest.mark.parametrize("chosen", SCOPES)
async def test_an_agent_reaches_nothing_that_its_person_may_not_see(stage: Stage, chosen: dict[str, Any]) -> None:
    calls = (
        ("search_documents", json.dumps({"query": "when it closes"})),
        ("search_documents", json.dumps({"query": "when it closes", "collection": COLLECTION})),
        ("read_document", json.dumps({"document_id": stage.hidden_id})),
    )
    stage.model.tell(ScriptedCalls(calls), ANSWER)
    events = await shown(stage.platform, QUESTION, agent="operator", **chosen)
    returned = [event for event in events if isinstance(event, ToolReturned)]
    assert sorted(event.state for event in returned) == ["done", "failed", "failed"]
    assert hidden_words(text_of(events, but=(ToolCalled,)), stage.hidden_id, f"'{COLLECTION}'") == []


async def test_an_agent_of_a_person_who_may_see_all_reaches_it(stage: Stage) -> None:
    calls = (("read_document", json.dumps({"document_id": stage.hidden_id})),)
    stage.model.tell(ScriptedCalls(calls), ANSWER)
    events = await shown(stage.platform, QUESTION, agent="operator")
    (returned,) = [event for event in events if isinstance(event, ToolReturned)]
    assert returned.state == "done"
    assert "closes in March" in returned.text


async def test_an_mcp_client_reaches_its_collections_alone(stage: Stage) -> None:
    stage.model.tell(ANSWER)
    said: list[str] = []
    async with (
        typed(stage.platform) as api,
        Client(serving(api, collections=("public",))) as client,
    ):
        for tool, arguments in (
            ("search", {"query": QUESTION}),
            ("search", {"query": f"in the {COLLECTION} collection, when does the pager ring?"}),
            ("search", {"query": QUESTION, "collections": [COLLECTION]}),
            ("ask", {"question": QUESTION}),
            ("read_document", {"document_id": stage.hidden_id}),
        ):
            said.append((await client.call_tool(tool, arguments)).model_dump_json())
        said.append((await client.list_resources()).model_dump_json())
    assert [hidden_words(text, stage.hidden_id, f"'{COLLECTION}'") for text in said] == [[]] * 6
    assert "public-2.md" in said[-1]
