from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.builtin.arithmetic import MAX_BITS, ExpressionInvalid, compute, is_exact, shown


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("0.1 + 0.2", "0.3"),
        ("512 * 1.5", "768"),
        ("(487 / 512) * 100", "95.1171875"),
        ("2 ** 10", "1024"),
        ("2 ** -2", "0.25"),
        ("-2 ** 2", "-4"),
        ("7 // 2 + 7 % 2", "4"),
        ("1e3 + .5", "1000.5"),
        ("3 × 4 ÷ 2 − 1", "5"),
        ("max(1, 2.5, 2) - min(3, 1)", "1.5"),
        ("round(2 / 3, 3)", "0.667"),
        ("sqrt(2.25)", "1.5"),
        ("ceil(48210 / 50)", "965"),
        ("0 ** 0", "1"),
        ("1_000 * 3", "3000"),
        ("0.1234567890123456789 * 10", "1.234567890123456789"),
        ("100 - 100", "0"),
        ("12 * 10 ** 20", "1200000000000000000000"),
    ],
)
def test_results_are_exact_decimals(expression: str, result: str) -> None:
    value = compute(expression)
    assert (shown(value), is_exact(value)) == (result, True)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("1 / 3", "0.333333333333333"),
        ("sqrt(2)", "1.4142135623731"),
        ("2 ** 0.5", "1.4142135623731"),
        ("1 / 3 ** 60", "2.35898248759257e-29"),
    ],
)
def test_what_has_no_short_decimal_is_rounded_and_says_so(expression: str, result: str) -> None:
    value = compute(expression)
    assert (shown(value), is_exact(value)) == (result, False)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("", "empty"),
        ("512Mi * 2", "units"),
        ("1,000 * 2", "write 1000"),
        ("2 ^ 10", r"written \*\*"),
        ("1 / 0", "divides by zero"),
        ("0 ** -1", "divides by zero"),
        ("5 % 0", "divides by zero"),
        ("9 ** 9 ** 9", "too large"),
        ("2 ** 5000", "too large"),
        ("1e999999", "no arithmetic|too large|no number"),
        ("1e5000", "too large"),
        ("10.0 ** 0.5 ** -9999", "too large|no real"),
        ("(-8) ** 0.5", "no real number"),
        ("sqrt(-1)", "no real root"),
        ("sqrt(1, 2)", "takes one number"),
        ("memory * 2", "'memory' is no number"),
        ("1 if 2 else 3", "Only numbers"),
        ("__import__('os').system('true')", "The functions are"),
        ("(1).__class__", "Only numbers"),
        ("open('x')", "The functions are"),
        ("'a' * 3", "no number"),
        ("True + 1", "no number"),
        ("1j * 2", "no number"),
        ("[1, 2]", "Only numbers"),
        ("round(1, 2.5)", "whole number"),
        ("max(x=1)", "The functions are"),
        ("1 +", "no arithmetic"),
        ("1\n+ 2; 3", "no arithmetic"),
        ("(" * 150 + "1" + ")" * 150, "no arithmetic|longer"),
        ("1+" * 149 + "1", "too many parts"),
        ("-" * 290 + "1", "too many parts"),
        ("1" * 301, "longer"),
    ],
)
def test_what_is_no_arithmetic_is_refused_with_what_to_write(expression: str, words: str) -> None:
    with pytest.raises(ExpressionInvalid, match=words):
        compute(expression)


_NUMBERS = st.integers(0, 10**6).map(str) | st.decimals(0, 1000, places=3).map(str)
_EXPRESSIONS = st.recursive(
    _NUMBERS,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**", "//", "%"]), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=12,
)


@given(_EXPRESSIONS)
def test_any_expression_is_a_bounded_number_or_a_refusal(expression: str) -> None:
    try:
        value = compute(expression)
    except ExpressionInvalid:
        pass
    else:
        assert value.number.numerator.bit_length() <= MAX_BITS
        error = abs(Fraction(shown(value)) - value.number)
        assert error <= abs(value.number) / 10**14


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9), st.integers(1, 10**9))
def test_sums_and_products_are_exact(first: int, second: int, third: int) -> None:
    assert compute(f"({first} + {second}) * {third}").number == (first + second) * third
    assert compute(f"{first} / {third} * {third}").number == first
