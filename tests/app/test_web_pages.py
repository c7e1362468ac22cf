from __future__ import annotations

from collections.abc import AsyncGenerator, Generator

import pytest

from app.web_pages import MAX_PAGE_BYTES, WebPages
from ingestion.settings import IngestionSettings, RemoteSettings
from tests.ingestion.web_server import Answer, WebServer, serve
from tools.builtin.fetch_url import fetch_url_tool
from tools.errors import ToolError
from tools.types import CallContext

CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")
HTML = {"Content-Type": "text/html; charset=iso-8859-1"}


@pytest.fixture
def server() -> Generator[WebServer]:
    with serve() as running:
        yield running


@pytest.fixture
async def pages() -> AsyncGenerator[WebPages]:
    reader = WebPages(IngestionSettings(), RemoteSettings(allow_private_addresses=True, timeout_seconds=60))
    yield reader
    await reader.close()


async def test_a_page_is_read_as_its_text(server: WebServer, pages: WebPages) -> None:
    body = "<title>Größen</title><h1>Größen</h1><p>Ein Limit von 512Mi.</p><script>alert(1)</script>"
    server.answers["/limits"] = Answer(body.encode("iso-8859-1"), headers=HTML)
    output = await fetch_url_tool(pages.read).function({"url": server.url("/limits")}, CONTEXT)
    assert output.text.startswith("Größen (http://")
    assert "Ein Limit von 512Mi." in output.text
    assert "alert" not in output.text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(b"nothing", status=404), "no such page"),
        (Answer(b"x" * (MAX_PAGE_BYTES + 1)), "larger|large"),
        (Answer(b"", headers=HTML), "empty"),
    ],
)
async def test_what_cannot_be_read_is_one_sentence_for_the_model(
    server: WebServer, pages: WebPages, answer: Answer, words: str
) -> None:
    server.answers["/page"] = answer
    with pytest.raises(ToolError, match=words):
        await pages.read(server.url("/page"))


async def test_a_private_address_is_refused_by_default(server: WebServer) -> None:
    reader = WebPages(IngestionSettings(), RemoteSettings())
    server.answers["/"] = Answer(b"secret")
    with pytest.raises(ToolError):
        await reader.read(server.url("/"))
    await reader.close()
    assert server.asked == []
