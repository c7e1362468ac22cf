"""Questions that a server asks while it works on a call: brought to a broker, with the call's clock stopped.

On the newest protocol a question comes inside the answer to a call, so the call is known. On older ones it comes as a
request of its own that names no call: it is taken for the one call that is running, and for none when there are more.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from typing import Any, cast

from mcp.client.session import ClientRequestContext
from mcp.types import ElicitRequestFormParams, ElicitRequestParams, ElicitRequestURLParams, ElicitResult
from pydantic import JsonValue

from tools.elicitation import Elicitation, ElicitationAnswer, ElicitationBroker, fill_form
from tools.errors import ArgumentsInvalid


class RunningCall:
    """A call on its way, with a time limit that does not run while a person is asked."""

    def __init__(self, tool: str, call_id: str, limit: asyncio.Timeout) -> None:
        self.tool = tool
        self.call_id = call_id
        self._limit = limit
        self._pauses = 0
        self._seconds_left = 0.0

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the clock as long as the context."""
        now = asyncio.get_running_loop().time
        if self._pauses == 0:
            self._seconds_left = (self._limit.when() or now()) - now()
            self._limit.reschedule(None)
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if self._pauses == 0:
                self._limit.reschedule(now() + self._seconds_left)


_current: ContextVar[RunningCall | None] = ContextVar("running_call", default=None)


class Questions:
    """The way from one server's questions to the broker."""

    def __init__(self, server: str, broker: ElicitationBroker) -> None:
        self._server = server
        self._broker = broker
        self._running: list[RunningCall] = []

    @asynccontextmanager
    async def call(self, tool: str, call_id: str, *, timeout_seconds: float) -> AsyncGenerator[None]:
        """Bound a call in time, waiting for people left out; raises ``TimeoutError``."""
        async with asyncio.timeout(timeout_seconds) as limit:
            running = RunningCall(tool, call_id, limit)
            self._running.append(running)
            token = _current.set(running)
            try:
                yield
            finally:
                _current.reset(token)
                self._running.remove(running)

    async def answer(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:  # noqa: ARG002 - the SDK's signature
        """The SDK's callback: one question, one answer; a form that does not fit is a decline."""
        elicitation = self._elicitation(params)
        answer = await self.ask(elicitation)
        if answer.action != "accept" or elicitation.mode == "url":
            return ElicitResult(action=answer.action)
        try:
            content = fill_form(elicitation, answer.content)
        except ArgumentsInvalid:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=cast(dict[str, Any], content))

    async def ask_to_open(self, url: str, message: str, *, tool: str, call_id: str) -> bool:
        """Whether the person has opened this address for this call."""
        question = Elicitation(self._server, tool, call_id, message, mode="url", url=url)
        return (await self.ask(question)).action == "accept"

    async def ask(self, elicitation: Elicitation) -> ElicitationAnswer:
        """The broker's answer; the clocks of the calls that may wait for it stand still."""
        current = _current.get()
        with _all_paused([current] if current else list(self._running)):
            return await self._broker.ask(elicitation)

    def _elicitation(self, params: ElicitRequestParams) -> Elicitation:
        tool, call_id = self._caller()
        match params:
            case ElicitRequestURLParams():
                return Elicitation(self._server, tool, call_id, params.message, mode="url", url=params.url)
            case ElicitRequestFormParams():
                schema = cast(dict[str, JsonValue], params.requested_schema)
                return Elicitation(self._server, tool, call_id, params.message, schema=schema)

    def _caller(self) -> tuple[str, str]:
        current = _current.get()
        if current is None and len(self._running) == 1:
            current = self._running[0]
        return (current.tool, current.call_id) if current else ("", "")


@contextmanager
def _all_paused(calls: list[RunningCall]) -> Generator[None]:
    if not calls:
        yield
        return
    with calls[0].paused(), _all_paused(calls[1:]):
        yield
