from __future__ import annotations

from dataclasses import dataclass

import pytest

from tools.builtin.fetch_url import fetch_url_tool
from tools.errors import ToolError
from tools.policy import PolicyRule, decide
from tools.types import CallContext, Tool

CONTEXT = CallContext(thread_id="t", run_id="r", call_id="c")


@dataclass(frozen=True, slots=True)
class Page:
    url: str
    title: str
    text: str


def tool(fetched: list[str], body: str = "Release notes.") -> Tool:
    async def read_page(url: str) -> Page:
        fetched.append(url)
        if "10.0.0.1" in url:
            raise ToolError("The address is private; only public ones are fetched.")
        return Page(url, "Notes", body)

    return fetch_url_tool(read_page)


async def test_the_text_of_a_page_can_be_cited() -> None:
    output = await tool([]).function({"url": "https://example.org/notes"}, CONTEXT)
    assert output.text == "Notes (https://example.org/notes)\n\nRelease notes."
    assert output.structured == {
        "passages": [
            {
                "document_id": "",
                "chunk_id": "",
                "source": "https://example.org/notes",
                "title": "Notes",
                "section": "",
                "page": None,
                "char_start": 0,
                "char_end": 14,
                "text": "Release notes.",
            }
        ]
    }


async def test_a_long_page_is_read_in_pieces() -> None:
    long = tool([], "a" * 7000 + "b" * 10)
    first = await long.function({"url": "https://example.org"}, CONTEXT)
    second = await long.function({"url": "https://example.org", "start": 7000}, CONTEXT)
    assert "; go on with start=7000" in first.text
    assert second.text.endswith("\n\n" + "b" * 10)
    with pytest.raises(ToolError, match="7010 characters"):
        await long.function({"url": "https://example.org", "start": 9000}, CONTEXT)


@pytest.mark.parametrize(
    "url", ["", "example.org", "file:///etc/passwd", "ftp://example.org/a", "https://", "http://[", "javascript:x"]
)
async def test_what_is_no_web_address_is_never_fetched(url: str) -> None:
    fetched: list[str] = []
    with pytest.raises(ToolError, match="https://"):
        await tool(fetched).function({"url": url}, CONTEXT)
    assert fetched == []


async def test_an_address_with_a_password_is_never_fetched() -> None:
    fetched: list[str] = []
    with pytest.raises(ToolError, match="password"):
        await tool(fetched).function({"url": "https://ana:secret@example.org/"}, CONTEXT)
    assert fetched == []


async def test_the_words_of_a_refused_fetch_reach_the_model() -> None:
    with pytest.raises(ToolError, match="private"):
        await tool([]).function({"url": "http://10.0.0.1/"}, CONTEXT)
    with pytest.raises(ToolError, match="no text"):
        await tool([], "  \n").function({"url": "https://example.org"}, CONTEXT)


def test_a_fetch_is_egress_and_asked_for_beside_untrusted_text_whatever_the_rules_say() -> None:
    spec = tool([]).spec
    allowed = (PolicyRule(action="allow", tool="fetch_url"),)
    decided = decide(spec, {"url": "https://a.example"}, rules=allowed, grants=(), thread_id="t", tainted=True)
    assert (spec.risk, decided.action) == ("egress", "ask")
