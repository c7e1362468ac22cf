"""The guiding question in a real browser, with the real models over documents of the sample handbook."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from app.main import create_app
from app.settings import Settings
from tests.ui.servers import ROOT, chromium, serve, streamlit
from ui.client import ApiClient, UploadFile

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.model, pytest.mark.timeout(900)]

QUESTION = "Why did my pod restart? Last termination reason: OOMKilled"
READING_MS = 300_000
"""A small machine reads the passages for a while before the first token."""


@pytest.fixture(scope="module")
def page(model_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Generator[Page]:
    folder = tmp_path_factory.mktemp("models")
    (folder / "home").mkdir()
    (folder / "home" / "models").symlink_to(model_home / "models")
    files = sorted((ROOT / "samples" / "handbook" / "troubleshooting").glob("*.md"))
    app = create_app(Settings(home_path=folder / "home"), start_model=True)
    with serve(app) as api, streamlit(api.address, folder / "ui.log") as url, chromium() as browser:
        with ApiClient(api.address) as client:
            client.upload([UploadFile(file.name, file.read_bytes()) for file in files], collection="handbook")
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(url)
        expect(page.get_by_role("button", name=QUESTION)).to_be_visible(timeout=60_000)
        yield page


def test_guiding_question_is_answered_in_a_stream_with_a_citation_that_opens(page: Page) -> None:
    page.get_by_role("button", name=QUESTION).click()

    written = page.get_by_test_id("stChatMessage").last.locator(".gw").nth(1)
    expect(written).not_to_be_empty(timeout=READING_MS)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()

    marker = page.get_by_role("button", name="Source 1").first
    expect(marker).to_be_visible(timeout=READING_MS)
    shown = page.get_by_test_id("stChatMessage").last.locator(".gw")
    answer = shown.filter(has_not=page.locator(".gw-budget")).first
    expect(answer).to_contain_text("memory")
    expect(page.get_by_role("button", name="Verified").first).to_be_visible()
    expect(page.get_by_text("tokens/s")).to_be_visible()

    marker.click()
    mark = page.get_by_role("dialog").locator("mark")
    expect(mark).to_be_visible(timeout=60_000)
    stored = [" ".join(file.read_text().split()) for file in (ROOT / "samples/handbook/troubleshooting").glob("*.md")]
    assert any(" ".join(mark.inner_text().split()) in text for text in stored)
