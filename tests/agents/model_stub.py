"""A model server that sends what a test tells it to, and chat models in front of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agents.openai_chat import OpenAIChatModel

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


OpenModel = Callable[..., OpenAIChatModel]
