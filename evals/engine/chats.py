"""One chat over OpenAI's wire, timed as its client sees it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from time import perf_counter
from typing import Any, NamedTuple

import httpx

from agents.chat_model import ChatMessage
from evals.errors import WorldUnusable

_TIMEOUT = httpx.Timeout(600.0, connect=10.0)


class Timed(NamedTuple):
    """A reply by the clock: seconds from sending to the first words and to the end, and the server's token counts."""

    reply_id: str
    """What the server calls it; the platform puts the id of the run behind the last ``-``."""
    first: float
    total: float
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int


def body_of(messages: Sequence[ChatMessage], *, model: str, max_tokens: int) -> dict[str, Any]:
    """A streamed request without chance in it."""
    return {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
        "max_tokens": max_tokens,
    }


def open_client(headers: Mapping[str, str]) -> httpx.AsyncClient:
    """A client for many chats; each has a connection of its own, as the platform's have."""
    return httpx.AsyncClient(headers={**headers, "Connection": "close"}, timeout=_TIMEOUT, trust_env=False)


async def timed_chat(client: httpx.AsyncClient, base_url: str, body: Mapping[str, Any]) -> Timed:
    """Send one request and read its reply to the end.

    Raises:
        WorldUnusable: It was refused, or ended without words.
    """
    began = perf_counter()
    first, reply_id = 0.0, ""
    usage: dict[str, Any] = {}
    async for piece in pieces(client, base_url, body):
        if "error" in piece:
            raise WorldUnusable(f"The chat failed: {piece['error'].get('message', piece['error'])}")
        usage, reply_id = piece.get("usage") or usage, piece.get("id") or reply_id
        if not first and any(choice["delta"].get("content") for choice in piece.get("choices", ())):
            first = perf_counter() - began
    if not first or not usage:
        raise WorldUnusable("The chat ended without words, or without a count of its tokens.")
    total = perf_counter() - began
    details: dict[str, int | None] = usage.get("prompt_tokens_details") or {}
    return Timed(
        reply_id=reply_id,
        first=first,
        total=total,
        prompt_tokens=usage["prompt_tokens"],
        cached_tokens=details.get("cached_tokens") or 0,
        completion_tokens=usage["completion_tokens"],
    )


async def pieces(client: httpx.AsyncClient, base_url: str, body: Mapping[str, Any]) -> AsyncGenerator[dict[str, Any]]:
    """The events of a streamed reply; leaving the iteration closes the connection."""
    async with client.stream("POST", f"{base_url}/chat/completions", json=dict(body)) as response:
        if response.is_error:
            told = (await response.aread()).decode(errors="replace")
            raise WorldUnusable(f"The chat was refused with {response.status_code}: {told[:300]}")
        async for line in response.aiter_lines():
            if line.startswith("data:") and not line.endswith("[DONE]"):
                yield json.loads(line[5:])
