"""A chat model behind an OpenAI-compatible server: the embedded llama.cpp, vLLM, or any other by URL."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from urllib.parse import urlsplit

import openai
from openai import AsyncStream
from openai.types.chat import (
    ChatCompletionAssistantMessageParam,
    ChatCompletionContentPartParam,
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageParam,
    ChatCompletionUserMessageParam,
)
from openai.types.shared_params import ResponseFormatJSONSchema
from pydantic import JsonValue

from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolDefinition, ToolOffer
from agents.constrained import choice_schema, parse_choice, with_tools
from agents.errors import ModelTimeout, ModelUnavailable
from agents.openai_chunk import Ending
from agents.openai_errors import explain
from agents.pacing import paced
from agents.token_count import TokenCounter

BaseUrl = str | Callable[[], Awaitable[str]]
"""Address that ends in ``/v1``, or a function that waits until the server is ready and returns it."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds; see ``agents.settings.ModelSettings``."""

    connect: float = 5.0
    first_token: float = 180.0
    between_tokens: float = 60.0


class OpenAIChatModel:
    """Implements ``ChatModel``. One request is one HTTP request: nothing is tried again behind the caller's back.

    Args:
        base_url: Address of the server.
        name: Model name as sent on the wire.
        context_tokens: Length of its window in its own tokens.
        api_key: None where the server wants none.
        limits: How long is waited.
        llama_cpp: Whether the server is known to be llama.cpp, which tells how far it has read a prompt and counts many
            texts in one request; others refuse that.
    """

    def __init__(
        self,
        base_url: BaseUrl,
        *,
        name: str,
        context_tokens: int,
        api_key: str | None = None,
        limits: TimeLimits | None = None,
        llama_cpp: Callable[[], bool] = lambda: False,
    ) -> None:
        self._base_url = base_url
        self._name = name
        self._context_tokens = context_tokens
        self._limits = limits or TimeLimits()
        self._llama_cpp = llama_cpp
        local = not isinstance(base_url, str) or urlsplit(base_url).hostname in _LOOPBACK
        self._client = openai.AsyncOpenAI(
            base_url="http://127.0.0.1/v1" if callable(base_url) else base_url,
            api_key=api_key or "none",
            max_retries=0,
            timeout=openai.Timeout(None, connect=self._limits.connect),
            # A server on this machine is never reached through the proxy of the environment.
            http_client=openai.DefaultAioHttpClient(trust_env=not local),
            # llama.cpp closes a kept connection without notice, which would fail the next request.
            default_headers={"Connection": "close"} if local else None,
        )
        self._counter = TokenCounter(name, llama_cpp=llama_cpp)

    @property
    def name(self) -> str:
        """Model name as sent on the wire."""
        return self._name

    @property
    def context_tokens(self) -> int:
        """Length of the context window in the model's tokens."""
        return self._context_tokens

    def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncGenerator[ChatDelta]:
        """Reply piece by piece, paced; the last piece carries usage and finish reason. Closing it ends the HTTP stream.

        An offer of which one tool is required goes out as structured output (``agents.constrained``), so that the
        server holds the model to it; the call then comes in one piece.

        Raises:
            ModelUnavailable: The server cannot be reached, is loading or overloaded, or broke off.
            ModelTimeout: No piece came within the time limit.
            ModelRefused: The server rejected the request.
        """
        return paced(self._pieces(messages, sampling, tools))

    async def _pieces(
        self, messages: Sequence[ChatMessage], sampling: Sampling, tools: ToolOffer | None
    ) -> AsyncGenerator[ChatDelta]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._limits.first_token
        started = False
        ending = Ending()
        chosen = "" if tools and tools.choice == "required" else None
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._open(messages, sampling, tools)
            async with aclosing(response):
                while True:
                    async with asyncio.timeout_at(deadline):
                        chunk = await anext(response, None)
                    if chunk is None:
                        break
                    delta = ending.take(chunk)
                    if delta.text or delta.reasoning or delta.tool_requests:
                        started = True
                        if chosen is None:
                            yield delta
                        else:
                            chosen += delta.text
                    if started:
                        deadline = loop.time() + self._limits.between_tokens
        except TimeoutError as error:
            raise self._too_slow(started=started) from error
        except (openai.APIError, ValueError) as error:
            raise explain(error, model=self._name, connect_seconds=self._limits.connect) from error
        if ending.finish_reason is None:
            raise ModelUnavailable("The model server broke off in the middle of its reply; ask again.")
        if chosen is not None:
            call = parse_choice(chosen)
            yield ChatDelta(tool_requests=(call,)) if call else ChatDelta(text=chosen)
        yield ChatDelta(usage=ending.usage, finish_reason=ending.finish_reason)

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the server's tokens; exact where it has ``/tokenize``, else an upper estimate."""
        client = await self._connected() if self._counter.asks_server else None
        return await self._counter.count(client, texts)

    async def check(self) -> None:
        """Return when the server is ready to answer.

        Raises:
            ModelUnavailable: It cannot be reached or is loading.
            ModelTimeout: It does not answer.
            ModelRefused: The key is wrong.
        """
        try:
            async with asyncio.timeout(self._limits.connect):
                client = await self._connected()
                await client.models.list()
        except TimeoutError as error:
            raise ModelTimeout("The model server does not answer; see its log.") from error
        except (openai.APIError, ValueError) as error:
            raise explain(error, model=self._name, connect_seconds=self._limits.connect) from error

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _connected(self) -> openai.AsyncOpenAI:
        if isinstance(self._base_url, str):
            return self._client
        return self._client.with_options(base_url=await self._base_url())

    async def _open(
        self, messages: Sequence[ChatMessage], sampling: Sampling, tools: ToolOffer | None
    ) -> AsyncStream[object]:
        client = await self._connected()
        offered = tools.tools if tools else ()
        required = tools is not None and tools.choice == "required"
        told = with_tools(messages, offered) if required else messages
        name, schema = ("tool_call", choice_schema(offered)) if required else ("reply", sampling.output_schema)
        body: dict[str, object] = {
            "model": self._name,
            "messages": [_wire_message(message) for message in told],
            "stream": True,
            "stream_options": {"include_usage": True},
            **_wire_sampling(sampling),
            **({} if schema is None else {"response_format": _wire_schema(name, schema)}),
            **self._progress(),
        }
        if tools and offered and not required:
            body |= {"tools": [_wire_tool(tool) for tool in offered], "tool_choice": tools.choice}
        # Not the method of the client, which builds each chunk as one of its types, unchecked and slowly.
        return await client.post(
            "/chat/completions", cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object]
        )

    def _progress(self) -> dict[str, bool]:
        """A server that tells after each step how much of the prompt it has read finds out then that nobody listens."""
        return {"return_progress": True} if self._llama_cpp() else {}

    def _too_slow(self, *, started: bool) -> ModelTimeout:
        if started:
            return ModelTimeout(
                f"The model server sent nothing for {self._limits.between_tokens:g} s in the middle of its reply; ask"
                " again, or raise model.token_timeout_seconds."
            )
        return ModelTimeout(
            f"The model server sent no token within {self._limits.first_token:g} s; lower answer.evidence_tokens, or"
            " raise model.first_token_timeout_seconds."
        )


def _wire_sampling(sampling: Sampling) -> dict[str, object]:
    """Fields of OpenAI's wire, and what vLLM and llama.cpp take beyond it; these have two words for one penalty."""
    values = {
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "stop": list(sampling.stop) or None,
        "presence_penalty": sampling.presence_penalty,
        "frequency_penalty": sampling.frequency_penalty,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "repetition_penalty": sampling.repetition_penalty,
        "repeat_penalty": sampling.repetition_penalty,
    }
    return {name: value for name, value in values.items() if value is not None}


def _wire_message(message: ChatMessage) -> ChatCompletionMessageParam:
    match message.role:
        case "system":
            return {"role": "system", "content": message.content}
        case "user":
            return _wire_user(message)
        case "assistant":
            return _wire_assistant(message)
        case "tool":
            return {"role": "tool", "content": message.content, "tool_call_id": message.tool_request_id}


def _wire_user(message: ChatMessage) -> ChatCompletionUserMessageParam:
    if not message.images:
        return {"role": "user", "content": message.content}
    # Pictures first, as vision models are trained: the words then speak of what was seen.
    parts: list[ChatCompletionContentPartParam] = [
        {"type": "image_url", "image_url": {"url": f"data:{one.media_type};base64,{b64encode(one.data).decode()}"}}
        for one in message.images
    ]
    return {"role": "user", "content": [*parts, {"type": "text", "text": message.content}]}


def _wire_assistant(message: ChatMessage) -> ChatCompletionAssistantMessageParam:
    if not message.tool_requests:
        return {"role": "assistant", "content": message.content}
    return {
        "role": "assistant",
        "content": message.content or None,
        "tool_calls": [
            {"id": asked.id, "type": "function", "function": {"name": asked.name, "arguments": asked.arguments}}
            for asked in message.tool_requests
        ],
    }


def _wire_schema(name: str, schema: Mapping[str, JsonValue]) -> ResponseFormatJSONSchema:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": dict(schema), "strict": True}}


def _wire_tool(tool: ToolDefinition) -> ChatCompletionFunctionToolParam:
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)},
    }
