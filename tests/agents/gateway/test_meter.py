from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from agents.chat_model import ChatDelta, ChatMessage, Sampling
from agents.errors import ModelUnavailable
from agents.gateway.endpoint import Endpoint
from agents.gateway.gateway import ModelGateway
from agents.gateway.meter import MeteredReply, TokenMeter, metering
from agents.testing import ScriptedChatModel
from agents.token_count import estimate_tokens

HELLO = (ChatMessage("user", "hello there"),)


def _gateway(*replies: str | ModelUnavailable) -> ModelGateway:
    return ModelGateway([Endpoint("m", ScriptedChatModel(replies, name="m"))], default="m")


async def _read(gateway: ModelGateway) -> None:
    async for _ in gateway.select().stream(HELLO, Sampling()):
        pass


async def test_replies_are_counted_by_their_usage_also_in_tasks_that_are_begun_inside() -> None:
    gateway, meter = _gateway("one two three"), TokenMeter()
    with metering(meter):
        await _read(gateway)
        first = meter.tokens
        await asyncio.create_task(_read(gateway))
    await _read(gateway)
    assert first >= 3
    assert meter.tokens == 2 * first


async def test_reply_that_is_broken_off_is_estimated() -> None:
    gateway, meter = _gateway("one two three four"), TokenMeter()
    with metering(meter):
        async with aclosing(gateway.select().stream(HELLO, Sampling())) as deltas:
            await anext(deltas)
            await anext(deltas)
    assert meter.tokens == 2 + estimate_tokens("hello there")


def test_words_that_came_in_one_piece_count_each() -> None:
    meter = TokenMeter()
    with metering(meter), MeteredReply(HELLO) as reply:
        reply.take(ChatDelta("one two three"))
    assert meter.tokens == estimate_tokens("one two three") + estimate_tokens("hello there")


async def test_reply_that_never_began_costs_nothing() -> None:
    meter = TokenMeter()
    with metering(meter), pytest.raises(ModelUnavailable):
        await _read(_gateway(ModelUnavailable("down")))
    assert meter.tokens == 0
