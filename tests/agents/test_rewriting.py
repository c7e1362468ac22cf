from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from agents.chat_model import ChatDelta, ChatMessage, Sampling, ToolOffer
from agents.errors import ModelUnavailable
from agents.rewriting import MAX_TOKENS, accepted, rewrite
from agents.testing import ScriptedChatModel

PREFIX = (
    ChatMessage("system", "You answer questions."),
    ChatMessage("user", "What does it mean when a container is OOMKilled?"),
    ChatMessage("assistant", "It used more memory than its limit."),
)
QUESTION = "And which exit code goes with it?"


async def test_prompt_begins_with_the_bytes_of_the_answers_prompt() -> None:
    model = ScriptedChatModel(['{"query": "Which exit code goes with OOMKilled?"}'])
    query, usage = await rewrite(QUESTION, PREFIX, model=model, seconds=5)
    assert query == "Which exit code goes with OOMKilled?"
    assert model.prompts[0][: len(PREFIX)] == PREFIX
    assert QUESTION in model.prompts[0][-1].content
    assert model.samplings[0].max_tokens == MAX_TOKENS
    assert usage.completion_tokens > 0


@pytest.mark.parametrize(
    "reply",
    [
        '{"query": "The exit code is 137."}',
        '{"query": "It goes with SIGKILL_EXIT."}',
        '{"query": "Kernel stops processes whenever nodes lack pages"}',
        '{"query": ""}',
        '{"query": "Which exit',
        "Which exit code goes with OOMKilled?",
    ],
)
def test_reply_with_words_from_elsewhere_is_not_used(reply: str) -> None:
    assert accepted(reply, QUESTION, PREFIX) is None


async def test_failing_model_gives_no_query() -> None:
    model = ScriptedChatModel([ModelUnavailable("The model server does not answer; start it.")])
    assert (await rewrite(QUESTION, PREFIX, model=model, seconds=5))[0] is None


class _SilentModel(ScriptedChatModel):
    async def stream(
        self, messages: Sequence[ChatMessage], sampling: Sampling, *, tools: ToolOffer | None = None
    ) -> AsyncIterator[ChatDelta]:
        await asyncio.Event().wait()
        yield ChatDelta()


async def test_late_model_gives_no_query() -> None:
    assert (await rewrite(QUESTION, PREFIX, model=_SilentModel(["unused"]), seconds=0))[0] is None
