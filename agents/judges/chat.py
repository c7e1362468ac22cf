"""The chat model as a judge: all claims of an answer in one short prompt, one word each, held to a schema."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import cast, get_args

from pydantic import JsonValue

from agents.answer import Opinion
from agents.chat_model import ChatMessage, ChatModel, Sampling
from agents.closing import closing
from agents.errors import AgentError, JudgeFailed
from agents.judges.protocol import Statement
from agents.prompting import fill_prompt, neutralise

TOKENS_EACH = 8
"""Most tokens of one opinion, quotes and comma included."""
QUOTE_CHARACTERS = 600
"""Most of a quote that is shown; the judge reads beside the answer, not instead of it."""
_WORDS: tuple[Opinion, ...] = get_args(Opinion)


class ChatJudge:
    """A ``ClaimJudge`` over a chat model."""

    def __init__(self, model: ChatModel, *, seconds: float) -> None:
        self._model = model
        self._seconds = seconds

    async def judge(self, statements: Sequence[Statement]) -> list[Opinion]:
        """What the model says of each statement."""
        if not statements:
            return []
        prompt = [ChatMessage("user", fill_prompt("judge", statements=_listed(statements)))]
        sampling = Sampling(
            temperature=0.0, max_tokens=16 + TOKENS_EACH * len(statements), output_schema=_schema(len(statements))
        )
        written: list[str] = []
        try:
            async with asyncio.timeout(self._seconds), closing(self._model.stream(prompt, sampling)) as deltas:
                async for delta in deltas:
                    written.append(delta.text)
        except TimeoutError as error:
            raise JudgeFailed(
                f"the chat model judged no claim within {self._seconds:g} s; raise answer.judge_seconds"
            ) from error
        except AgentError as error:
            raise JudgeFailed(f"the chat model judged no claim: {error}") from error
        return _opinions("".join(written), len(statements))


def _listed(statements: Sequence[Statement]) -> str:
    parts = [
        f"{number}. Source: {neutralise(' '.join(quote.split())[:QUOTE_CHARACTERS])}\n"
        f"   Statement: {neutralise(' '.join(claim.split()))}"
        for number, (claim, quote) in enumerate(statements, start=1)
    ]
    return "\n".join(parts)


def _schema(number: int) -> Mapping[str, JsonValue]:
    words: list[JsonValue] = [*_WORDS]
    return {"type": "array", "items": {"enum": words}, "minItems": number, "maxItems": number}


def _opinions(text: str, number: int) -> list[Opinion]:
    try:
        value: object = json.loads(text)
    except json.JSONDecodeError as error:
        raise JudgeFailed("the chat model did not write a list of opinions; set answer.judge to none") from error
    words = cast(list[object], value) if isinstance(value, list) else []
    opinions: list[Opinion] = [word for known in words for word in _WORDS if word == known]
    if len(opinions) != number:
        raise JudgeFailed("the chat model did not write one opinion for each claim; set answer.judge to none")
    return opinions
