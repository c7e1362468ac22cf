"""Exact arithmetic over a small grammar: numbers, ``+ - * / // % **``, parentheses and a few functions.

The expression is parsed into Python's syntax tree and walked node by node; nothing is ever evaluated as Python. Values
are exact fractions, with limits on their size, so that no expression takes long or fills memory.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation, localcontext
from fractions import Fraction

MAX_CHARS = 300
MAX_NODES = 250
"""Also bounds the depth of the tree, and with it the depth of the walk."""
MAX_BITS = 4096
"""Longest numerator or denominator: about 1,200 digits."""
SHOWN_DIGITS = 15
"""Significant digits of a result that has no short decimal form."""
MAX_EXACT_DIGITS = 60
"""A decimal longer than this is rounded to ``SHOWN_DIGITS``."""

_SIGNS = str.maketrans({"×": "*", "÷": "/", "−": "-", "·": "*"})


class ExpressionInvalid(ValueError):
    """The expression cannot be computed; the message is one sentence that names what to write instead."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number and whether it is exact; roots are not."""

    number: Fraction
    exact: bool = True


def compute(expression: str) -> Value:
    """Value of an expression.

    Raises:
        ExpressionInvalid: It is no arithmetic, divides by zero, or its numbers grow too large.
    """
    text = expression.strip().translate(_SIGNS)
    if not text:
        raise ExpressionInvalid("The expression is empty; write one such as 512 * 1.5.")
    if len(text) > MAX_CHARS:
        raise ExpressionInvalid(f"The expression is longer than {MAX_CHARS} characters; compute it in parts.")
    try:
        tree = ast.parse(text, mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        raise ExpressionInvalid(
            f"{expression!r} is no arithmetic; write numbers without units or thousands marks, such as 512 * 1.5."
        ) from error
    if sum(1 for _ in ast.walk(tree)) > MAX_NODES:
        raise ExpressionInvalid("The expression has too many parts; compute it in steps.")
    return _walk(tree.body, text)


def shown(value: Value) -> str:
    """The number in decimal, exact where it is short enough, else rounded to ``SHOWN_DIGITS`` significant digits."""
    number = value.number
    with localcontext() as context:
        context.prec = MAX_EXACT_DIGITS
        decimal = Decimal(number.numerator) / Decimal(number.denominator)
        whole = Fraction(decimal) == number
        if not whole or not value.exact:
            context.prec = SHOWN_DIGITS
            decimal = +decimal
        decimal = decimal.normalize()
    return f"{decimal:f}" if -SHOWN_DIGITS <= decimal.adjusted() <= MAX_EXACT_DIGITS else f"{decimal:e}"


def is_exact(value: Value) -> bool:
    """Whether ``shown`` gives the very number."""
    return value.exact and Fraction(shown(value)) == value.number


def _walk(node: ast.expr, text: str) -> Value:
    match node:
        case ast.Constant():
            return _literal(node, text)
        case ast.UnaryOp(op=ast.UAdd()):
            return _walk(node.operand, text)
        case ast.UnaryOp(op=ast.USub()):
            operand = _walk(node.operand, text)
            return Value(-operand.number, operand.exact)
        case ast.BinOp():
            return _binary(node, text)
        case ast.Call():
            return _call(node, text)
        case ast.Tuple():
            raise ExpressionInvalid("A comma is no part of a number; write 1000, not 1,000.")
        case ast.Name():
            raise ExpressionInvalid(f"{node.id!r} is no number; units and names are not known here.")
        case _:
            raise ExpressionInvalid("Only numbers, + - * / // % **, parentheses and functions are computed.")


def _literal(node: ast.Constant, text: str) -> Value:
    if isinstance(node.value, bool) or not isinstance(node.value, int | float):
        raise ExpressionInvalid(f"{node.value!r} is no number.")
    if isinstance(node.value, int):
        return _bounded(Value(Fraction(node.value)))
    source = ast.get_source_segment(text, node) or repr(node.value)
    try:
        written = Decimal(source)
    except InvalidOperation as error:
        raise ExpressionInvalid(f"{source!r} is no number.") from error
    if abs(written.adjusted()) > MAX_BITS // 4:
        raise _too_large()
    return _bounded(Value(Fraction(written)))


def _binary(node: ast.BinOp, text: str) -> Value:
    left, right = _walk(node.left, text), _walk(node.right, text)
    if isinstance(node.op, ast.Pow):
        return _power(left, right)
    operation = _OPERATIONS.get(type(node.op))
    if operation is None:
        advice = "; a power is written **" if isinstance(node.op, ast.BitXor) else ""
        raise ExpressionInvalid(f"Only + - * / // % ** are computed{advice}.")
    if isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod) and right.number == 0:
        raise ExpressionInvalid("The expression divides by zero.")
    return _bounded(Value(Fraction(operation(left.number, right.number)), left.exact and right.exact))


def _power(base: Value, exponent: Value) -> Value:
    if exponent.number.denominator != 1:
        return _inexact(lambda: float(base.number) ** float(exponent.number))
    power = exponent.number.numerator
    if base.number == 0 and power < 0:
        raise ExpressionInvalid("The expression divides by zero.")
    bits = max(base.number.numerator.bit_length(), base.number.denominator.bit_length())
    if abs(base.number) != 1 and base.number != 0 and (bits - 1) * abs(power) > MAX_BITS:
        raise _too_large()
    return _bounded(Value(base.number**power if base.number or power else Fraction(1), base.exact and exponent.exact))


def _call(node: ast.Call, text: str) -> Value:
    function = _FUNCTIONS.get(node.func.id) if isinstance(node.func, ast.Name) else None
    if function is None or node.keywords or not node.args:
        raise ExpressionInvalid(f"The functions are: {', '.join(sorted(_FUNCTIONS))}, with numbers in parentheses.")
    values = [_walk(argument, text) for argument in node.args]
    return _bounded(function(values))


def _first(values: list[Value], name: str) -> Value:
    if len(values) != 1:
        raise ExpressionInvalid(f"{name} takes one number.")
    return values[0]


def _root(values: list[Value]) -> Value:
    number = _first(values, "sqrt").number
    if number < 0:
        raise ExpressionInvalid("A negative number has no real root.")
    over, under = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if over**2 == number.numerator and under**2 == number.denominator:
        return Value(Fraction(over, under), values[0].exact)
    return _inexact(lambda: math.sqrt(number))


def _round(values: list[Value]) -> Value:
    if len(values) > 2 or (len(values) == 2 and values[1].number.denominator != 1):
        raise ExpressionInvalid("round takes a number and, if wanted, a whole number of decimals.")
    decimals = int(values[1].number) if len(values) == 2 else 0
    if abs(decimals) > MAX_EXACT_DIGITS:
        raise _too_large()
    return Value(Fraction(round(values[0].number, decimals)), values[0].exact)


def _inexact(work: Callable[[], float | complex]) -> Value:
    try:
        result = work()
    except (OverflowError, ValueError, ZeroDivisionError) as error:
        raise _too_large() from error
    if isinstance(result, complex) or not math.isfinite(result):
        raise ExpressionInvalid("The result is no real number.")
    return Value(Fraction(result), exact=False)


def _bounded(value: Value) -> Value:
    if max(value.number.numerator.bit_length(), value.number.denominator.bit_length()) > MAX_BITS:
        raise _too_large()
    return value


def _too_large() -> ExpressionInvalid:
    return ExpressionInvalid("A number in this expression grows too large; use smaller numbers or exponents.")


_OPERATIONS: Mapping[type[ast.operator], Callable[[Fraction, Fraction], Fraction | int]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: lambda left, right: left % right,
}
_FUNCTIONS: Mapping[str, Callable[[list[Value]], Value]] = {
    "abs": lambda values: Value(abs(_first(values, "abs").number), values[0].exact),
    "ceil": lambda values: Value(Fraction(math.ceil(_first(values, "ceil").number)), values[0].exact),
    "floor": lambda values: Value(Fraction(math.floor(_first(values, "floor").number)), values[0].exact),
    "max": lambda values: max(values, key=lambda value: value.number),
    "min": lambda values: min(values, key=lambda value: value.number),
    "round": _round,
    "sqrt": _root,
}
