"""Whether an answer says what it must: the rule of ``must_contain``. Knows text alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

ALTERNATIVES = "||"
_MARKERS = re.compile(r"(?<!\S)(?:\[\d{1,3}\])+(?!\()")
"""Citation numbers as the server writes them, behind a space; ``containers[0]`` and links are none."""


def missing_items(answer: str, must_contain: Sequence[str]) -> list[str]:
    """Items of ``must_contain`` that the answer does not hold, in their order.

    Compared without case, code and emphasis marks, and with white space collapsed. An alternative that is only digits
    must stand as a whole number. Citation numbers are not part of the answer.
    """
    text = bare(_MARKERS.sub(" ", answer))
    return [item for item in must_contain if not any(_holds(text, option) for option in item.split(ALTERNATIVES))]


def bare(text: str) -> str:
    """Text as it is compared: no code and emphasis marks, one space between words, lower case."""
    return " ".join(text.replace("`", "").replace("*", "").split()).lower()


def _holds(text: str, option: str) -> bool:
    wanted = bare(option)
    if wanted.isdigit():
        return re.search(rf"(?<!\d)(?<!\d[.,]){wanted}(?![.,]?\d)", text) is not None
    return wanted in text
