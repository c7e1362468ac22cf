"""One chat model that is a chain of them: the chosen one first, then those that stand in for it."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from time import perf_counter

from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer
from agents.closing import closing
from agents.errors import ModelBusy, ModelRefused, ModelTimeout, ModelUnavailable
from agents.gateway.endpoint import Endpoint
from agents.gateway.meter import MeteredReply
from agents.gateway.spans import ChatSpan

logger = logging.getLogger(__name__)

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 8.0
"""Pauses between tries double from the first to the longest, and each is drawn between half of it and all of it."""


class RoutedChatModel:
    """Implements ``ChatModel`` over a chain of endpoints.

    A busy server is asked again after a pause, one that does not answer is left for the next in the chain, and one that
    keeps failing is left alone by its breaker. Once a piece of a reply is out, nothing is tried again: a reply never
    changes its author half way.
    """

    def __init__(self, chain: tuple[Endpoint, ...]) -> None:
        self._chain = chain

    @property
    def name(self) -> str:
        """Name of the endpoint that was chosen."""
        return self._chain[0].name

    @property
    def context_tokens(self) -> int:
        """The smallest window of the chain: a prompt must fit wherever it goes."""
        return min(endpoint.model.context_tokens for endpoint in self._chain)

    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncGenerator[ChatDelta]:
        """Reply piece by piece, see ``ChatModel.stream``; the last piece names who replied.

        Raises:
            ModelUnavailable: Nobody in the chain answers; the message is of the last one that was asked.
            ModelTimeout: As above, and the last one was too slow.
            ModelRefused: A server rejected the request; nobody else is asked, for they would be asked the same.
        """
        failure: ModelUnavailable | ModelTimeout | None = None
        for endpoint in self._chain:
            if not endpoint.breaker.admit():
                failure = failure or ModelUnavailable(
                    f"The model {endpoint.name!r} failed several times and is left alone for a moment; ask again soon."
                )
                continue
            started, asked = False, perf_counter()
            try:
                told = messages if endpoint.capabilities.images else _without_pictures(messages)
                async with endpoint.admitted(), aclosing(_patiently(endpoint, told, sampling, tools)) as deltas:
                    queued = perf_counter() - asked
                    with (
                        ChatSpan(endpoint.name, endpoint.capabilities.kind, sampling) as span,
                        MeteredReply(messages) as reply,
                    ):
                        async for delta in deltas:
                            started = True
                            span.take(delta)
                            reply.take(delta)
                            yield _signed(delta, endpoint.name, queued) if delta.finish_reason else delta
            except (ModelUnavailable, ModelTimeout) as error:
                endpoint.breaker.failed()
                endpoint.failures["timeout" if isinstance(error, ModelTimeout) else "unavailable"] += 1
                if started:
                    raise
                failure = error
                logger.warning("Model does not answer", extra={"model": endpoint.name, "reason": str(error)})
            except ModelRefused:
                endpoint.breaker.succeeded()
                endpoint.failures["refused"] += 1
                raise
            except BaseException:
                endpoint.breaker.abandoned()
                raise
            else:
                endpoint.breaker.succeeded()
                return
        assert failure is not None, "a chain has an endpoint"
        raise failure

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Length of each text in the tokens of the chosen model, see ``ChatModel.count_tokens``."""
        return await self._chain[0].model.count_tokens(texts)

    async def check(self) -> None:
        """Return when somebody in the chain is ready to answer; raises what the first one says otherwise."""
        failure: ModelUnavailable | ModelTimeout | ModelRefused | None = None
        for endpoint in self._chain:
            try:
                await endpoint.model.check()
            except (ModelUnavailable, ModelTimeout, ModelRefused) as error:
                failure = failure or error
            else:
                return
        assert failure is not None, "a chain has an endpoint"
        raise failure


def _without_pictures(messages: Sequence[ChatMessage]) -> Sequence[ChatMessage]:
    """For a model that does not see: words that were read from a picture stand in the text."""
    return [replace(message, images=()) if message.images else message for message in messages]


def _signed(delta: ChatDelta, name: str, queue_seconds: float) -> ChatDelta:
    return replace(delta, model=name, queue_seconds=queue_seconds)


async def _patiently(
    endpoint: Endpoint, messages: Sequence[ChatMessage], sampling: Sampling, tools: ToolOffer | None
) -> AsyncGenerator[ChatDelta]:
    """The endpoint's reply; a busy server is asked again while nothing has come."""
    pause = FIRST_PAUSE_SECONDS
    for left in range(endpoint.retries, -1, -1):
        started = False
        try:
            async with closing(endpoint.model.stream(messages, sampling, tools=tools)) as deltas:
                async for delta in deltas:
                    started = True
                    yield delta
            return
        except ModelBusy:
            if started or not left:
                raise
        await asyncio.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
