"""Pictures in a real browser over the real API; the models are servers of the test, one sees and one is blind."""

from __future__ import annotations

import base64
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.settings import EndpointSettings
from app.main import create_app
from app.settings import Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.model_stub import ModelStub, words
from tests.pictures import ERROR, blank, drawn, saved
from tests.ui.servers import chromium, serve, streamlit
from ui.client import ApiClient

pytestmark = [pytest.mark.e2e, pytest.mark.browser, pytest.mark.timeout(900)]

PATIENCE_MS = 120_000
QUESTION = "What does the error in this screenshot say?"
ANSWER = f"The picture shows {ERROR}."
SHOT = saved(drawn(ERROR))
SHOTS = os.environ.get("GROUNDWORK_TEST_SHOTS")
"""Folder for screenshots, where somebody wants to look at them; read before the suite takes the variable away."""
PASTE = """
([text, name]) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name, { type: "image/png" }));
  const box = document.querySelector('[data-testid="stChatInputTextArea"]');
  box.focus();
  box.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
}
"""


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def main() -> ModelStub:
    return ModelStub([words(ANSWER)])


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory, main: ModelStub) -> Generator[str]:
    blind = ModelStub([words(ANSWER)], sees=False)
    with serve(main.app) as seeing, serve(blind.app) as other:
        settings = Settings(home_path=tmp_path_factory.mktemp("home"))
        model = settings.model.model_copy(update={"base_url": f"{seeing.address}/v1", "name": "seeing"})
        endpoint = EndpointSettings(base_url=f"{other.address}/v1", model="stub")
        changed = settings.model_copy(update={"model": model, "endpoints": {"blind": endpoint}})
        with serve(create_app(changed, embedder=HashingEmbedder())) as served:
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


def _attach(page: Page, data: bytes, name: str) -> None:
    page.get_by_role("button", name="Attach", exact=True).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="File").click()
    dialog.locator('input[type="file"]').set_input_files({"name": name, "mimeType": "image/png", "buffer": data})
    expect(dialog.get_by_role("button", name="Attach", exact=True)).to_be_enabled()
    dialog.get_by_role("button", name="Attach", exact=True).click()
    expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()


def _ask(page: Page, question: str = QUESTION) -> None:
    page.get_by_test_id("stChatInputTextArea").fill(question)
    page.keyboard.press("Enter")


def _thumbnail(page: Page) -> None:
    """The picture stands beside its question, and the browser could draw it."""
    image = page.get_by_test_id("stChatMessage").first.locator("img").first
    expect(image).to_be_visible()
    page.wait_for_function("(image) => image.naturalWidth > 0", arg=image.element_handle())


def test_picture_is_attached_seen_told_and_there_after_a_reload(page: Page, main: ModelStub, api: str) -> None:
    _attach(page, SHOT, "shot.png")
    _shot(page, "picture-waits")
    _ask(page)
    expect(page.get_by_text("shot.png: seen by the model, with 4 words read from it.")).to_be_visible()
    expect(page.get_by_text("in the words of the picture, and in no document")).to_be_visible()
    _thumbnail(page)
    expect(page.get_by_role("button", name="shot.png", exact=True)).to_have_count(0)
    shown = main.bodies[-1]["messages"][-1]["content"][0]
    assert shown["image_url"]["url"].startswith("data:image/png;base64,")
    _shot(page, "picture-answered")

    page.reload()
    _thumbnail(page)
    page.set_viewport_size({"width": 390, "height": 844})
    _thumbnail(page)
    _shot(page, "picture-narrow")
    page.set_viewport_size({"width": 1400, "height": 1000})

    page.get_by_role("button", name="Regenerate").click()
    expect(page.get_by_text("2\u2009/\u20092")).to_be_visible()
    with ApiClient(api) as client:
        runs = client.thread(client.threads()[0].thread_id).runs
    assert [len(run.pictures) for run in runs] == [1, 1]


def test_pasted_picture_goes_with_the_words_in_the_box(page: Page, main: ModelStub) -> None:
    expect(page.get_by_test_id("stChatInputTextArea")).to_be_enabled()
    page.evaluate(PASTE, [base64.b64encode(SHOT).decode(), "image.png"])
    expect(page.get_by_text("image.png").first).to_be_visible()
    page.wait_for_timeout(500)
    _shot(page, "picture-pasted")
    _ask(page, "What is wrong here?")
    expect(page.get_by_text("image.png: seen by the model")).to_be_visible()
    assert isinstance(main.bodies[-1]["messages"][-1]["content"], list)
    _thumbnail(page)


def test_blind_model_says_so_and_a_picture_without_words_waits(page: Page, api: str) -> None:
    with ApiClient(api) as client:
        thread = client.create_thread().thread_id
        client.attachments.attach_file(thread, "scene.png", blank())
    page.goto(f"{page.url.split('?')[0]}?thread={thread}")
    expect(page.get_by_role("button", name="scene.png", exact=True)).to_be_visible()
    page.get_by_role("button", name="scene.png", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text("No words were read from it.")).to_be_visible()
    _shot(page, "picture-drawer")
    page.keyboard.press("Escape")

    _choose_model(page, "blind")
    _ask(page)
    expect(page.get_by_text("cannot see pictures, so 'scene.png' would tell it nothing")).to_be_visible()
    expect(page.get_by_role("button", name="scene.png", exact=True)).to_be_visible()
    _shot(page, "picture-refused")


def _choose_model(page: Page, name: str) -> None:
    page.locator(".st-key-model-panel button").first.click()
    page.get_by_role("combobox", name="Model").click()
    page.get_by_role("option", name=name).first.click()
    page.keyboard.press("Escape")
