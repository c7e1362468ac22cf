"""Groundwork as an MCP server, read by a real MCP client over both protocols, and as a program."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.server import Server
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolResult, TextContent, TextResourceContents

from app.client import ApiClient
from app.mcp_server.server import build_server
from tests.app.conftest import ended
from tests.tools.mcp.servers import serve_http

PROGRAM = """
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from app.mcp_server.run import serve_stdio
from app.serve import serve_embedded
from app.settings import Settings
from retrieval.embedders.hashing import HashingEmbedder
from tests.fakes import GatedChatModel

@asynccontextmanager
async def connect(settings):
    print("a stray word on standard output")
    async with serve_embedded(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")) as client:
        yield client

serve_stdio(Settings(home_path=Path(sys.argv[1])), connect)
"""


MODES = ("auto", "legacy")


def serving(api: ApiClient, *, collections: tuple[str, ...] = (), page_size: int = 100) -> Server[Any]:
    @asynccontextmanager
    async def clients() -> AsyncGenerator[ApiClient]:
        yield api

    return build_server(clients, collections=collections, page_size=page_size)


@pytest.fixture
async def stocked(api: ApiClient, handbook: Path) -> ApiClient:
    await ended(api, await api.upload([handbook], collection="ops"))
    return api


def said(result: CallToolResult) -> str:
    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


async def test_every_tool_says_that_it_only_reads_and_what_it_returns(api: ApiClient) -> None:
    async with Client(serving(api)) as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == ["search", "ask", "read_document"]
    for tool in tools:
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        assert tool.output_schema is not None
        Draft202012Validator.check_schema(tool.input_schema)
        Draft202012Validator.check_schema(tool.output_schema)


@pytest.mark.parametrize("mode", MODES)
async def test_documents_are_searched_read_and_listed(stocked: ApiClient, mode: str) -> None:
    [record] = (await stocked.documents()).documents
    whole = (await stocked.document_text(record.document_id)).text
    async with Client(serving(stocked), mode=mode) as client:
        found = await client.call_tool("search", {"query": "exit code 137", "limit": 1})
        assert found.structured_content is not None
        assert found.structured_content == json.loads(said(found))
        [passage] = found.structured_content["passages"]
        assert "OOMKilled" in passage["text"]
        assert passage["uri"] == f"groundwork://documents/{record.document_id}"

        arguments = {"document_id": record.document_id, "start": 2, "max_chars": 10}
        piece = (await client.call_tool("read_document", arguments)).structured_content
        assert piece is not None
        assert (piece["text"], piece["char_start"], piece["char_end"]) == (whole[2:12], 2, 12)
        assert piece["total_chars"] == len(whole)

        [resource] = (await client.list_resources()).resources
        assert (resource.title, resource.mime_type) == ("Memory limits", "text/plain")
        [template] = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "groundwork://documents/{document_id}"
        [content] = (await client.read_resource(str(resource.uri))).contents
        assert isinstance(content, TextResourceContents)
        assert content.text == whole


@pytest.mark.parametrize("mode", MODES)
async def test_ask_returns_checked_claims_and_leaves_no_conversation_behind(stocked: ApiClient, mode: str) -> None:
    heard: list[str | None] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message)

    question = {"question": "What is the exit code of a container that was OOMKilled?"}
    async with Client(serving(stocked), mode=mode) as client:
        result = (await client.call_tool("ask", question, progress_callback=hear)).structured_content
    assert result is not None
    assert result["status"] == "answered"
    [claim] = result["claims"]
    assert claim["verdict"] == "verified"
    assert result["citations"][0]["quote"] == "Its last state is OOMKilled with exit code 137."
    assert "hits found" in heard
    assert (await stocked.threads()).threads == []


@pytest.mark.parametrize("mode", MODES)
async def test_what_cannot_be_done_is_said_in_one_sentence(stocked: ApiClient, mode: str) -> None:
    wrong: list[tuple[str, dict[str, object], str]] = [
        ("search", {}, "query: Field required."),
        ("search", {"query": "x", "limit": 0}, "limit: Input should be greater than or equal to 1."),
        ("search", {"query": "x", "nope": 1}, "nope: Extra inputs are not permitted."),
        ("read_document", {"document_id": "none"}, "There is no document 'none'"),
        ("search", {"query": "x", "collections": ["none"]}, "No document is in the collection 'none'"),
    ]
    async with Client(serving(stocked), mode=mode) as client:
        for tool, arguments, sentence in wrong:
            result = await client.call_tool(tool, arguments)
            assert result.is_error
            assert said(result).startswith(sentence)
        for uri in ("groundwork://documents/none", "groundwork://other/x", "file:///etc/passwd"):
            with pytest.raises(MCPError) as refusal:
                await client.read_resource(uri)
            assert refusal.value.code == INVALID_PARAMS
        with pytest.raises(MCPError, match="Unknown tool: drop"):
            await client.call_tool("drop", {})
        with pytest.raises(MCPError, match="Unknown cursor"):
            await client.list_resources(cursor="x")


async def test_only_the_chosen_collections_are_shown(stocked: ApiClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("# Secret\n\nThe exit code of the vault is 137.\n", encoding="utf-8")
    await ended(stocked, await stocked.upload([secret], collection="private"))
    hidden = (await stocked.documents(collection="private")).documents[0].document_id
    async with Client(serving(stocked, collections=("ops",))) as client:
        found = (await client.call_tool("search", {"query": "exit code 137"})).structured_content
        assert found is not None
        assert {passage["title"] for passage in found["passages"]} == {"Memory limits"}
        assert len((await client.list_resources()).resources) == 1
        assert (await client.call_tool("read_document", {"document_id": hidden})).is_error
        assert (await client.call_tool("search", {"query": "x", "collections": ["private"]})).is_error
        with pytest.raises(MCPError):
            await client.read_resource(f"groundwork://documents/{hidden}")


async def test_resources_come_in_pages(stocked: ApiClient, tmp_path: Path) -> None:
    for number in range(2):
        path = tmp_path / f"{number}.md"
        path.write_text(f"# Note {number}\n\nText {number}.\n", encoding="utf-8")
        await ended(stocked, await stocked.upload([path]))
    async with Client(serving(stocked, page_size=2)) as client:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
    assert (len(first.resources), len(second.resources), second.next_cursor) == (2, 1, None)
    assert len({str(item.uri) for item in [*first.resources, *second.resources]}) == 3


async def test_it_is_served_over_http_on_loopback_and_foreign_hosts_are_refused(stocked: ApiClient) -> None:
    async with serve_http(serving(stocked).streamable_http_app(host="127.0.0.1")) as address:
        async with Client(f"{address}/mcp") as client:
            assert len((await client.list_tools()).tools) == 3
        async with httpx.AsyncClient() as http:
            for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}):
                refused = await http.post(f"{address}/mcp", json={}, headers=headers)
                assert refused.status_code in (403, 421)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_as_a_program_it_writes_nothing_but_the_protocol(tmp_path: Path, mode: str) -> None:
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-c", PROGRAM, str(tmp_path / "home")],
        cwd=Path(__file__).parents[2],
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    async with Client(parameters, mode=mode) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "ask", "read_document"]
        found = await client.call_tool("search", {"query": "anything"})
        assert found.structured_content == {"passages": []}
