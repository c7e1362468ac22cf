from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer
from agents.errors import AgentError, ModelBusy, ModelRefused, ModelTimeout, ModelUnavailable, ModelUnknown
from agents.gateway import route
from agents.gateway.breaker import FAILURES
from agents.gateway.endpoint import Endpoint
from agents.gateway.gateway import ModelGateway
from agents.testing import ScriptedChatModel

HELLO = (ChatMessage("user", "hello"),)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "FIRST_PAUSE_SECONDS", 0.0)


class BreaksOff(ScriptedChatModel):
    """Says one word and then fails."""

    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncIterator[ChatDelta]:
        self.prompts.append(tuple(messages))
        yield ChatDelta(text="half")
        raise ModelUnavailable("broke off")


def endpoint(
    name: str,
    *replies: str | AgentError,
    fallback: tuple[str, ...] = (),
    retries: int = 2,
    max_concurrent: int = 0,
) -> Endpoint:
    model = ScriptedChatModel(replies or ("done",), name=name)
    return Endpoint(name, model, fallback=fallback, retries=retries, max_concurrent=max_concurrent)


def scripted(endpoint: Endpoint) -> ScriptedChatModel:
    assert isinstance(endpoint.model, ScriptedChatModel)
    return endpoint.model


async def read(gateway: ModelGateway, name: str = "") -> tuple[str, str]:
    """What was said, and by whom."""
    deltas = [delta async for delta in gateway.select(name).stream(HELLO, Sampling())]
    return "".join(delta.text for delta in deltas), deltas[-1].model


async def test_named_model_answers_and_says_so() -> None:
    gateway = ModelGateway([endpoint("small", "small words"), endpoint("big", "big words")], default="small")

    assert await read(gateway, "big") == ("big words", "big")
    assert await read(gateway) == ("small words", "small")


async def test_busy_server_is_asked_again() -> None:
    busy = ModelBusy("loading")
    gateway = ModelGateway([endpoint("small", busy, busy, "at last", retries=2)], default="small")

    assert await read(gateway) == ("at last", "small")


async def test_server_that_stays_busy_is_given_up_after_its_retries() -> None:
    small = endpoint("small", ModelBusy("loading"), retries=2)

    with pytest.raises(ModelBusy, match="loading"):
        await read(ModelGateway([small], default="small"))
    assert len(scripted(small).prompts) == 3


@pytest.mark.parametrize("failure", [ModelUnavailable("down"), ModelTimeout("slow"), ModelBusy("full")])
async def test_next_in_the_chain_stands_in(failure: AgentError) -> None:
    gateway = ModelGateway(
        [endpoint("big", failure, fallback=("small",), retries=0), endpoint("small", "stand-in")], default="big"
    )

    assert await read(gateway) == ("stand-in", "small")


async def test_refused_request_is_nobody_elses_business() -> None:
    small = endpoint("small")
    gateway = ModelGateway([endpoint("big", ModelRefused("too long"), fallback=("small",)), small], default="big")

    with pytest.raises(ModelRefused, match="too long"):
        await read(gateway)
    assert not scripted(small).prompts


async def test_reply_never_changes_its_author_half_way() -> None:
    small = endpoint("small")
    big = Endpoint("big", BreaksOff(["unused"], name="big"), fallback=("small",))
    gateway = ModelGateway([big, small], default="big")
    reply = gateway.select().stream(HELLO, Sampling())

    assert (await anext(reply)).text == "half"
    with pytest.raises(ModelUnavailable, match="broke off"):
        await anext(reply)
    assert not scripted(small).prompts


async def test_server_that_keeps_failing_is_left_alone() -> None:
    big = endpoint("big", ModelUnavailable("down"), fallback=("small",))
    gateway = ModelGateway([big, endpoint("small", "stand-in")], default="big")

    for _ in range(FAILURES + 3):
        assert await read(gateway) == ("stand-in", "small")
    assert len(scripted(big).prompts) == FAILURES
    assert big.state == "held_back"


async def test_lone_server_that_is_left_alone_says_so() -> None:
    gateway = ModelGateway([endpoint("big", ModelUnavailable("down"))], default="big")
    for _ in range(FAILURES):
        with pytest.raises(ModelUnavailable, match="down"):
            await read(gateway)

    with pytest.raises(ModelUnavailable, match="left alone"):
        await read(gateway)


async def test_leaving_closes_the_stream_behind() -> None:
    small = endpoint("small", "a b c")
    stream = ModelGateway([small], default="small").select().stream(HELLO, Sampling())
    await anext(stream)
    await stream.aclose()

    assert scripted(small).stopped_early == 1
    assert small.state == "ready"


async def test_only_so_many_requests_are_on_their_way() -> None:
    gateway = ModelGateway([endpoint("small", "a b", max_concurrent=1)], default="small")
    first = gateway.select().stream(HELLO, Sampling())
    await anext(first)
    second = asyncio.create_task(read(gateway))
    await asyncio.sleep(0)

    assert not second.done()
    await first.aclose()
    assert await second == ("a b", "small")


async def test_reply_says_how_long_it_waited_for_a_free_place() -> None:
    gateway = ModelGateway([endpoint("small", "a b", max_concurrent=1)], default="small")
    first = gateway.select().stream(HELLO, Sampling())
    await anext(first)
    second = asyncio.create_task(_last(gateway))
    await asyncio.sleep(0.02)
    await first.aclose()

    waited = (await second).queue_seconds

    assert waited > 0.01
    assert waited > (await _last(gateway)).queue_seconds


async def _last(gateway: ModelGateway) -> ChatDelta:
    return [delta async for delta in gateway.select().stream(HELLO, Sampling())][-1]


async def test_window_of_a_chain_is_its_smallest() -> None:
    big = Endpoint("big", ScriptedChatModel(["x"], context_tokens=32768), fallback=("small",))
    small = Endpoint("small", ScriptedChatModel(["x"], context_tokens=4096))

    assert ModelGateway([big, small], default="big").select().context_tokens == 4096


def test_unknown_names_are_told_at_the_start() -> None:
    with pytest.raises(ModelUnknown, match="'huge'; there are: small"):
        ModelGateway([endpoint("small", fallback=("huge",))], default="small")
    with pytest.raises(ModelUnknown, match="'huge'"):
        ModelGateway([endpoint("small")], default="small").select("huge")
