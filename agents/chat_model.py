"""What the graph needs from a chat model. Implementations: agents/openai_chat.py, agents/testing.py."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from agents.answer import Usage

Role: TypeAlias = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn. None leaves a value to the server."""

    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 512
    seed: int | None = None
    stop: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of a streamed reply; the last piece carries the usage and has no text."""

    text: str = ""
    usage: Usage | None = None
    finish_reason: str | None = None


class ChatModel(Protocol):
    """A chat model behind an OpenAI-compatible wire."""

    @property
    def name(self) -> str:
        """Model name as sent on the wire."""
        ...

    @property
    def context_tokens(self) -> int:
        """Length of the context window in the model's tokens."""
        ...

    def stream(self, messages: Sequence[ChatMessage], sampling: Sampling) -> AsyncIterator[ChatDelta]:
        """Reply piece by piece. Closing the iterator or cancelling the task stops the server's work.

        Raises:
            ModelUnavailable: The server cannot be reached or is loading.
            ModelTimeout: No piece came within the time limit.
            ModelRefused: The server rejected the request.
        """
        ...

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's tokens; exact where the server has a tokenizer, else an upper estimate."""
        ...

    async def check(self) -> None:
        """Return when the server is ready to answer; raises ``ModelUnavailable`` otherwise."""
        ...
