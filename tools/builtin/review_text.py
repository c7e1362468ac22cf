"""The tool behind a review step of a workflow: a person reads a text, and what comes back is the text they let pass."""

from __future__ import annotations

from tools.function_tool import function_tool
from tools.types import Tool, ToolOutput


def review_text_tool() -> Tool:
    """A write, so that it is asked for; it changes nothing itself, what it returns is what a person let pass."""

    async def review_text(text: str) -> ToolOutput:
        """Have a person read a text, change it if needed, and approve or reject it.

        Args:
            text: The text to review.
        """
        return ToolOutput(text)

    return function_tool(review_text, risk="write", idempotent=True)
