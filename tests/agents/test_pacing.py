"""Words of a reply in fewer pieces: none is lost, none changes its place, and leaving stops the server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import pytest

from agents.answer import Usage
from agents.chat_model import ChatDelta, ToolRequestDelta
from agents.errors import ModelUnavailable
from agents.pacing import paced

CALL = ChatDelta(tool_requests=(ToolRequestDelta(0, "c", "look"),))
END = ChatDelta(usage=Usage(prompt_tokens=3), finish_reason="stop")
LONG = 3600.0


def words(*texts: str) -> list[ChatDelta]:
    return [ChatDelta(text) for text in texts]


class Reply:
    """Sends pieces as fast as they are read, then an error where one is set."""

    def __init__(self, deltas: Sequence[ChatDelta], *, error: Exception | None = None) -> None:
        self.deltas = deltas
        self.error = error
        self.closed = False

    async def stream(self) -> AsyncGenerator[ChatDelta]:
        try:
            for delta in self.deltas:
                yield delta
            if self.error:
                raise self.error
        finally:
            self.closed = True


async def read(reply: Reply, *, seconds: float) -> list[ChatDelta]:
    return [delta async for delta in paced(reply.stream(), seconds=seconds)]


async def test_words_within_the_pace_come_in_one_piece_behind_the_first() -> None:
    assert await read(Reply([*words("a", "b", "c"), END]), seconds=LONG) == [*words("a", "bc"), END]


async def test_words_that_come_later_than_the_pace_are_not_held() -> None:
    assert await read(Reply([*words("a", "b", "c"), END]), seconds=0.0) == [*words("a", "b", "c"), END]


async def test_words_stay_before_what_came_behind_them() -> None:
    sent = [*words("a", "b"), CALL, *words("c", "d"), END]

    assert await read(Reply(sent), seconds=LONG) == [*words("a", "b"), CALL, *words("cd"), END]


async def test_thoughts_are_held_as_words_are_and_stay_thoughts() -> None:
    sent = [ChatDelta(reasoning="hm"), ChatDelta(reasoning="so"), *words("a", "b"), END]

    assert await read(Reply(sent), seconds=LONG) == [ChatDelta(reasoning="hm"), ChatDelta("ab", "so"), END]


async def test_reply_without_an_end_keeps_its_words() -> None:
    assert await read(Reply(words("a", "b")), seconds=LONG) == words("a", "b")


async def test_held_words_come_before_the_failure() -> None:
    deltas = paced(Reply(words("a", "b"), error=ModelUnavailable("gone")).stream(), seconds=LONG)

    assert [await anext(deltas), await anext(deltas)] == words("a", "b")
    with pytest.raises(ModelUnavailable):
        await anext(deltas)


async def test_leaving_early_closes_the_stream() -> None:
    reply = Reply([*words("a", "b"), END])

    async with aclosing(paced(reply.stream(), seconds=LONG)) as deltas:
        assert await anext(deltas) == ChatDelta("a")
        assert not reply.closed

    assert reply.closed
