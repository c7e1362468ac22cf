"""Approvals in a real browser over the real API, store, ledger and MCP server of the sample; the model is scripted."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Generator
from contextlib import ExitStack, closing, suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from agents.testing import ScriptedCalls, ScriptedChatModel
from app.main import create_app
from app.schema import RunInfo
from app.settings import Settings
from app.tool_schema import ToolReview
from retrieval.embedders.hashing import HashingEmbedder
from tests.tools.mcp.servers import NOTES_SERVER
from tests.ui.servers import ROOT, chromium, free_port, serve, streamlit
from ui.client import ApiClient, UploadFile

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(600)]

PATIENCE_MS = 60_000
QUESTION = "Why did my pod restart? Last termination reason: OOMKilled"
FIRST = "A container that uses more memory than its limit is ended by the kernel with the reason OOMKilled."
CHANGED = "Memory limit of orders-api was changed from 512Mi to 768Mi."
DOCUMENT = f"# Pods that restart\n\n## Out of memory\n\n{FIRST} Raise the limit of the deployment by half.\n"
POD = '{"name": "orders-api-7d9f6c5b8-x2k4q"}'
LOOK = ScriptedCalls(
    (("cluster__get_pod", POD), ("cluster__get_events", '{"pod": "orders-api-7d9f6c5b8-x2k4q"}')),
    text="First the pod and its events.",
)
RAISE = ScriptedCalls(
    (("cluster__set_memory_limit", '{"deployment": "orders-api", "limit": "768Mi"}'),),
    text="The pod was ended at its limit of 512Mi; half as much again is 768Mi.",
)
VERIFY = ScriptedCalls((("cluster__get_pod", POD),), text="Now I look whether it holds.")
PAINT = ScriptedCalls((("notes__paint", "{}"),), text="I will paint it.")
DELETE = ScriptedCalls((("cluster__delete_pod", POD),), text="The pod can go.")
ANSWER = f"{FIRST} {CHANGED}"


class World:
    """One home with a cluster, and the API over it, which may be ended and started again at its address."""

    def __init__(self, folder: Path, port: int) -> None:
        self.cluster = folder / "cluster.db"
        self._home = folder / "home"
        self._home.mkdir()
        self._port = port
        self._stack = ExitStack()
        scripts = {
            "cluster": [str(ROOT / "samples" / "cluster_server.py"), "--database", str(self.cluster)],
            "notes": [str(NOTES_SERVER), str(folder / "notes.txt")],
        }
        entries = {name: {"command": sys.executable, "args": args, "trusted": True} for name, args in scripts.items()}
        (self._home / "mcp.json").write_text(json.dumps({"mcpServers": entries}))

    def start(self, *replies: str | ScriptedCalls) -> None:
        """Serve the home with a model that says this."""
        settings = Settings(home_path=self._home)
        agents = settings.agents.model_copy(update={"tool_mode": "native"})
        tools = settings.tools.model_copy(update={"listing_seconds": 20.0})
        settings = settings.model_copy(update={"agents": agents, "tools": tools})
        app = create_app(settings, embedder=HashingEmbedder(), chat_model=ScriptedChatModel(replies))
        self._stack.enter_context(serve(app, port=self._port))

    def stop(self) -> None:
        """End the API."""
        self._stack.close()

    def fill(self) -> None:
        """Bring in the document and let in every tool."""
        with self.client() as client:
            client.upload([UploadFile("pods.md", DOCUMENT.encode())], collection="default")
            for tool in client.tools.listing(wait=True).tools:
                review = ToolReview(server=tool.server, tool=tool.tool, fingerprint=tool.fingerprint, accept=True)
                client.tools.review(review)

    def client(self) -> ApiClient:
        """A client of the API."""
        return ApiClient(f"http://127.0.0.1:{self._port}")

    def changes(self) -> list[tuple[str, str]]:
        """What was done to the cluster, in order."""
        with closing(sqlite3.connect(self.cluster)) as connection:
            return connection.execute("SELECT tool, arguments FROM changes ORDER BY id").fetchall()

    def run(self) -> RunInfo:
        """The one run of the one thread."""
        with self.client() as client:
            (thread,) = client.threads()
            (run,) = client.thread(thread.thread_id).runs
            return run


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def port() -> int:
    """The API's port, the same for every test: the UI was told it once."""
    return free_port()


@pytest.fixture(scope="module")
def url(port: int, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    log = tmp_path_factory.mktemp("ui") / "ui.log"
    with streamlit(f"http://127.0.0.1:{port}", log) as address:
        yield address


@pytest.fixture
def world(port: int, tmp_path: Path) -> Generator[World]:
    opened = World(tmp_path, port)
    opened.start(LOOK, RAISE, VERIFY, ANSWER)
    opened.fill()
    yield opened
    opened.stop()


@pytest.fixture
def context(browser: Browser) -> Generator[BrowserContext]:
    """A browser profile of its own."""
    opened = browser.new_context(viewport={"width": 1400, "height": 1000})
    opened.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    yield opened
    opened.close()


def _asked(context: BrowserContext, url: str) -> Page:
    """A tab in which the operator was asked, and now asks back."""
    page = context.new_page()
    page.goto(url)
    page.get_by_role("radio", name="operator").click()
    expect(page.get_by_role("radio", name="operator")).to_be_checked()
    page.get_by_test_id("stChatInputTextArea").fill(QUESTION)
    page.keyboard.press("Enter")
    return page


def _card(page: Page) -> None:
    expect(page.get_by_role("button", name="Approve once")).to_be_visible()


def _answered(page: Page) -> None:
    expect(page.get_by_role("button", name="Source 1").first).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def _opened(page: Page, step: Locator, inside: Locator) -> None:
    """Open a step; one that was drawn anew at the very moment of the click stays as it was, and is clicked again."""
    for _ in range(5):
        step.click()
        with suppress(AssertionError):
            expect(inside).to_be_visible(timeout=3000)
            return
    expect(inside).to_be_visible()


def test_guiding_question_is_played_to_its_end_on_the_cluster(context: BrowserContext, url: str, world: World) -> None:
    page = _asked(context, url)
    _card(page)
    expect(page.get_by_text("First the pod and its events.")).to_be_visible()
    _opened(page, page.get_by_text("get_pod").first, page.get_by_text('"last_reason": "OOMKilled"').first)
    card = page.locator('[class*="st-key-card-"]')
    expect(card).to_contain_text("768Mi")
    expect(card).to_contain_text("half as much again is 768Mi")
    assert world.changes() == []

    page.get_by_role("button", name="Approve once").click()

    _answered(page)
    assert world.changes() == [("set_memory_limit", '{"deployment": "orders-api", "limit": "768Mi"}')]
    expect(page.get_by_text("Now I look whether it holds.")).to_be_visible()
    page.get_by_text("How this answer was made").click()
    expect(page.get_by_role("tab", name="Evidence (1)")).to_be_visible()
    answer = world.run().answer
    assert answer is not None
    assert [claim.verdict for claim in answer.claims] == ["verified", "verified"]
    assert {bool(citation.call_id) for citation in answer.citations} == {True, False}
    result = next(citation for citation in answer.citations if citation.call_id)
    page.get_by_role("button", name=f"Source {result.number}").first.click()
    drawer = page.get_by_role("dialog")
    expect(drawer.locator("mark")).to_have_text(result.quote)
    expect(drawer).to_contain_text("Result of a tool of cluster")


def test_card_decided_in_two_tabs_runs_once(context: BrowserContext, url: str, world: World) -> None:
    first = _asked(context, url)
    _card(first)
    second = context.new_page()
    second.goto(first.url)
    _card(second)

    first.get_by_role("button", name="Approve once").click(no_wait_after=True)
    second.get_by_role("button", name="Reject", exact=True).click(no_wait_after=True)

    expect(first.get_by_role("button", name="Stop")).to_have_count(0)
    expect(second.get_by_role("button", name="Stop")).to_have_count(0)
    with world.client() as client:
        calls = client.approvals.list(states=["done", "rejected"], run_id=world.run().run_id).approvals
    (call,) = (call for call in calls if call.tool == "set_memory_limit")
    approved = call.decision == "approve"
    # The browser says which click comes first; the late tab tells so, or its folded step names the other decision.
    loser, words = (second, "Approved by local") if approved else (first, "Rejected by local")
    expect(loser.get_by_text("the first decision stands").or_(loser.get_by_text(words)).first).to_be_attached()
    assert [tool for tool, _ in world.changes()] == (["set_memory_limit"] if approved else [])
    assert world.run().state == "answered"


def test_card_outlives_a_reload_and_a_restart_of_the_api(context: BrowserContext, url: str, world: World) -> None:
    page = _asked(context, url)
    _card(page)
    page.reload()
    _card(page)

    world.stop()
    expect(page.get_by_text("does not answer")).to_be_visible()
    world.start(VERIFY, ANSWER)
    expect(page.get_by_text("does not answer")).to_have_count(0)
    _card(page)
    page.get_by_role("button", name="Approve once").click()

    _answered(page)
    assert [tool for tool, _ in world.changes()] == ["set_memory_limit"]


def test_edited_arguments_are_what_runs(context: BrowserContext, url: str, world: World) -> None:
    page = _asked(context, url)
    _card(page)

    page.get_by_role("radio", name="Edit").click()
    editor = page.get_by_label("Arguments as JSON")
    editor.fill('{"deployment": "orders-api", "limit": 1}')
    page.get_by_role("button", name="Approve edited").click()
    expect(page.get_by_text("is not of type")).to_be_visible()
    editor.fill('{"deployment": "orders-api", "limit": "1Gi"}')
    page.get_by_role("button", name="Approve edited").click()

    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    assert [arguments for _, arguments in world.changes()] == ['{"deployment": "orders-api", "limit": "1Gi"}']


def test_destructive_call_puts_the_keyboard_on_reject_and_asks_twice(
    context: BrowserContext, url: str, world: World
) -> None:
    world.stop()
    world.start(DELETE, ANSWER)
    page = _asked(context, url)
    expect(page.get_by_role("button", name="Reject", exact=True)).to_be_focused()

    page.get_by_role("button", name="Approve …").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Reject")).to_be_focused()
    dialog.get_by_role("button", name="Run it").click()

    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    assert [tool for tool, _ in world.changes()] == ["delete_pod"]


def test_question_of_a_server_is_answered_in_the_chat(context: BrowserContext, url: str, world: World) -> None:
    world.stop()
    world.start(PAINT, "It was painted light red.")
    page = _asked(context, url)
    page.get_by_role("button", name="Approve once").click()

    expect(page.get_by_text("Which colour?")).to_be_visible()
    page.get_by_role("combobox", name="colour").click()
    page.get_by_role("option", name="red").click()
    page.get_by_label("shade").fill("light")
    page.get_by_test_id("stBaseButton-primaryFormSubmit").click()

    expect(page.get_by_text("Which colour?")).to_have_count(0)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    with world.client() as client:
        (call,) = client.approvals.list(states=["done"], run_id=world.run().run_id).approvals
        assert client.approvals.card(call.call_id).result_text == "painted light red"


def test_inbox_decides_for_the_chat(context: BrowserContext, url: str, world: World) -> None:
    page = _asked(context, url)
    _card(page)
    inbox = context.new_page()
    inbox.goto(f"{url}/approvals")
    expect(inbox.get_by_role("link", name="Approvals (1)")).to_be_visible()

    inbox.get_by_role("button", name="Approve once").click()

    expect(inbox.get_by_text("Nothing waits for you")).to_be_visible()
    _answered(page)
    assert len(world.changes()) == 1


def test_message_while_a_card_waits_rejects_it_once_the_person_says_so(
    context: BrowserContext, url: str, world: World
) -> None:
    page = _asked(context, url)
    _card(page)

    page.get_by_test_id("stChatInputTextArea").fill("Leave it.")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Keep waiting").click()
    _card(page)
    page.get_by_test_id("stChatInputTextArea").fill("Leave it.")
    page.keyboard.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Reject and send").click()

    expect(page.get_by_text("Stopped before it was finished")).to_be_visible()
    expect(page.get_by_text("Leave it.")).to_be_visible()
    assert world.changes() == []
