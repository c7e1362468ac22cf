"""A follow-up made self-contained by the chat model: few tokens, few seconds, and only words that were there.

The prompt begins with the very bytes of the answer's prompt (system message, history), so that the server reads the
history once for both. A reply that brings words of its own, or comes late, is not used.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, JsonValue, ValidationError

from agents.answer import Usage
from agents.chat_model import ChatMessage, ChatModel, Sampling
from agents.closing import closing
from agents.errors import AgentError
from agents.prompting import fill_prompt, neutralise
from agents.proof.evidence import content
from agents.proof.tokens import tokenise

logger = logging.getLogger(__name__)

MAX_TOKENS = 64
"""Longest reply; a question of 30 words and the JSON around it."""
_SCHEMA: Mapping[str, JsonValue] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
    "additionalProperties": False,
}
MOST_NEW_WORDS = 2
"""Content words that stand neither in the question nor in the history; more is an answer, not a query."""


class _Reply(BaseModel):
    query: str


async def rewrite(
    question: str, prefix: Sequence[ChatMessage], *, model: ChatModel, seconds: float
) -> tuple[str | None, Usage]:
    """The query and what it cost; None where the model failed, was late, or wrote something else.

    Args:
        question: The last message.
        prefix: System message and history as the answer's prompt has them.
        model: Who writes.
        seconds: Longest wait for the whole reply.
    """
    asked = ChatMessage("user", fill_prompt("rewrite", question=neutralise(question)))
    written: list[str] = []
    usage = Usage()
    sampling = Sampling(temperature=0.0, max_tokens=MAX_TOKENS, output_schema=_SCHEMA)
    try:
        async with asyncio.timeout(seconds), closing(model.stream([*prefix, asked], sampling)) as deltas:
            async for delta in deltas:
                written.append(delta.text)
                usage = delta.usage or usage
    except (TimeoutError, AgentError) as error:
        logger.info("query is not rewritten", extra={"error": type(error).__name__})
        return None, usage
    return accepted("".join(written), question, prefix), usage


def accepted(reply: str, question: str, history: Sequence[ChatMessage]) -> str | None:
    """The query of a reply, or None for one that says nothing or brings words from elsewhere."""
    try:
        query = " ".join(_Reply.model_validate_json(reply).query.split())
    except ValidationError:
        return None
    words = content(tokenise(query))
    if not words:
        return None
    known = {token.key for text in (question, *(turn.content for turn in history[1:])) for token in tokenise(text)}
    strange = [token for token in words if token.key not in known]
    brought = any(token.kind in ("identifier", "figure") for token in strange)
    return None if brought or len(strange) > MOST_NEW_WORDS else query
