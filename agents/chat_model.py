"""What the graphs need from a chat model. Implementations: agents/openai_chat.py, agents/testing.py."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from pydantic import JsonValue

from agents.answer import Usage

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
ToolChoice: TypeAlias = Literal["auto", "required", "none"]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A call as the model wrote it; ``arguments`` is its JSON text, which may be broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Image:
    """A picture as it is sent: a media type that models read, and the file's bytes."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt.

    Attributes:
        role: Whose it is.
        content: Its text.
        tool_requests: Calls that an assistant message asks for; each is answered by one ``tool`` message.
        tool_request_id: For a ``tool`` message, the request it answers.
        images: Pictures of a ``user`` message, for models that see; others are sent the text alone.
    """

    role: Role
    content: str
    tool_requests: tuple[ToolRequest, ...] = ()
    tool_request_id: str = ""
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """A tool as the model sees it: name on the wire, description, JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """Tools that the model may call, and whether it must."""

    tools: tuple[ToolDefinition, ...]
    choice: ToolChoice = "auto"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is drawn. None leaves a value to the server.

    Attributes:
        temperature: 0 takes the likeliest token.
        top_p: Share of probability that tokens are drawn from.
        top_k: Number of likeliest tokens that tokens are drawn from. Not of OpenAI's wire; vLLM and llama.cpp take it.
        min_p: Least probability, as a share of the likeliest token's. As ``top_k``.
        max_tokens: Longest reply.
        seed: Makes a draw repeatable where the server can.
        stop: Texts before which the reply ends.
        presence_penalty: Taken from the score of every token that was written.
        frequency_penalty: Taken from the score of a token each time it was written.
        repetition_penalty: Divides the score of tokens of prompt and reply; 1 changes nothing. As ``top_k``.
        output_schema: JSON Schema that the server holds the reply to; None leaves it free.
    """

    temperature: float | None = 0.0
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    max_tokens: int = 512
    seed: int | None = None
    stop: tuple[str, ...] = ()
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    repetition_penalty: float | None = None
    output_schema: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True)
class ToolRequestDelta:
    """A piece of a call: ``index`` tells the calls of one reply apart, texts are to be joined."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class ChatDelta:
    """A piece of a streamed reply; the last piece carries the usage and has no text.

    Attributes:
        text: Words of the reply.
        reasoning: What a reasoning model thinks before it replies; no part of the reply.
        usage: Tokens as the server counted them.
        finish_reason: Why the reply ended.
        tool_requests: Pieces of calls.
        model: Name of the model that replied, where it may be another than the one that was asked.
        queue_seconds: On the last piece, how long the request waited for a free place before it was sent.
    """

    text: str = ""
    reasoning: str = ""
    usage: Usage | None = None
    finish_reason: str | None = None
    tool_requests: tuple[ToolRequestDelta, ...] = ()
    model: str = ""
    queue_seconds: float = 0.0


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

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncIterator[ChatDelta]:
        """Reply piece by piece. Closing the iterator or cancelling the task stops the server's work.

        Args:
            messages: The prompt.
            sampling: How tokens are drawn.
            tools: Tools that the reply may call; None offers none.

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
