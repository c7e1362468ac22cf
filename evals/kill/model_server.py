"""A model server with a fixed mind behind the OpenAI wire: it presses the button of the question, then says so.

python -m evals.kill.model_server PORT
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import StreamingResponse

LABEL = re.compile(r"button-[0-9a-f]+")
PIECE_SECONDS = 0.02


def build() -> FastAPI:
    """The application."""
    app = FastAPI()

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": "scripted", "object": "model"}]}

    @app.post("/v1/chat/completions")
    async def complete(request: Request) -> StreamingResponse:
        body = await request.json()
        return StreamingResponse(_pieces(body["messages"]), media_type="text/event-stream")

    return app


async def _pieces(messages: list[dict[str, Any]]) -> AsyncGenerator[str]:
    asked = next(str(message["content"]) for message in reversed(messages) if message["role"] == "user")
    label = LABEL.findall(asked)[-1]
    results = [message for message in messages if message["role"] == "tool"]
    if not results:
        function = {"name": "counter__press", "arguments": json.dumps({"label": label})}
        call = {"index": 0, "id": "functions.counter__press:0", "type": "function", "function": function}
        yield _chunk({"tool_calls": [call]})
    else:
        for word in str(results[-1]["content"]).split(" "):
            await asyncio.sleep(PIECE_SECONDS)
            yield _chunk({"content": word + " "})
    yield _chunk({}, finish="stop")
    yield "data: [DONE]\n\n"


def _chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "scripted", "choices": [choice]}
    return f"data: {json.dumps(chunk)}\n\n"


if __name__ == "__main__":
    uvicorn.run(build(), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
