"""Servers behind a URL: headers, restarts, refusals and logins."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tests.tools.mcp.notes_server import build_server
from tests.tools.mcp.servers import CONTEXT, connect, free_port, serve_http, tools_of
from tests.tools.mcp.test_questions import Person
from tools.errors import OutcomeUnknown, ServerUnavailable, ToolError
from tools.mcp.catalog import list_tools
from tools.mcp.config import McpServerConfig, ProtocolMode

MODES: tuple[ProtocolMode, ...] = ("auto", "legacy")


def http_config(address: str, **fields: object) -> McpServerConfig:
    return McpServerConfig.model_validate({"url": f"{address}/mcp", "trusted": True, **fields})


@pytest.fixture
def app(tmp_path: Path) -> ASGIApp:
    return build_server(tmp_path / "notes.txt").streamable_http_app()


@pytest.mark.parametrize("mode", MODES)
async def test_tools_are_called_over_http(app: ASGIApp, tmp_path: Path, mode: ProtocolMode) -> None:
    async with serve_http(app) as address:
        config = http_config(address, protocol=mode)
        async with connect("notes", config, tmp_path, broker=Person("accept", {"colour": "red"})) as connection:
            tools = await tools_of(connection, config)
            assert (await tools["add_note"].function({"text": "far"}, CONTEXT)).text == "added"
            assert (await tools["paint"].function({}, CONTEXT)).text == "painted dark red"
            with pytest.raises(ToolError, match="read-only today"):
                await tools["fail"].function({}, CONTEXT)


@pytest.mark.parametrize("mode", MODES)
async def test_a_restarted_server_is_found_again(tmp_path: Path, mode: ProtocolMode) -> None:
    port = free_port()
    config = http_config(f"http://127.0.0.1:{port}", protocol=mode)
    async with connect("notes", config, tmp_path) as connection:
        async with serve_http(build_server(tmp_path / "notes.txt").streamable_http_app(), port=port):
            tools = await tools_of(connection, config)
        with pytest.raises(ToolError, match="cannot be reached") as refusal:
            await tools["add_note"].function({"text": "lost"}, CONTEXT)
        assert not isinstance(refusal.value, OutcomeUnknown)
        async with serve_http(build_server(tmp_path / "notes.txt").streamable_http_app(), port=port):
            connection.retry_now()
            assert (await tools["add_note"].function({"text": "kept"}, CONTEXT)).text == "added"
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "kept\n"


async def test_a_session_that_the_server_forgot_is_opened_anew_within_the_call(tmp_path: Path) -> None:
    port = free_port()
    config = http_config(f"http://127.0.0.1:{port}", protocol="legacy")
    async with connect("notes", config, tmp_path) as connection:
        async with serve_http(build_server(tmp_path / "notes.txt").streamable_http_app(), port=port):
            tools = await tools_of(connection, config)
        async with serve_http(build_server(tmp_path / "notes.txt").streamable_http_app(), port=port):
            assert (await tools["add_note"].function({"text": "once"}, CONTEXT)).text == "added"
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "once\n"


@pytest.mark.parametrize("mode", MODES)
async def test_a_connection_cut_mid_call_leaves_the_outcome_unknown(tmp_path: Path, mode: ProtocolMode) -> None:
    app = build_server(tmp_path / "notes.txt").streamable_http_app()
    port = free_port()
    config = http_config(f"http://127.0.0.1:{port}", protocol=mode)
    async with connect("notes", config, tmp_path) as connection:
        async with serve_http(app, port=port):
            tools = await tools_of(connection, config)
            call = asyncio.ensure_future(tools["hang"].function({}, CONTEXT))
            await asyncio.sleep(0.3)
        async with asyncio.timeout(10):
            with pytest.raises(OutcomeUnknown):
                await call


async def test_headers_are_sent_and_a_missing_login_is_one_sentence(app: ASGIApp, tmp_path: Path) -> None:
    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != b"Bearer s3":
            await Response(status_code=401)(scope, receive, send)
        else:
            await app(scope, receive, send)

    async with serve_http(guarded) as address:
        allowed = http_config(address, headers={"Authorization": "Bearer s3"})
        async with connect("guarded", allowed, tmp_path) as connection:
            assert await list_tools(connection)
        async with connect("guarded", http_config(address), tmp_path) as connection:
            with pytest.raises(ServerUnavailable, match="run groundwork mcp login guarded"):
                await list_tools(connection)


@pytest.mark.parametrize("status", [403, 404, 500])
async def test_an_address_that_is_no_mcp_server_is_one_sentence(tmp_path: Path, status: int) -> None:
    async def refuse(_request: Request) -> Response:
        return Response("<html>", status_code=status)

    app = Starlette(routes=[Route("/mcp", refuse, methods=["GET", "POST"])])
    async with (
        serve_http(app) as address,
        connect("web", http_config(address), tmp_path) as connection,
    ):
        with pytest.raises(ServerUnavailable, match="MCP server 'web' cannot be reached"):
            await list_tools(connection)


async def test_a_port_where_nobody_listens_is_one_sentence(tmp_path: Path) -> None:
    async with connect("gone", http_config(f"http://127.0.0.1:{free_port()}"), tmp_path) as connection:
        with pytest.raises(ServerUnavailable, match="MCP server 'gone' cannot be reached"):
            await list_tools(connection)
