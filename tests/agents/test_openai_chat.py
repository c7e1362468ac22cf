from __future__ import annotations

import asyncio
import json
import socket

import pytest

from agents.answer import Usage
from agents.chat_model import ChatDelta, ChatMessage, Image, Sampling, ToolRequestDelta
from agents.errors import AgentError, ModelRefused, ModelTimeout, ModelUnavailable
from agents.openai_chat import OpenAIChatModel
from tests.agents.model_stub import WHOLE, OpenModel, Stub, event

HELLO = (ChatMessage("user", "hello"),)


async def read(model: OpenAIChatModel, sampling: Sampling | None = None) -> list[ChatDelta]:
    return [delta async for delta in model.stream(HELLO, sampling or Sampling())]


async def test_reply_comes_piece_by_piece_and_ends_with_usage(stub: Stub, open_model: OpenModel) -> None:
    deltas = await read(open_model())

    assert deltas == [
        ChatDelta(text="Hel"),
        ChatDelta(text="lo"),
        ChatDelta(usage=Usage(prompt_tokens=7, completion_tokens=2, cached_tokens=5), finish_reason="stop"),
    ]


async def test_request_carries_sampling_and_asks_for_usage(stub: Stub, open_model: OpenModel) -> None:
    await read(open_model(), Sampling(temperature=0.3, top_p=None, max_tokens=9, seed=1, stop=("END",)))

    path, body = stub.requests[0]
    assert path == "/v1/chat/completions"
    assert body == {
        "model": "small",
        "messages": [{"role": "user", "content": "hello"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.3,
        "max_tokens": 9,
        "seed": 1,
        "stop": ["END"],
    }


async def test_address_is_asked_for_every_request(stub: Stub, open_model: OpenModel) -> None:
    asked: list[str] = []

    async def base_url() -> str:
        asked.append(stub.base_url)
        return stub.base_url

    model = open_model(base_url)
    await read(model)
    await read(model)

    assert len(asked) == 2


@pytest.mark.parametrize(
    ("status", "error", "sentence"),
    [
        (503, ModelUnavailable, "loading or overloaded"),
        (429, ModelUnavailable, "ask again"),
        (500, ModelUnavailable, "status 500"),
        (401, ModelRefused, r"model\.api_key"),
        (404, ModelRefused, r"model\.name"),
        (400, ModelRefused, "too many tokens"),
    ],
)
async def test_status_becomes_one_sentence(
    stub: Stub, open_model: OpenModel, status: int, error: type[AgentError], sentence: str
) -> None:
    stub.status = status
    stub.pieces = [b'{"error": {"message": "too many tokens", "type": "x", "code": 1}}']

    with pytest.raises(error, match=sentence):
        await read(open_model())
    assert len(stub.requests) == 1


async def test_server_that_does_not_run_is_unavailable(open_model: OpenModel, unused_tcp_port: int) -> None:
    model = open_model(f"http://127.0.0.1:{unused_tcp_port}/v1")

    with pytest.raises(ModelUnavailable, match=r"model\.base_url"):
        await read(model)
    with pytest.raises(ModelUnavailable, match=r"model\.base_url"):
        await model.check()


async def test_server_that_takes_no_connection_is_waited_for_so_long(open_model: OpenModel) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        # The one place in its queue is taken, and nobody accepts.
        with socket.create_connection(listener.getsockname()):
            model = open_model(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", connect=0.2)

            with pytest.raises(ModelUnavailable, match=r"took no connection within 0\.2 s"):
                await read(model)


async def test_server_that_hangs_up_has_not_kept_anybody_waiting(open_model: OpenModel) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        model = open_model(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")

        with pytest.raises(ModelUnavailable, match="cannot be reached or broke off"):
            await read(model)
        with pytest.raises(ModelUnavailable, match="cannot be reached or broke off"):
            await model.check()


@pytest.mark.parametrize("pieces", [1, 2])
async def test_reply_that_breaks_off_is_not_taken_for_whole(stub: Stub, open_model: OpenModel, pieces: int) -> None:
    stub.pieces = WHOLE[:pieces]
    reply = open_model().stream(HELLO, Sampling())

    received = [(await anext(reply)).text for _ in range(pieces)]

    assert received == ["Hel", "lo"][:pieces]
    with pytest.raises(ModelUnavailable, match="broke off"):
        await anext(reply)


async def test_reply_cut_inside_an_event_is_not_taken_for_whole(stub: Stub, open_model: OpenModel) -> None:
    stub.pieces = [WHOLE[0], WHOLE[1][:20]]

    with pytest.raises(ModelUnavailable):
        await read(open_model())


async def test_nonsense_in_the_stream_is_unavailable(stub: Stub, open_model: OpenModel) -> None:
    stub.pieces = [b"data: <html>\n\n"]

    with pytest.raises(ModelUnavailable, match="something else than a chat reply"):
        await read(open_model())


@pytest.mark.parametrize(
    "chunk",
    [
        '["no", "chunk"]',
        '"text"',
        '{"choices": "text"}',
        '{"choices": [{"delta": {"content": {"text": "hello"}}}]}',
        '{"choices": [{"delta": {"content": 5}}]}',
        '{"choices": [{"delta": {"tool_calls": [{"index": "first"}]}}]}',
        '{"choices": [], "usage": {"prompt_tokens": "many"}}',
    ],
)
async def test_chunk_of_another_shape_is_unavailable(stub: Stub, open_model: OpenModel, chunk: str) -> None:
    stub.pieces = [WHOLE[0], f"data: {chunk}\n\n".encode(), *WHOLE[1:]]

    with pytest.raises(ModelUnavailable, match="something else than a chat reply"):
        await read(open_model())


async def test_null_and_unknown_fields_of_a_chunk_say_nothing(stub: Stub, open_model: OpenModel) -> None:
    null = {"choices": None, "usage": None, "timings": {"prompt_ms": 3}}
    empty = {"choices": [{"delta": None, "logprobs": None}], "usage": {"prompt_tokens_details": None}}
    stub.pieces = [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in (null, empty)), *WHOLE]

    deltas = await read(open_model())

    assert "".join(delta.text for delta in deltas) == "Hello"
    assert deltas[-1].usage == Usage(prompt_tokens=7, completion_tokens=2, cached_tokens=5)


async def test_pieces_of_calls_and_thoughts_are_told_apart(stub: Stub, open_model: OpenModel) -> None:
    call = {"index": 1, "id": "c", "function": {"name": "look", "arguments": None}}
    rest = {"index": 1, "function": {"arguments": "{}"}}
    sent = [{"reasoning_content": "hm"}, {"reasoning": "so"}, {"tool_calls": [call]}, {"tool_calls": [rest]}]
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in sent]
    stub.pieces = [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), *WHOLE[2:]]

    deltas = await read(open_model())

    assert [delta.reasoning for delta in deltas[:2]] == ["hm", "so"]
    assert [delta.tool_requests for delta in deltas[2:4]] == [
        (ToolRequestDelta(1, "c", "look", ""),),
        (ToolRequestDelta(1, "", "", "{}"),),
    ]


async def test_error_event_in_the_stream_is_unavailable(stub: Stub, open_model: OpenModel) -> None:
    stub.pieces = [WHOLE[0], b'data: {"error": {"message": "out of memory", "code": 500}}\n\n']

    with pytest.raises(ModelUnavailable, match="out of memory"):
        await read(open_model())


@pytest.mark.parametrize("sent", [0, 1])
async def test_server_that_falls_silent_times_out(stub: Stub, open_model: OpenModel, sent: int) -> None:
    stub.hold_after = sent

    with pytest.raises(ModelTimeout, match="token_timeout" if sent else "first_token_timeout"):
        await read(open_model(first_token=0.3, between_tokens=0.1))
    await asyncio.wait_for(stub.client_left.wait(), 10)


async def test_address_that_never_comes_times_out(open_model: OpenModel) -> None:
    async def base_url() -> str:
        await asyncio.Event().wait()
        return ""

    with pytest.raises(ModelTimeout):
        await read(open_model(base_url, first_token=0.05))


async def test_closing_the_reply_hangs_up(stub: Stub, open_model: OpenModel) -> None:
    stub.hold_after = 1
    reply = open_model().stream(HELLO, Sampling())
    assert (await anext(reply)).text == "Hel"

    await reply.aclose()

    await asyncio.wait_for(stub.client_left.wait(), 10)


async def test_cancelling_the_reader_hangs_up(stub: Stub, open_model: OpenModel) -> None:
    stub.hold_after = 0
    task = asyncio.create_task(read(open_model()))
    await stub.arrived.wait()

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.wait_for(stub.client_left.wait(), 10)


async def test_pictures_go_out_as_parts_before_the_words(stub: Stub, open_model: OpenModel) -> None:
    told = (
        ChatMessage("system", "rules"),
        ChatMessage("user", "What is this?", images=(Image("image/png", b"\x89P"),)),
    )

    assert [delta async for delta in open_model().stream(told, Sampling())]

    assert stub.requests[-1][1]["messages"] == [
        {"role": "system", "content": "rules"},
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVA="}},
                {"type": "text", "text": "What is this?"},
            ],
        },
    ]


@pytest.mark.parametrize("known", [False, True])
async def test_server_that_is_known_to_tell_is_asked_how_far_it_has_read(
    stub: Stub, open_model: OpenModel, known: bool
) -> None:
    told = json.loads(event().removeprefix(b"data: ")) | {"prompt_progress": {"total": 9, "cache": 0, "processed": 4}}
    stub.pieces.insert(0, b"data: " + json.dumps(told).encode() + b"\n\n")
    deltas = [delta async for delta in open_model(llama_cpp=known).stream(HELLO, Sampling())]
    ((_, body),) = stub.requests
    assert body.get("return_progress") is (True if known else None)
    assert "".join(delta.text for delta in deltas) == "Hello"
