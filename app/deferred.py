"""Parts that load large libraries with their first use: a command that only searches must not wait for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from agents.attachments import NO_ATTACHMENTS, Attachments
from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer
from agents.events import RunEvent
from agents.gateway.gateway import ModelGateway
from agents.request import AnswerRequest
from agents.settings import AnswerSettings
from retrieval.search import Retriever

if TYPE_CHECKING:
    from agents.openai_chat import OpenAIChatModel
    from agents.stream import Answerer


class DeferredAnswerer:
    """``agents.stream.Answerer``, made with the first question or by ``load``. Belongs to one event loop."""

    def __init__(
        self,
        *,
        retriever: Retriever,
        gateway: ModelGateway,
        settings: AnswerSettings,
        attachments: Attachments = NO_ATTACHMENTS,
    ) -> None:
        self._attachments = attachments
        self._retriever = retriever
        self._gateway = gateway
        self._settings = settings
        self._answerer: Answerer | None = None

    async def load(self) -> Answerer:
        """The answerer, made if it is not there yet."""
        if self._answerer is None:
            self._answerer = await asyncio.to_thread(self._make)
        return self._answerer

    async def run(self, request: AnswerRequest) -> AsyncGenerator[RunEvent]:
        """Events of one run, see ``agents.stream.Answerer.run``."""
        answerer = await self.load()
        async with aclosing(answerer.run(request)) as events:
            async for event in events:
                yield event

    def like(self, *, retriever: Retriever, settings: AnswerSettings) -> DeferredAnswerer:
        """Another one with the same models over this search and with these settings."""
        return DeferredAnswerer(retriever=retriever, gateway=self._gateway, settings=settings)

    def _make(self) -> Answerer:
        from agents.state import SearchedIndex
        from agents.stream import Answerer

        return Answerer(
            retriever=self._retriever,
            chat_model=self._gateway.select(),
            settings=self._settings,
            attachments=self._attachments,
            choose_model=self._gateway.select,
            index=SearchedIndex(self._retriever.store, self._retriever.embedder),
        )


class DeferredChatModel:
    """``agents.openai_chat.OpenAIChatModel``, connected with its first use. Belongs to one event loop."""

    def __init__(self, name: str, context_tokens: int, connect: Callable[[], OpenAIChatModel]) -> None:
        self._name = name
        self._context_tokens = context_tokens
        self._connect = connect
        self._lock = asyncio.Lock()
        self._model: OpenAIChatModel | None = None

    @property
    def name(self) -> str:
        """What the model is called here."""
        return self._name

    @property
    def context_tokens(self) -> int:
        """Length of the context window in the model's tokens."""
        return self._context_tokens

    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncGenerator[ChatDelta]:
        """Reply piece by piece, see ``ChatModel.stream``."""
        model = await self._loaded()
        async with aclosing(model.stream(messages, sampling, tools=tools)) as deltas:
            async for delta in deltas:
                yield delta

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the model's tokens, see ``ChatModel.count_tokens``."""
        return await (await self._loaded()).count_tokens(texts)

    async def check(self) -> None:
        """Return when the server is ready to answer, see ``ChatModel.check``."""
        await (await self._loaded()).check()

    async def aclose(self) -> None:
        """Close the connections."""
        if self._model is not None:
            await self._model.aclose()

    async def _loaded(self) -> OpenAIChatModel:
        async with self._lock:
            if self._model is None:
                self._model = await asyncio.to_thread(self._connect)
        return self._model
