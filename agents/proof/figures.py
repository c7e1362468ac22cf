"""Figures with units, brought to one form: ``1 MiB`` is ``1Mi``, ``5m`` is ``5 minutes``, ``six`` is ``6``."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import NamedTuple

from agents.proof.lexicon import NUMBER_WORDS

_SECONDS = {
    "ns": "0.000000001", "nanosecond": "0.000000001", "us": "0.000001", "µs": "0.000001", "microsecond": "0.000001",
    "ms": "0.001", "millisecond": "0.001", "s": "1", "sec": "1", "second": "1", "min": "60", "minute": "60",
    "h": "3600", "hr": "3600", "hour": "3600", "d": "86400", "day": "86400", "week": "604800", "month": "2629800",
    "year": "31557600",
}  # fmt: skip
_BYTES = {
    "b": "1", "byte": "1", "kb": "1000", "kilobyte": "1000", "mb": "1000000", "megabyte": "1000000",
    "gb": "1000000000", "gigabyte": "1000000000", "tb": "1000000000000", "terabyte": "1000000000000",
    "pb": "1000000000000000", "ki": str(2**10), "kib": str(2**10), "kibibyte": str(2**10), "mi": str(2**20),
    "mib": str(2**20), "mebibyte": str(2**20), "gi": str(2**30), "gib": str(2**30), "gibibyte": str(2**30),
    "ti": str(2**40), "tib": str(2**40), "tebibyte": str(2**40), "pi": str(2**50), "pib": str(2**50),
    "ei": str(2**60),
}  # fmt: skip
_OTHER = {
    "hz": ("1", "hertz"), "khz": ("1000", "hertz"), "mhz": ("1000000", "hertz"), "ghz": ("1000000000", "hertz"),
    "bps": ("1", "bit/s"), "kbps": ("1000", "bit/s"), "mbps": ("1000000", "bit/s"), "gbps": ("1000000000", "bit/s"),
    "bit": ("1", "bit"), "mbit": ("1000000", "bit"), "gbit": ("1000000000", "bit"), "v": ("1", "volt"),
    "w": ("1", "watt"), "kw": ("1000", "watt"), "mw": ("1000000", "watt"), "kwh": ("1000", "watt hour"),
    "mm": ("0.001", "metre"), "cm": ("0.01", "metre"), "km": ("1000", "metre"), "metre": ("1", "metre"),
    "meter": ("1", "metre"), "kilometre": ("1000", "metre"), "kilometer": ("1000", "metre"), "mile": ("1609", "metre"),
    "kg": ("1", "kilogram"), "mg": ("0.000001", "kilogram"), "g": ("0.001", "kilogram"), "gram": ("0.001", "kilogram"),
    "kilogram": ("1", "kilogram"), "dollar": ("1", "$"), "usd": ("1", "$"), "euro": ("1", "€"), "eur": ("1", "€"),
    "°c": ("1", "celsius"), "°f": ("1", "fahrenheit"), "millicore": ("0.001", ""), "millicpu": ("0.001", ""),
}  # fmt: skip
_PER_CENT = {"%", "percent", "per cent"}

_LONG = sorted(
    [f"{u}s?" for u in (*_SECONDS, *_BYTES, *(k for k in _OTHER if k.isalpha())) if len(u) > 3] + ["per cent"],
    key=len, reverse=True,
)  # fmt: skip
_SHORT = (
    "ns|us|µs|ms|secs?|mins?|hrs?|KiB|MiB|GiB|TiB|PiB|Ki|Mi|Gi|Ti|Pi|Ei|kB|KB|MB|GB|TB|PB|kHz|MHz|GHz|Hz|Kbps|kbps|Mbps|"
    "Gbps|bps|bits?|Mbit|Gbit|kWh|kW|MW|mm|cm|km|kg|mg|days?|USD|EUR|°C|°F|s|h"
)
_ATTACHED = "m|d|k|K|M|G|T|B|g|W|V"
NUMBER = r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
UNIT = rf"(?:\s?%|[\s-]?(?:{'|'.join(_LONG)})(?!\w)|\s?(?:{_SHORT})(?!\w)|(?:{_ATTACHED})(?!\w))"
"""What may follow a number as its unit; one-letter units other than s and h only without a space."""
_PARTS = re.compile(rf"(?P<sign>[-−+]?)(?P<currency>[$€£]?)(?P<number>{NUMBER})(?P<unit>.*)", re.DOTALL)


class Form(NamedTuple):
    """One reading of a figure: its value in the base unit of ``dimension``; no dimension is a plain number."""

    value: Decimal
    dimension: str


Forms = frozenset[Form]
"""All readings of one figure; ``5m`` is five minutes or five thousandths. Figures agree if they share a reading."""


@lru_cache(maxsize=8192)
def read_figure(text: str) -> Forms:
    """All readings of a written figure with its unit; empty for text that is no figure."""
    match = _PARTS.fullmatch(text.strip())
    if match is None:
        return frozenset()
    try:
        number = Decimal(match["number"].replace(",", ""))
    except InvalidOperation:
        return frozenset()
    value = (-number if match["sign"] in ("-", "−") else number).normalize()
    if match["currency"]:
        return frozenset({Form(value, match["currency"])})
    return _with_unit(value, match["unit"].strip(" -\n\t\u00a0"))


def read_number_word(word: str) -> Forms:
    """The reading of a written-out number such as ``six``; empty for any other word."""
    number = NUMBER_WORDS.get(word)
    return frozenset() if number is None else frozenset({Form(Decimal(number).normalize(), "")})


def scale(number: Forms, unit: str) -> Forms:
    """A plain number with a unit that follows it as a word of its own: ``six`` and ``minutes``."""
    plain = next((form.value for form in number if not form.dimension), None)
    return number if plain is None else _with_unit(plain, unit)


def is_unit_word(word: str) -> bool:
    """Whether a lower-case word names a unit when it follows a number."""
    single = word.removesuffix("s") if len(word) > 3 else word
    return len(word) > 2 and (single in _SECONDS or single in _BYTES or single in _OTHER or word in _PER_CENT)


def dimensions(forms: Forms) -> frozenset[str]:
    """Dimensions that a figure may have."""
    return frozenset(form.dimension for form in forms)


def _with_unit(value: Decimal, unit: str) -> Forms:
    if not unit:
        return frozenset({Form(value, "")})
    if unit.lower() in _PER_CENT:
        return frozenset({Form(value, "%"), Form((value / 100).normalize(), "")})
    by_case = _by_case(value, unit)
    if by_case:
        return by_case
    key = unit.lower()
    single = key.removesuffix("s") if len(key) > 3 or key in ("mins", "secs", "hrs") else key
    for table, dimension in ((_SECONDS, "s"), (_BYTES, "B")):
        if single in table:
            return frozenset({Form((value * Decimal(table[single])).normalize(), dimension)})
    if single in _OTHER:
        factor, dimension = _OTHER[single]
        return frozenset({Form((value * Decimal(factor)).normalize(), dimension)})
    return frozenset({Form(value, key)})


def _by_case(value: Decimal, unit: str) -> Forms:
    """Units whose case decides, or that have two readings: ``m``, and the decimal suffixes of quantities."""
    if unit == "m":
        minutes, thousandths = (value * 60).normalize(), (value / 1000).normalize()
        return frozenset({Form(minutes, "s"), Form(thousandths, ""), Form(value, "metre")})
    factor = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}.get(unit)
    if factor is None:
        return frozenset()
    scaled = (value * factor).normalize()
    return frozenset({Form(scaled, ""), Form(scaled, "B")})
