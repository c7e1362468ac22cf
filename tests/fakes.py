"""Small real objects that tests use in place of large ones."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from datetime import UTC, datetime

from sqlalchemy.ext.asyncio import AsyncEngine

from agents.answer import Answer, Usage
from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer
from agents.errors import AgentError, AgentUnknown
from agents.events import AnswerDone, RunEvent, RunFinished, RunStarted, Token
from agents.request import AnswerRequest
from app.metrics import Metrics
from app.recovery import Recovery
from app.run_log import RunLog
from app.runs import AnswerSource, RunService
from tools.leases import ThreadLeases
from tools.ledger import ExecutionLedger


class NoAgents:
    """A platform without agents: nothing of a run is ever kept."""

    async def require_agent(self, name: str) -> None:
        raise AgentUnknown(f"There is no agent {name!r}; there are: none.")

    async def run(self, request: AnswerRequest, *, last_seq: int = 0) -> AsyncGenerator[RunEvent]:
        for event in ():
            yield event

    async def forget(self, run_id: str) -> None:
        del run_id


def run_service(engine: AsyncEngine, log: RunLog, answers: AnswerSource) -> RunService:
    """Runs over a database, without agents."""
    recovery = Recovery(log, ExecutionLedger(engine), ThreadLeases(engine))
    return RunService(log, answers, Metrics(), acting=NoAgents(), recovery=recovery)


class ScriptedAnswers:
    """Answers every question with the same words, one token each; can be held before a token, can break off."""

    def __init__(self, words: Sequence[str] = ("one ", "two ", "three"), *, error: Exception | None = None) -> None:
        self.words = tuple(words)
        self.requests: list[AnswerRequest] = []
        self.stopped: list[str] = []
        """Runs whose generator was closed or cancelled before its end."""
        self.hold_before: int | None = None
        """Number of the word that waits for ``release``."""
        self.held = asyncio.Event()
        self.release = asyncio.Event()
        self._error = error

    async def run(self, request: AnswerRequest) -> AsyncGenerator[RunEvent]:
        """Events of one run."""
        self.requests.append(request)
        seq = 0

        def common() -> tuple[str, str, int, datetime]:
            nonlocal seq
            seq += 1
            return request.run_id, request.thread_id, seq, datetime.now(UTC)

        ended = False
        try:
            run_id, thread_id, number, at = common()
            yield RunStarted(
                run_id=run_id, thread_id=thread_id, seq=number, at=at, question=request.question, model="scripted"
            )
            for position, word in enumerate(self.words):
                if position == self.hold_before:
                    self.held.set()
                    await self.release.wait()
                run_id, thread_id, number, at = common()
                yield Token(run_id=run_id, thread_id=thread_id, seq=number, at=at, text=word)
            if self._error is not None:
                raise self._error
            run_id, thread_id, number, at = common()
            usage = Usage(prompt_tokens=7, completion_tokens=len(self.words))
            answer = Answer(
                status="answered", answer="".join(self.words), usage=usage, run_id=run_id, thread_id=thread_id
            )
            yield AnswerDone(run_id=run_id, thread_id=thread_id, seq=number, at=at, answer=answer, usage=usage)
            run_id, thread_id, number, at = common()
            ended = True
            yield RunFinished(run_id=run_id, thread_id=thread_id, seq=number, at=at, status="answered")
        finally:
            if not ended:
                self.stopped.append(request.run_id)


class GatedChatModel:
    """A chat model that says one reply word by word; can be held after the first words, or be down."""

    def __init__(self, reply: str) -> None:
        self._words = [f"{word} " for word in reply.split()]
        self.prompts: list[tuple[ChatMessage, ...]] = []
        self.error: AgentError | None = None
        """Raised by every call while set."""
        self.gated = False
        """Whether the reply waits for ``release`` in its middle."""
        self.held = asyncio.Event()
        self.release = asyncio.Event()
        self.stopped_early = 0

    @property
    def name(self) -> str:
        """Model name as sent on the wire."""
        return "gated"

    @property
    def context_tokens(self) -> int:
        """Length of the context window."""
        return 4096

    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncGenerator[ChatDelta]:
        """The reply, word by word."""
        self.prompts.append(tuple(messages))
        if self.error is not None:
            raise self.error
        finished = False
        try:
            for position, word in enumerate(self._words):
                if self.gated and position == len(self._words) // 2:
                    self.held.set()
                    await self.release.wait()
                yield ChatDelta(text=word)
            finished = True
            usage = Usage(prompt_tokens=11, completion_tokens=len(self._words))
            yield ChatDelta(usage=usage, finish_reason="stop")
        finally:
            self.stopped_early += not finished

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words of each text."""
        return [len(text.split()) for text in texts]

    async def check(self) -> None:
        """Return, or raise the error."""
        if self.error is not None:
            raise self.error
