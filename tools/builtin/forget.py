"""``forget``: drop a remembered fact. A write like ``remember``: asked for, and always so beside untrusted text."""

from __future__ import annotations

from tools.function_tool import function_tool
from tools.memory import FactStore
from tools.types import CallContext, Tool, ToolOutput


def forget_tool(facts: FactStore) -> Tool:
    """The tool over one store of facts."""

    async def forget(fact_id: str, context: CallContext) -> ToolOutput:
        """Forget one remembered fact about the user.

        Args:
            fact_id: Id of the fact, as it stands in front of it.
            context: Who asks.
        """
        fact = await facts.delete(context.user, fact_id)
        return ToolOutput(f"Forgotten: {fact.text}", {"fact_id": fact.fact_id, "text": fact.text})

    return function_tool(forget, risk="write")
