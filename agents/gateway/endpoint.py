"""One model at one address, with what it can do and how it has been doing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Literal

from agents.chat_model import ChatModel
from agents.gateway.breaker import CircuitBreaker
from agents.gateway.capabilities import Capabilities

EndpointState = Literal["ready", "held_back"]
FailureReason = Literal["unavailable", "timeout", "refused"]


@dataclass(slots=True)
class Endpoint:
    """One model at one address.

    Attributes:
        name: What people and requests call it.
        model: Speaks to it.
        given: What the operator says that it can; None where detection decides.
        fallback: Names of the endpoints that stand in for it, in order.
        retries: Times that a busy server is asked again.
        max_concurrent: Requests on their way at once; 0 sets no limit.
    """

    name: str
    model: ChatModel
    given: Capabilities = field(default_factory=Capabilities)
    fallback: tuple[str, ...] = ()
    retries: int = 2
    max_concurrent: int = 0
    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    found: Capabilities = field(default_factory=Capabilities)
    requests: int = 0
    """Requests that were sent so far, tries of a busy server counted once."""
    running: int = 0
    """Requests on their way now."""
    failures: Counter[FailureReason] = field(default_factory=Counter["FailureReason"])
    """Requests that failed, by why."""
    _room: asyncio.Semaphore | None = None

    @property
    def capabilities(self) -> Capabilities:
        """What may be asked of it; the window is at least what the model itself says."""
        known = self.given.over(self.found)
        return replace(known, context_tokens=known.context_tokens or self.model.context_tokens)

    @property
    def state(self) -> EndpointState:
        """``held_back`` while its breaker is open."""
        return "held_back" if self.breaker.is_open else "ready"

    @asynccontextmanager
    async def admitted(self) -> AsyncGenerator[None]:
        """Wait for a free place, as long as the context is open it is ours."""
        async with self._free_place():
            self.requests += 1
            self.running += 1
            try:
                yield
            finally:
                self.running -= 1

    def _free_place(self) -> AbstractAsyncContextManager[None]:
        if self.max_concurrent == 0:
            return nullcontext()
        self._room = self._room or asyncio.Semaphore(self.max_concurrent)
        return self._room
