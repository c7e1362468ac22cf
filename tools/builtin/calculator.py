"""``calculator``: arithmetic that a language model should not do in its head."""

from __future__ import annotations

from tools.builtin.arithmetic import ExpressionInvalid, compute, is_exact, shown
from tools.errors import ToolError
from tools.function_tool import function_tool
from tools.types import Tool, ToolOutput


def calculator_tool() -> Tool:
    """The tool; it needs nothing."""

    async def calculator(expression: str) -> ToolOutput:
        """Compute an arithmetic expression exactly.

        Args:
            expression: Plain numbers with + - * / // % ** and parentheses, such as (512 * 1.5) / 3; also abs, ceil,
                floor, max, min, round, sqrt. No units, no thousands marks; a percentage is written as 15 / 100.
        """
        try:
            value = compute(expression)
        except ExpressionInvalid as error:
            raise ToolError(str(error)) from error
        number, exact = shown(value), is_exact(value)
        text = f"{expression.strip()} {'=' if exact else '≈'} {number}"
        return ToolOutput(text, {"value": number, "exact": exact})

    return function_tool(calculator, risk="read", idempotent=True, timeout_seconds=5.0)
