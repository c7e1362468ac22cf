"""``read_output``: the part of a long tool result that was cut out of the prompt."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools.errors import CallUnknown, ToolError
from tools.function_tool import function_tool
from tools.ledger import ExecutionLedger
from tools.types import CallContext, Tool, ToolOutput

MAX_LENGTH = 4000


def read_output_tool(ledger: ExecutionLedger) -> Tool:
    """The tool over one ledger; a chat reads results of its own calls alone."""

    async def read_output(
        call_id: str,
        start: Annotated[int, Field(ge=0)] = 0,
        length: Annotated[int, Field(ge=1, le=MAX_LENGTH)] = MAX_LENGTH,
        *,
        context: CallContext,
    ) -> ToolOutput:
        """Read on in a tool result that was cut.

        Args:
            call_id: The id that the note in the cut result names.
            start: Character to begin at.
            length: Characters to read.
            context: Who asks, and in which chat.
        """
        try:
            call = await ledger.get(call_id)
        except CallUnknown:
            call = None
        if call is None or call.thread_id != context.thread_id or call.result_text is None:
            raise ToolError(f"This chat has no stored result {call_id!r}; take the id from the note in a cut result.")
        text = call.result_text
        if start >= len(text):
            raise ToolError(f"The result has {len(text)} characters; begin below that.")
        end = min(start + length, len(text))
        rest = f"\n[characters {start} to {end} of {len(text)}]"
        return ToolOutput(text[start:end] + rest)

    return function_tool(read_output, risk="read", idempotent=True)
