"""What only a real browser can show, over the stand-in API: hostile text, foreign requests, narrow screens."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.ui.script import HOSTILE
from tests.ui.servers import chromium, free_port, serve, streamlit
from tests.ui.stub_api import StubState, build_stub
from tests.ui.stub_calls import server_info, tool_info

pytestmark = pytest.mark.browser

PATIENCE_MS = 30_000


class Stage(NamedTuple):
    browser: Browser
    url: str


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    log = tmp_path_factory.mktemp("ui") / "ui.log"
    state = StubState()
    state.calls.propose("one", arguments={"name": "orders-api", "a_long_name_of_an_argument": "word " * 60})
    state.calls.propose("two", risk="destructive", state="pending", taint_source="document runbook.md")
    hostile: dict[str, Any] = {"motive": HOSTILE, "taint_source": HOSTILE, "policy_reason": HOSTILE}
    state.calls.propose("three", tool=f"tool {HOSTILE}", arguments={HOSTILE: HOSTILE}, **hostile)
    state.calls.servers = [server_info("cluster", "ready")]
    state.calls.tools = [tool_info("get_pod", "offered", risk="read"), tool_info(f"x {HOSTILE}", "needs_review")]
    with serve(build_stub(state)) as api, streamlit(api.address, log) as url, chromium() as browser:
        yield Stage(browser, url)


@pytest.fixture
def page(stage: Stage) -> Generator[Page]:
    context = stage.browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    yield context.new_page()
    context.close()


def _ask(page: Page, question: str) -> None:
    page.get_by_test_id("stChatInputTextArea").fill(question)
    page.keyboard.press("Enter")


def test_hostile_answer_document_call_and_tool_run_no_script_and_load_nothing(page: Page, stage: Stage) -> None:
    hosts: set[str] = set()
    page.on("request", lambda request: hosts.add(urlsplit(request.url).hostname or ""))
    page.goto(stage.url)
    _ask(page, "hostile")
    expect(page.get_by_role("button", name="Source 1")).to_be_visible()
    expect(page.get_by_text(HOSTILE).first).to_be_visible()

    page.get_by_role("button", name="Source 1").click()
    expect(page.get_by_role("dialog").locator("mark")).to_have_text("The marked words.")
    page.goto(f"{stage.url}/documents?document=doc-2")
    expect(page.get_by_text("The marked words.").first).to_be_visible()
    page.goto(f"{stage.url}/search?q=marked")
    expect(page.locator("mark").first).to_be_visible()
    page.goto(f"{stage.url}/approvals")
    expect(page.get_by_text(HOSTILE).first).to_be_visible()
    page.goto(f"{stage.url}/tools")
    page.get_by_role("tab", name="To review").click()
    expect(page.get_by_role("button", name="Let in")).to_be_visible()

    assert page.evaluate("window.hacked") is None
    assert hosts <= {"127.0.0.1", ""}


def test_links_of_an_answer_lead_nowhere_unless_to_the_web(page: Page, stage: Stage) -> None:
    page.goto(stage.url)
    _ask(page, "hostile")
    expect(page.get_by_role("button", name="Source 1")).to_be_visible()

    assert page.locator(".gw a").count() == 0


def test_mark_tells_its_verdict_to_the_eye_and_to_a_screen_reader(page: Page, stage: Stage) -> None:
    page.goto(stage.url)
    _ask(page, "Why did my pod restart?")

    page.get_by_role("button", name="Not supported. Explained: unsupported.").focus()

    expect(page.get_by_role("tooltip")).to_have_text("Not supportedExplained: unsupported.")
    page.keyboard.press("Escape")
    expect(page.get_by_role("tooltip")).to_have_count(0)


@pytest.mark.parametrize(
    "path", ["/", "/documents", "/documents?document=doc-1", "/search?q=memory", "/approvals", "/tools", "/memory"]
)
@pytest.mark.parametrize("width", [1400, 390])
def test_page_fits_its_width(page: Page, stage: Stage, path: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 860})
    page.goto(f"{stage.url}{path}")
    expect(page.get_by_role("heading").first).to_be_visible()
    expect(page).to_have_title("Groundwork")

    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_api_that_was_down_is_found_again(page: Page, stage: Stage, tmp_path: Path) -> None:
    port = free_port()
    with streamlit(f"http://127.0.0.1:{port}", tmp_path / "ui.log") as url:
        page.goto(url)
        expect(page.get_by_text("start it with: groundwork up")).to_be_visible()
        assert page.get_by_text("Traceback").count() == 0
        with serve(build_stub(StubState()), port=port):
            expect(page.get_by_role("heading", name="Ask your documents")).to_be_visible()
