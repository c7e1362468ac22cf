"""A chat model without a model, for tests and model-free runs: a small real object, not a mock."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from agents.answer import Usage
from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer, ToolRequestDelta
from agents.errors import AgentError

_PIECE = re.compile(r"\s*\S+|\s+")


@dataclass(frozen=True, slots=True)
class ScriptedCalls:
    """A reply that calls tools: pairs of wire name and JSON text of the arguments, and words before them."""

    calls: tuple[tuple[str, str], ...]
    text: str = ""


class ScriptedChatModel:
    """Streams prepared replies, word by word, and keeps the prompts it was given.

    A reply is taken per call, in order; the last one is repeated. An error in the list is raised in its turn.
    """

    def __init__(
        self, replies: Iterable[str | ScriptedCalls | AgentError], *, name: str = "scripted", context_tokens: int = 4096
    ) -> None:
        self._replies = deque(replies)
        if not self._replies:
            raise ValueError("a scripted chat model needs at least one reply")
        self._name = name
        self._context_tokens = context_tokens
        self.prompts: list[tuple[ChatMessage, ...]] = []
        """Messages of every call so far."""
        self.samplings: list[Sampling] = []
        """Sampling of every call so far."""
        self.offers: list[ToolOffer | None] = []
        """Tools offered with every call so far."""
        self.stopped_early = 0
        """Calls whose reply was not read to its end."""

    @property
    def name(self) -> str:
        """Model name as sent on the wire."""
        return self._name

    @property
    def context_tokens(self) -> int:
        """Length of the context window, in words and marks."""
        return self._context_tokens

    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncIterator[ChatDelta]:
        """The next reply, piece by piece; the last piece carries the usage. At most ``max_tokens`` words."""
        self.prompts.append(tuple(messages))
        self.samplings.append(sampling)
        self.offers.append(tools)
        reply = self._replies.popleft() if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, AgentError):
            raise reply
        calls = reply.calls if isinstance(reply, ScriptedCalls) else ()
        pieces = _PIECE.findall(reply.text if isinstance(reply, ScriptedCalls) else reply)
        finished = False
        try:
            for piece in pieces[: sampling.max_tokens]:
                yield ChatDelta(text=piece)
            for index, (name, arguments) in enumerate(calls):
                # In two pieces, as servers cut them.
                half = len(arguments) // 2
                first = ToolRequestDelta(index, f"call-{index}", name, arguments[:half])
                yield ChatDelta(tool_requests=(first,))
                yield ChatDelta(tool_requests=(ToolRequestDelta(index, arguments=arguments[half:]),))
            prompt_tokens = sum(await self.count_tokens([message.content for message in messages]))
            usage = Usage(prompt_tokens=prompt_tokens, completion_tokens=min(len(pieces), sampling.max_tokens))
            reason = "stop" if len(pieces) <= sampling.max_tokens else "length"
            finished = True
            yield ChatDelta(usage=usage, finish_reason=reason)
        finally:
            self.stopped_early += not finished

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words of each text."""
        return [len(text.split()) for text in texts]

    async def check(self) -> None:
        """Return; a script is always ready."""
