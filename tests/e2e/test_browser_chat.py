"""The chat in a real browser, over the real API with its real store; the model alone is scripted, to be held."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from app.main import create_app
from app.settings import Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.fakes import GatedChatModel
from tests.ui.servers import Served, chromium, serve, streamlit
from ui.client import ApiClient, UploadFile

pytestmark = [pytest.mark.e2e, pytest.mark.browser]

PATIENCE_MS = 30_000
QUESTION = "Why did my pod restart? Last termination reason: OOMKilled"
FIRST = "A container that uses more memory than its limit is ended by the kernel with the reason OOMKilled."
SECOND = "The exit code of such a container is 137, which is 128 plus the number of the signal SIGKILL."
DOCUMENT = f"""# Pods that restart

## Out of memory

{FIRST} {SECOND}

Raise the memory limit, or find out why the container needs more than before.
"""


class Stage(NamedTuple):
    """Everything a test plays with."""

    browser: Browser
    api: Served
    url: str
    model: GatedChatModel


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stage]:
    folder = tmp_path_factory.mktemp("browser")
    model = GatedChatModel(f"{FIRST} {SECOND}")
    app = create_app(Settings(home_path=folder / "home"), embedder=HashingEmbedder(), chat_model=model)
    with serve(app) as api, streamlit(api.address, folder / "ui.log") as url, chromium() as browser:
        with ApiClient(api.address) as client:
            client.upload([UploadFile("pods.md", DOCUMENT.encode())], collection="default")
        yield Stage(browser, api, url, model)


@pytest.fixture
def page(stage: Stage) -> Generator[Page]:
    """A tab in a browser profile of its own; the model answers without waiting unless the test gates it."""
    context = stage.browser.new_context(viewport={"width": 1400, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=PATIENCE_MS)
    page = context.new_page()
    page.goto(stage.url)
    yield page
    stage.api.call(stage.model.release.set)
    context.close()
    stage.model.gated = False


@pytest.fixture
def gate(stage: Stage) -> None:
    """Have the model wait in the middle of its reply."""
    stage.api.call(stage.model.release.clear)
    stage.model.gated = True


def _ask(page: Page, question: str = QUESTION) -> None:
    page.get_by_test_id("stChatInputTextArea").fill(question)
    page.keyboard.press("Enter")


def _answer(page: Page) -> str:
    shown = page.get_by_test_id("stChatMessage").last.locator(".gw")
    return shown.filter(has_not=page.locator(".gw-budget")).first.inner_text()


@pytest.mark.usefixtures("gate")
def test_tokens_are_seen_before_the_answer_is_finished(page: Page, stage: Stage) -> None:
    _ask(page)

    expect(page.get_by_text("A container that uses more memory")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    assert SECOND not in _answer(page)
    stage.api.call(stage.model.release.set)
    expect(page.get_by_role("button", name="Source 1")).not_to_have_count(0)
    assert FIRST in _answer(page)
    assert SECOND in _answer(page)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.get_by_text("first token after")).to_be_visible()


def test_citation_shows_the_passage_with_the_quote_marked(page: Page) -> None:
    _ask(page)
    marker = page.get_by_role("button", name="Source 1").first

    marker.focus()
    page.keyboard.press("Enter")

    drawer = page.get_by_role("dialog")
    expect(drawer.locator("mark")).to_be_visible()
    assert drawer.locator("mark").inner_text() in DOCUMENT
    expect(drawer).to_contain_text("pods.md")
    expect(drawer).to_contain_text("Raise the memory limit")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_reload_finds_the_thread_again(page: Page) -> None:
    _ask(page)
    expect(page.get_by_role("button", name="Source 1")).not_to_have_count(0)
    answer = _answer(page)

    page.reload()

    expect(page.get_by_role("button", name="Source 1")).not_to_have_count(0)
    assert _answer(page) == answer


@pytest.mark.usefixtures("gate")
def test_reload_in_the_middle_goes_on_without_loss_and_without_repetition(page: Page, stage: Stage) -> None:
    _ask(page)
    expect(page.get_by_text("A container that uses more memory")).to_be_visible()

    page.reload()

    expect(page.get_by_text("A container that uses more memory")).to_be_visible()
    stage.api.call(stage.model.release.set)
    expect(page.get_by_role("button", name="Source 1")).not_to_have_count(0)
    assert _answer(page).count("A container that uses more memory") == 1
    assert SECOND in _answer(page)


@pytest.mark.usefixtures("gate")
def test_second_tab_follows_the_same_run(page: Page, stage: Stage) -> None:
    _ask(page)
    expect(page.get_by_text("A container that uses more memory")).to_be_visible()

    with page.context.new_page() as other:
        other.goto(page.url)
        expect(other.get_by_text("A container that uses more memory")).to_be_visible()
        stage.api.call(stage.model.release.set)
        for tab in (page, other):
            expect(tab.get_by_role("button", name="Source 1")).not_to_have_count(0)
        _ask(other, "And the exit code?")
        expect(page.get_by_text("And the exit code?")).to_be_visible()


@pytest.mark.usefixtures("gate")
def test_stop_ends_the_model_and_keeps_what_was_written(page: Page, stage: Stage) -> None:
    stopped = stage.model.stopped_early
    _ask(page)
    expect(page.get_by_text("A container that uses more memory")).to_be_visible()

    page.get_by_role("button", name="Stop").click()

    expect(page.get_by_text("Stopped before it was finished")).to_be_visible()
    expect(page.get_by_text("A container that uses more memory")).to_be_visible()
    assert stage.model.stopped_early == stopped + 1


@pytest.mark.usefixtures("gate")
def test_closed_tab_does_not_stop_the_answer(page: Page, stage: Stage) -> None:
    stopped = stage.model.stopped_early
    _ask(page)
    expect(page.get_by_text("A container that uses more memory")).to_be_visible()
    url = page.url

    page.close()
    stage.api.call(stage.model.release.set)

    with stage.browser.new_page() as later:
        later.goto(url)
        expect(later.get_by_role("button", name="Source 1")).not_to_have_count(0)
    assert stage.model.stopped_early == stopped


def test_question_that_no_document_answers_is_not_answered(page: Page) -> None:
    _ask(page, "Who won the 1998 football world cup?")

    expect(page.get_by_text("No answer")).to_be_visible()
    expect(page.get_by_text("Searched:")).to_be_visible()


def test_document_is_uploaded_read_and_deleted(page: Page, stage: Stage, tmp_path: Path) -> None:
    note = tmp_path / "probes.md"
    note.write_text("# Probes\n\nA liveness probe that fails restarts the container.\n")
    page.get_by_role("link", name="Documents").click()
    page.get_by_text("Add documents").click()
    page.locator("input[type=file]").set_input_files(note)
    expect(page.get_by_role("button", name="Remove probes.md")).to_be_visible()
    page.get_by_test_id("stBaseButton-primaryFormSubmit").click()
    expect(page.get_by_text("probes.md indexed: 1 passage")).to_be_visible()

    chooser = page.get_by_role("combobox", name="Open a document")
    expect(chooser).to_have_attribute("placeholder", "Choose one of 2 documents, or a row of the table")
    # At the edge of the window the list would open and close again with the scrolling of the click.
    chooser.evaluate("chooser => chooser.scrollIntoView({block: 'center'})")
    chooser.click()
    page.get_by_role("option", name="Probes").click()
    expect(page.get_by_text("A liveness probe that fails restarts the container.").first).to_be_visible()
    page.get_by_role("button", name="Delete document").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(page.get_by_text("Deleted upload:probes.md; 0 passages of it left in the store")).to_be_visible()
    with ApiClient(stage.api.address) as client:
        assert [record.title for record in client.documents()] == ["Pods that restart"]
