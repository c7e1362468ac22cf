from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from agents.answer import Usage
from agents.chat_model import ChatDelta, ChatMessage, Image, Sampling, ToolRequestDelta
from agents.errors import AgentError, ModelRefused, ModelTimeout, ModelUnavailable
from agents.openai_chat import OpenAIChatModel, TimeLimits

HELLO = (ChatMessage("user", "hello"),)
USAGE = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9, "prompt_tokens_details": {"cached_tokens": 5}}


def event(*, text: str | None = None, finish: str | None = None, usage: Mapping[str, Any] | None = None) -> bytes:
    choice = {"index": 0, "delta": {"content": text} if text is not None else {}, "finish_reason": finish}
    chunk = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "small",
        "choices": [] if usage else [choice],
        "usage": usage,
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


WHOLE = [event(text="Hel"), event(text="lo"), event(finish="stop"), event(usage=USAGE), b"data: [DONE]\n\n"]


@dataclass
class Stub:
    """A model server that sends what a test tells it to."""

    base_url: str = ""
    status: int = 200
    pieces: list[bytes] = field(default_factory=lambda: list(WHOLE))
    refuses_many: bool = False
    """Answers 400 where it is asked about several texts at once."""
    hold_after: int | None = None
    """Sends so many pieces and then nothing, until the client has gone."""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    client_left: asyncio.Event = field(default_factory=asyncio.Event)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next((int(line[15:]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
        body: dict[str, Any] = json.loads(await reader.readexactly(length)) if length else {}
        self.requests.append((head.split()[1], body))
        self.arrived.set()
        status = 400 if self.refuses_many and isinstance(body.get("content"), list) else self.status
        kind = "text/event-stream" if status == 200 and self.pieces[:1] != [b"{"] else "application/json"
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nConnection: close\r\n\r\n".encode())
        for piece in self.pieces[: self.hold_after]:
            writer.write(piece)
        await writer.drain()
        if self.hold_after is not None:
            await reader.read()
            self.client_left.set()
        writer.close()
        await writer.wait_closed()


@pytest.fixture
async def stub() -> AsyncGenerator[Stub]:
    stub = Stub()
    server = await asyncio.start_server(stub.answer, "127.0.0.1", 0)
    async with server:
        stub.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        yield stub


OpenModel = Callable[..., OpenAIChatModel]


@pytest.fixture
async def open_model(stub: Stub) -> AsyncGenerator[OpenModel]:
    models: list[OpenAIChatModel] = []

    def opened(
        base_url: str | Callable[[], Awaitable[str]] | None = None, *, llama_cpp: bool = False, **limits: float
    ) -> OpenAIChatModel:
        model = OpenAIChatModel(
            base_url or stub.base_url,
            name="small",
            context_tokens=4096,
            api_key="secret",
            limits=TimeLimits(**limits),
            llama_cpp=lambda: llama_cpp,
        )
        models.append(model)
        return model

    yield opened
    for model in models:
        await model.aclose()


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


@pytest.mark.parametrize(
    "answer", [{"tokens": [1, 2, 3]}, {"count": 3, "max_model_len": 4096, "tokens": [1, 2, 3], "token_strs": None}]
)
async def test_tokens_are_counted_by_llama_cpp_and_by_vllm(
    stub: Stub, open_model: OpenModel, answer: dict[str, Any]
) -> None:
    stub.pieces = [b"{", json.dumps(answer).encode()[1:]]

    assert await open_model().count_tokens(["some text", "more"]) == [3, 3]
    assert {path for path, _ in stub.requests} == {"/tokenize"}
    assert stub.requests[0][1] == {
        "model": "small",
        "prompt": "some text",
        "content": "some text",
        "add_special_tokens": False,
    }


async def test_llama_cpp_counts_all_texts_in_one_request(stub: Stub, open_model: OpenModel) -> None:
    stub.pieces = [b"{", b'"tokens": [5, 6, 7, -1, -1, 8, -1]}']
    model = open_model(llama_cpp=True)

    assert await model.count_tokens(["three of them", "", "one"]) == [3, 0, 1]
    assert await model.count_tokens(["one"]) == [1]
    assert await model.count_tokens([]) == []

    assert stub.requests == [("/tokenize", {"content": ["three of them", -1, "", -1, "one", -1]})]


async def test_older_llama_cpp_is_asked_text_by_text(stub: Stub, open_model: OpenModel) -> None:
    stub.refuses_many = True
    stub.pieces = [b"{", b'"tokens": [5, 6, 7]}']
    model = open_model(llama_cpp=True)

    assert await model.count_tokens(["three of them"]) == [3]
    assert await model.count_tokens(["three again"]) == [3]

    assert [body["content"] for _, body in stub.requests] == [["three of them", -1], "three of them", "three again"]


@pytest.mark.parametrize("tokens", ["[5, 6]", "[5, -1, 6]", "[5, -1, 6, -1, -1]"])
async def test_counts_without_their_borders_are_estimated(stub: Stub, open_model: OpenModel, tokens: str) -> None:
    stub.pieces = [b"{", f'"tokens": {tokens}}}'.encode()]

    assert await open_model(llama_cpp=True).count_tokens(["pod", "node"]) == [1, 2]


async def test_text_is_counted_once(stub: Stub, open_model: OpenModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.token_count._KEPT", 2)
    stub.pieces = [b"{", b'"tokens": [1, 2, 3]}']
    model = open_model()

    assert await model.count_tokens(["one", "other", "one"]) == [3, 3, 3]
    assert await model.count_tokens(["other", "third"]) == [3, 3]
    assert await model.count_tokens(["one"]) == [3]

    assert [body["content"] for _, body in stub.requests] == ["one", "other", "third", "one"]


async def test_server_without_a_tokenizer_is_asked_once(stub: Stub, open_model: OpenModel) -> None:
    stub.status = 404
    stub.pieces = [b"{}"]
    model = open_model()

    first = await model.count_tokens(["kernel kills 137"])
    again = await model.count_tokens(["kernel kills 137", ""])

    assert first == [7]
    assert again == [7, 0]
    assert len(stub.requests) == 1


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
