from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable
from datetime import UTC, datetime

import pytest

from agents.events import RunEvent, RunFinished, Token
from app.client import ApiClient
from app.errors import ApiProblem, ApiUnreachable
from app.sse import parse_run_events, to_sse

_TRICKY = "line\nfeed\r and \u2028 separator, \x85 next line, data: \n\n event"


def _token(seq: int, text: str) -> Token:
    return Token(run_id="r", thread_id="t", seq=seq, at=datetime.now(UTC), text=text)


def _wire(event: RunEvent) -> bytes:
    sent = to_sse(event)
    return f": ping\n\nevent: {sent.event}\ndata: {sent.raw_data}\nid: {sent.id}\n\n".encode()


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
async def test_events_survive_the_wire_in_pieces_of_any_size(size: int) -> None:
    events = [_token(1, _TRICKY), _token(2, "plain")]
    wire = b"".join(map(_wire, events))
    pieces = (wire[start : start + size] for start in range(0, len(wire), size))
    assert [event async for event in parse_run_events(_stream(pieces))] == events


async def test_dropped_stream_is_taken_up_where_it_broke() -> None:
    events: list[RunEvent] = [_token(number, f"{number} ") for number in range(1, 5)]
    events.append(RunFinished(run_id="r", thread_id="t", seq=5, at=datetime.now(UTC), status="answered"))
    asked: list[int] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        after = int((await reader.readuntil(b"\r\n\r\n")).split(b"after=")[1].split(b" ")[0])
        asked.append(after)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
        for event in events[after : after + 2]:
            wire = _wire(event)
            writer.write(b"%x\r\n%b\r\n" % (len(wire), wire))
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, ApiClient(f"http://127.0.0.1:{port}") as client:
        assert [event async for event in client.events("r")] == events
    assert asked == [0, 2, 4]


async def test_api_that_is_not_there_is_one_sentence() -> None:
    async with ApiClient("http://127.0.0.1:1") as client:
        with pytest.raises(ApiUnreachable, match="groundwork up"):
            await client.status()


async def test_error_without_problem_document_is_still_a_problem() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 5\r\n\r\n<html")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, ApiClient(f"http://127.0.0.1:{port}") as client:
        with pytest.raises(ApiProblem) as refusal:
            await client.status()
    assert (refusal.value.problem.status, refusal.value.problem.code) == (502, "http_error")


async def _stream(pieces: Iterable[bytes]) -> AsyncGenerator[bytes]:
    for piece in pieces:
        yield piece
