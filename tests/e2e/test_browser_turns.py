"""Models, presets and answers asked for anew in a real browser, over the real API; servers of the test are models."""

from __future__ import annotations

import re
from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from agents.settings import EndpointSettings
from app.main import create_app
from app.settings import Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.conftest import HANDBOOK
from tests.app.model_stub import ModelStub, chunk, stream, words
from tests.app.model_world import ANSWER, QUESTION
from tests.ui.servers import chromium, serve, streamlit
from ui.client import ApiClient, UploadFile

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(300)]

PATIENCE_MS = 30_000
CUT_OFF = stream(chunk({"content": f"{ANSWER} The kernel"}), chunk(finish="length"), b"data: [DONE]\n\n")
EDITED = "Which exit code has a container that used more memory than its limit?"
PLAN = "Be brief, and name the exit code first."


class Stage(NamedTuple):
    """A tab, and the model server that the chat is told to ask."""

    page: Page
    url: str
    model: ModelStub


@pytest.fixture
def stage(tmp_path: Path) -> Generator[Stage]:
    main, other = ModelStub([words("The main model is not to be asked.")]), ModelStub([CUT_OFF, words(ANSWER)])
    with serve(main.app) as first, serve(other.app) as second:
        settings = Settings(home_path=tmp_path / "home")
        model = settings.model.model_copy(update={"base_url": f"{first.address}/v1", "name": "main"})
        endpoints = {"other": EndpointSettings(base_url=f"{second.address}/v1", model="stub")}
        app = create_app(
            settings.model_copy(update={"model": model, "endpoints": endpoints}), embedder=HashingEmbedder()
        )
        with serve(app) as api, streamlit(api.address, tmp_path / "ui.log") as url, chromium() as browser:
            with ApiClient(api.address) as client:
                client.upload([UploadFile("handbook.md", HANDBOOK.encode())], collection="default")
            page = browser.new_page(viewport={"width": 1400, "height": 1000})
            page.set_default_timeout(PATIENCE_MS)
            expect.set_options(timeout=PATIENCE_MS)
            yield Stage(page, url, other)


def test_answer_goes_on_is_asked_anew_and_its_question_edited_with_model_and_preset(stage: Stage) -> None:
    page, model = stage.page, stage.model

    # The first page that a fresh server is asked for is not the first of the navigation.
    page.goto(f"{stage.url}/presets")
    page.get_by_role("textbox", name="Name").fill("brief")
    page.get_by_role("textbox", name="System prompt").fill(PLAN)
    page.get_by_role("textbox", name="What it is for").fill("Short answers")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved brief, version 1.")).to_be_visible()

    page.get_by_role("link", name="Chat", exact=True).click()
    _panel(page).get_by_role("button").click()
    _choose(page, "Preset", "brief")
    _choose(page, "Model", "other")
    page.get_by_role("spinbutton", name="Temperature").fill("0.7")
    page.keyboard.press("Enter")
    expect(_panel(page)).to_contain_text("other · brief · 1 value set")
    page.keyboard.press("Escape")
    page.get_by_test_id("stChatInputTextArea").fill(QUESTION)
    page.keyboard.press("Enter")
    expect(page.get_by_text("cut off at its longest length")).to_be_visible()
    expect(page.get_by_text(re.compile(r"[\d,]+ of [\d,]+ tokens of context"))).to_be_visible()

    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Going on")).to_be_visible()
    expect(page.get_by_role("button", name="Continue")).to_have_count(0)
    asked, going_on = model.bodies
    assert (asked["model"], asked["temperature"]) == ("stub", 0.7)
    assert PLAN in asked["messages"][0]["content"]
    assert f"<answer_so_far>\n{ANSWER}" in going_on["messages"][-1]["content"]

    page.get_by_role("button", name="Regenerate").click()
    expect(page.get_by_text("2\u2009/\u20092")).to_be_visible()

    page.get_by_test_id("stChatMessage").first.get_by_role("button").click()
    page.get_by_role("textbox", name="Question").fill(EDITED)
    page.get_by_role("button", name="Send", exact=True).click()
    expect(page.get_by_text("3\u2009/\u20093")).to_be_visible()
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text(EDITED)
    assert EDITED in model.bodies[-1]["messages"][-1]["content"]
    assert len(model.bodies[-1]["messages"]) == 2

    page.reload()
    page.locator("[class*=st-key-earlier-] button").first.click()
    expect(page.get_by_test_id("stChatMessage").first).to_contain_text(QUESTION)


def _panel(page: Page) -> Locator:
    return page.locator(".st-key-model-panel")


def _choose(page: Page, label: str, option: str) -> None:
    """Choose in the open panel, which stays open."""
    page.get_by_test_id("stPopoverBody").get_by_role("combobox", name=label).click()
    page.get_by_role("option", name=option, exact=True).click()
    expect(_panel(page)).to_contain_text(option)
