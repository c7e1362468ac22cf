"""Between OpenAI's chat completions and our runs: a request becomes a question, run events become its answer."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from agents.answer import Answer
from agents.chat_model import ChatMessage
from agents.events import AnswerDone, FailureKind, RunCancelled, RunEvent, RunFailed, Token
from app.errors import RequestInvalid
from app.openai_wire import (
    AnswerMessage,
    Choice,
    ChunkChoice,
    Completion,
    CompletionChunk,
    CompletionRequest,
    Delta,
    ImageUrl,
    WireUsage,
)
from app.problems import problem
from app.schema import Problem, ProblemCode

Failure: TypeAlias = RunFailed | RunCancelled

_FAILURES: dict[FailureKind, tuple[int, ProblemCode]] = {
    "model_unavailable": (503, "model_unavailable"),
    "model_timeout": (504, "model_timeout"),
    "model_error": (502, "model_error"),
    "output_invalid": (502, "output_invalid"),
    "store_unavailable": (503, "store_unavailable"),
    "interrupted": (503, "internal_error"),
    "internal_error": (500, "internal_error"),
}


class Conversation(NamedTuple):
    """What a request asks, and what was said before.

    Attributes:
        question: The last message.
        history: Those before.
        pictures: Those of the last message.
        earlier_pictures: Those of the messages before, the latest first.
    """

    question: str
    history: tuple[ChatMessage, ...]
    pictures: tuple[ImageUrl, ...] = ()
    earlier_pictures: tuple[ImageUrl, ...] = ()


@dataclass(frozen=True, slots=True)
class Envelope:
    """What all pieces of one completion have in common."""

    id: str
    created: int
    model: str
    with_usage: bool = False
    """Whether a stream ends with a piece that holds the usage alone."""

    def whole(self, answer: Answer) -> Completion:
        """The answer at once."""
        message = AnswerMessage(
            content=_content(answer), status=answer.status, citations=answer.citations, claims=answer.claims
        )
        return Completion(
            id=self.id,
            created=self.created,
            model=self.model,
            choices=(Choice(message=message, finish_reason=_finish_reason(answer)),),
            usage=_usage(answer),
        )

    async def pieces(self, events: AsyncIterable[RunEvent]) -> AsyncGenerator[CompletionChunk | Failure]:
        """The answer as it comes: tokens, then one piece with everything that was proved of them.

        An answer without tokens, and an abstention that replaces them, is streamed whole before the last piece. A
        run without an answer ends the pieces with its terminal event.
        """
        yield self._piece(Delta(role="assistant", content=""))
        streamed = ""
        async for event in events:
            match event:
                case Token():
                    streamed += event.text
                    yield self._piece(Delta(content=event.text))
                case AnswerDone():
                    if missing := _not_streamed(event.answer, streamed):
                        yield self._piece(Delta(content=missing))
                    yield self._last(event.answer)
                    if self.with_usage:
                        yield self._chunk(usage=_usage(event.answer))
                case RunFailed() | RunCancelled():
                    yield event
                case _:
                    pass

    def _piece(self, delta: Delta) -> CompletionChunk:
        return self._chunk(ChunkChoice(delta=delta))

    def _last(self, answer: Answer) -> CompletionChunk:
        delta = Delta(status=answer.status, answer=answer.answer, citations=answer.citations, claims=answer.claims)
        return self._chunk(ChunkChoice(delta=delta, finish_reason=_finish_reason(answer)))

    def _chunk(self, *choices: ChunkChoice, usage: WireUsage | None = None) -> CompletionChunk:
        return CompletionChunk(id=self.id, created=self.created, model=self.model, choices=choices, usage=usage)


def conversation(request: CompletionRequest) -> Conversation:
    """The last message as question, those of user and assistant before it as history.

    Raises:
        RequestInvalid: The last message is not the user's, or is blank.
    """
    *earlier, last = request.messages
    if last.role != "user" or not last.text.strip():
        raise RequestInvalid("The last message must be a question of the user that is not blank.")
    history = tuple(
        ChatMessage(message.role, message.text)
        for message in earlier
        if (message.role == "user" or message.role == "assistant") and message.text.strip()
    )
    before = tuple(picture for message in reversed(earlier) for picture in message.pictures)
    return Conversation(last.text.strip(), history, last.pictures, before)


def failure_problem(failure: Failure) -> Problem:
    """Why there is no answer."""
    if isinstance(failure, RunCancelled):
        return problem(503, "internal_error", "The run was cancelled before its answer was done.")
    status, code = _FAILURES[failure.kind]
    return problem(status, code, failure.message)


def _usage(answer: Answer) -> WireUsage:
    prompt, completion = answer.usage.prompt_tokens, answer.usage.completion_tokens
    return WireUsage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)


def _finish_reason(answer: Answer) -> Literal["stop", "length"]:
    return "length" if answer.truncated else "stop"


def _content(answer: Answer) -> str:
    """What OpenAI's clients read: the object where one was asked for, else the text."""
    return answer.answer if answer.output is None else json.dumps(answer.output, ensure_ascii=False)


def _not_streamed(answer: Answer, streamed: str) -> str:
    if not streamed:
        return _content(answer)
    return f"\n\n{answer.answer}" if answer.status != "answered" else ""
