"""Chunks of a streamed chat reply, checked as they come: a server that sends something else is found out at once.

OpenAI's own types are built unchecked, which takes 0.11 ms a chunk on a slow core where this takes 0.005.
"""

from __future__ import annotations

from pydantic import BaseModel, TypeAdapter

from agents.answer import Usage
from agents.chat_model import ChatDelta, ToolRequestDelta


class _Function(BaseModel):
    name: str | None = None
    arguments: str | None = None


class _ToolCall(BaseModel):
    index: int = 0
    id: str | None = None
    function: _Function | None = None


class _Delta(BaseModel):
    content: str | None = None
    reasoning: str | None = None
    """Thoughts, as newer vLLM calls them."""
    reasoning_content: str | None = None
    """Thoughts, as llama.cpp and older vLLM call them."""
    tool_calls: tuple[_ToolCall, ...] | None = None


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _CachedTokens(BaseModel):
    cached_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _CachedTokens | None = None


class _Chunk(BaseModel):
    choices: tuple[_Choice, ...] | None = None
    usage: _Usage | None = None


_CHUNKS = TypeAdapter(_Chunk)


class Ending:
    """What a stream says beside its text."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.finish_reason: str | None = None

    def take(self, data: object) -> ChatDelta:
        """Keep usage and finish reason of a chunk, and return its text and pieces of calls.

        Raises:
            ValueError: The chunk is none.
        """
        chunk = _CHUNKS.validate_python(data)
        if chunk.usage:
            self.usage = _usage(chunk.usage)
        text = reasoning = ""
        requests: list[ToolRequestDelta] = []
        for choice in chunk.choices or ():
            self.finish_reason = choice.finish_reason or self.finish_reason
            if delta := choice.delta:
                text += delta.content or ""
                reasoning += delta.reasoning_content or delta.reasoning or ""
                requests += map(_request, delta.tool_calls or ())
        return ChatDelta(text=text, reasoning=reasoning, tool_requests=tuple(requests))


def _request(piece: _ToolCall) -> ToolRequestDelta:
    function = piece.function or _Function()
    return ToolRequestDelta(piece.index, piece.id or "", function.name or "", function.arguments or "")


def _usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details
    return Usage(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        cached_tokens=(details.cached_tokens or 0) if details else 0,
    )
