"""Attached texts and prompts in a real browser over the real API and a real MCP server; the model is scripted."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.testing import ScriptedChatModel
from app.main import create_app
from app.settings import Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.texts_server import PLAN, SENTENCE
from tests.ui.servers import ROOT, chromium, serve, streamlit
from ui.client import ApiClient

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(900)]

PATIENCE_MS = 120_000
QUESTION = "How many nodes had the node pool burst-4?"
SHOTS = os.environ.get("GROUNDWORK_TEST_SHOTS")
"""Folder for screenshots, where somebody wants to look at them; read before the suite takes the variable away."""


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a server of texts, which writes down its process id."""
    folder = tmp_path_factory.mktemp("home")
    server = {"command": sys.executable, "args": [str(ROOT / "tests" / "app" / "texts_server.py")]}
    (folder / "mcp.json").write_text(json.dumps({"mcpServers": {"texts": server}}), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def api(home: Path) -> Generator[str]:
    app = create_app(Settings(home_path=home), embedder=HashingEmbedder(), chat_model=ScriptedChatModel([SENTENCE]))
    with serve(app) as served:
        yield served.address


@pytest.fixture(scope="module")
def url(api: str, tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with streamlit(api, tmp_path_factory.mktemp("ui") / "ui.log") as address:
        yield address


@pytest.fixture
def page(browser: Browser, url: str) -> Generator[Page]:
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page = context.new_page()
    page.goto(url)
    yield page
    context.close()


def _shot(page: Page, name: str) -> None:
    if SHOTS:
        page.screenshot(path=str(Path(SHOTS) / f"{name}.png"))


def _choose(page: Page, label: str, option: str) -> None:
    """Choose in a list that is opened by a click."""
    page.get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option).first.click()


def _attach_report(page: Page) -> None:
    page.get_by_role("button", name="Attach", exact=True).first.click()
    _choose(page, "Resource", "Incident report")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Look inside").click()
    expect(dialog.get_by_text(SENTENCE)).to_be_visible()
    _shot(page, "attach-dialog")
    dialog.get_by_role("button", name="Attach", exact=True).click()
    expect(page.get_by_role("button", name="Incident report", exact=True)).to_be_visible()


def test_resource_is_attached_asked_about_cited_kept_and_removed(page: Page) -> None:
    _attach_report(page)
    page.reload()
    expect(page.get_by_role("button", name="Incident report", exact=True)).to_be_visible()

    page.get_by_test_id("stChatInputTextArea").fill(QUESTION)
    page.keyboard.press("Enter")
    source = page.get_by_role("button", name="Source 1").first
    expect(source).to_be_visible()
    _shot(page, "attached-answer")
    source.click()
    drawer = page.get_by_role("dialog")
    expect(drawer.locator("mark")).to_have_text(SENTENCE)
    expect(drawer).to_contain_text("Attached to this chat: texts://report of texts")
    _shot(page, "attached-drawer")
    page.keyboard.press("Escape")

    second = page.context.new_page()
    second.goto(page.url)
    expect(second.get_by_role("button", name="Incident report", exact=True)).to_be_visible()
    second.set_viewport_size({"width": 390, "height": 844})
    expect(second.get_by_role("button", name="Incident report", exact=True)).to_be_visible()
    _shot(second, "attached-narrow")
    second.close()

    page.get_by_role("button", name="Remove Incident report").or_(
        page.locator('[class*="st-key-detach-"] button')
    ).first.click()
    expect(page.get_by_role("button", name="Incident report", exact=True)).to_have_count(0)


def test_prompt_is_filled_in_put_into_the_box_and_sent_by_the_person_alone(page: Page, api: str) -> None:
    page.get_by_role("button", name="Prompts").click()
    _choose(page, "Prompt", "Ask about a day")
    _choose(page, "day", "tuesday")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Fill in").click()
    expect(dialog.get_by_text("Who is on call on tuesday?")).to_be_visible()
    _shot(page, "prompt-dialog")
    dialog.get_by_role("button", name="Put into the question box").click()

    box = page.get_by_test_id("stChatInputTextArea")
    expect(box).to_have_value("Who is on call on tuesday?")
    expect(page.get_by_text("From texts/who").first).to_be_visible()
    _shot(page, "prompt-in-box")
    with ApiClient(api) as client:
        asked = [run.question for thread in client.threads() for run in client.thread(thread.thread_id).runs]
    assert "Who is on call on tuesday?" not in asked

    box.click()
    page.keyboard.press("Enter")
    expect(page.get_by_text("From texts/who")).to_have_count(0)
    expect(page.get_by_text("Who is on call on tuesday?").first).to_be_visible()


def test_prompt_attaches_what_it_brings_with_it(page: Page) -> None:
    page.get_by_role("button", name="Prompts").click()
    _choose(page, "Prompt", "look_at_plan")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Fill in").click()
    dialog.get_by_role("button", name="Put into the question box").click()
    chip = page.get_by_role("button", name="plan", exact=True)
    expect(chip).to_be_visible()
    chip.click()
    expect(page.get_by_role("dialog").get_by_text(PLAN)).to_be_visible()


def test_small_file_is_attached(page: Page) -> None:
    page.get_by_role("button", name="Attach", exact=True).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="File").click()
    dialog.locator('input[type="file"]').set_input_files(
        {"name": "notes.md", "mimeType": "text/markdown", "buffer": f"# Notes\n\n{SENTENCE}\n".encode()}
    )
    expect(dialog.get_by_role("button", name="Attach", exact=True)).to_be_enabled()
    dialog.get_by_role("button", name="Attach", exact=True).click()
    expect(page.get_by_role("button", name="notes.md", exact=True)).to_be_visible()


def test_server_that_is_gone_is_named_in_one_sentence(page: Page, home: Path) -> None:
    config = home / "mcp.json"
    before = config.read_text(encoding="utf-8")
    broken = {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]}
    config.write_text(json.dumps({"mcpServers": {"texts": broken}}), encoding="utf-8")
    try:
        page.get_by_role("button", name="Attach", exact=True).first.click()
        expect(page.get_by_role("dialog").get_by_text("'texts' cannot be reached").first).to_be_visible()
        _shot(page, "attach-server-gone")
    finally:
        config.write_text(before, encoding="utf-8")
