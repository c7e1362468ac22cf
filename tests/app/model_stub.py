"""A model server that answers well or badly, as its test tells it: OpenAI's wire over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Body: TypeAlias = Mapping[str, Any]
Reply: TypeAlias = Callable[[Body], Response]


def chunk(delta: Body | None = None, *, finish: str | None = None, usage: Body | None = None) -> bytes:
    """One event of a streamed reply."""
    choices = [] if usage else [{"index": 0, "delta": delta or {}, "finish_reason": finish}]
    value = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "stub", "choices": choices}
    return b"data: " + json.dumps(value | {"usage": usage}).encode() + b"\n\n"


USAGE = {
    "prompt_tokens": 40,
    "completion_tokens": 8,
    "total_tokens": 48,
    "prompt_tokens_details": {"cached_tokens": 30},
}
DONE = (chunk(finish="stop"), chunk(usage=USAGE), b"data: [DONE]\n\n")


def stream(*pieces: bytes, pause: float = 0.0) -> Reply:
    """A streamed reply of exactly these bytes."""

    async def sent() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
            await asyncio.sleep(pause)

    return lambda _: StreamingResponse(sent(), media_type="text/event-stream")


def words(text: str) -> Reply:
    """A good reply."""
    return stream(*(chunk({"content": f"{word} "}) for word in text.split()), *DONE)


def refusal(status: int, message: str = "not now") -> Reply:
    """An error of that status."""
    return lambda _: JSONResponse({"error": {"message": message, "type": "x", "code": status}}, status_code=status)


@dataclass
class ModelStub:
    """The server; ``replies`` are taken in turn, the last one again and again."""

    replies: list[Reply]
    name: str = "stub"
    bodies: list[Body] = field(default_factory=list[Body])
    listings: int = 0
    """Times that the models were asked for."""
    running: int = 0
    """Replies on their way now."""
    sees: bool = True
    """Whether it takes pictures."""

    @property
    def app(self) -> Starlette:
        """To be served."""
        return Starlette(
            routes=[
                Route("/v1/models", self._models),
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
            ]
        )

    async def _models(self, _request: Request) -> JSONResponse:
        self.listings += 1
        return JSONResponse({"object": "list", "data": [{"id": self.name, "owned_by": "vllm", "max_model_len": 4096}]})

    async def _complete(self, request: Request) -> Response:
        body = await request.json()
        if not self.sees and any(isinstance(message["content"], list) for message in body["messages"]):
            return refusal(400, "this model takes no pictures")(body)
        if body.get("max_tokens") == 1:
            return JSONResponse({"choices": []})
        self.bodies.append(body)
        reply = (self.replies.pop(0) if len(self.replies) > 1 else self.replies[0])(body)
        if isinstance(reply, StreamingResponse):
            reply.body_iterator = self._counted(reply.body_iterator)
        return reply

    async def _counted(self, pieces: Any) -> AsyncGenerator[bytes]:
        self.running += 1
        try:
            async for piece in pieces:
                yield piece
        finally:
            self.running -= 1
