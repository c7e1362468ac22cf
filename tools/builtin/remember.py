"""``remember``: a fact about the user, kept over all chats.

It is a write: a person approves each call unless a rule or a grant covers it, and neither does while untrusted text is
in the thread (``tools.policy``), so that a document cannot write memory.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools.facts import MAX_FACT_CHARS, FactOrigin
from tools.function_tool import function_tool
from tools.memory import FactStore
from tools.types import CallContext, Tool, ToolOutput


def remember_tool(facts: FactStore) -> Tool:
    """The tool over one store of facts."""

    async def remember(
        text: Annotated[str, Field(min_length=1, max_length=MAX_FACT_CHARS)], context: CallContext
    ) -> ToolOutput:
        """Remember one fact about the user for later chats, when the user asks for it.

        Args:
            text: The fact as one short sentence, such as: The user is on call for orders-api.
            context: Who asks, and in which call.
        """
        origin = FactOrigin(thread_id=context.thread_id, run_id=context.run_id, call_id=context.call_id)
        fact = await facts.add(context.user, text, origin=origin)
        return ToolOutput(f"Remembered as {fact.fact_id}: {fact.text}", {"fact_id": fact.fact_id, "text": fact.text})

    return function_tool(remember, risk="write", idempotent=True)
