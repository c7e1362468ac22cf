"""Counts the tokens that everything which happens in one context has models read and write."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType

from agents.answer import Usage
from agents.chat_model import ChatDelta, ChatMessage
from agents.token_count import estimate_tokens


class TokenMeter:
    """Tokens of prompts and replies so far, whatever they were for: answers, queries, second opinions, turns."""

    def __init__(self) -> None:
        self.tokens = 0


_METER: ContextVar[TokenMeter | None] = ContextVar("token_meter", default=None)


@contextmanager
def metering(meter: TokenMeter) -> Generator[None]:
    """Count into this meter what is asked of models from here on, by tasks that are begun here as well."""
    token = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(token)


class MeteredReply:
    """One reply of a model, counted when it ends; a context manager that outlives the yields of a generator.

    A reply that was broken off has no usage: its prompt and what was written are estimated. One that never began costs
    nothing.
    """

    def __init__(self, messages: Sequence[ChatMessage]) -> None:
        self._meter = _METER.get()
        self._messages = messages
        self._usage: Usage | None = None
        self._written: list[str] = []

    def __enter__(self) -> MeteredReply:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if self._meter is None:
            return
        if self._usage is not None:
            self._meter.tokens += self._usage.prompt_tokens + self._usage.completion_tokens
        elif self._written:
            texts = ("".join(self._written), *(message.content for message in self._messages))
            self._meter.tokens += sum(map(estimate_tokens, texts))

    def take(self, delta: ChatDelta) -> None:
        """Note a piece of the reply."""
        self._usage = delta.usage or self._usage
        calls = (f"{piece.name}{piece.arguments}" for piece in delta.tool_requests)
        self._written += filter(None, (delta.reasoning, delta.text, *calls))
