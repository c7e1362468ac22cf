"""How alike two texts are, by their runs of words, and whether they say the same. Pure: compares words alone."""

from __future__ import annotations

import re
from functools import lru_cache

_RUN = 3
"""Words in a row that are compared (Broder, "On the resemblance and containment of documents", 1997)."""
_WORD = re.compile(r"\w+")
_AROUND = ".,;:!?()[]{}<>*_`\"'|"
_DENIALS = frozenset({"not", "no", "never", "cannot", "without", "neither", "nor"})
_SHORT_DENIALS = ("n't", "n’t")


def resemblance(first: str, second: str) -> float:
    """Share of the runs of three words of two texts that both have, 0 to 1; case, spacing, punctuation do not count."""
    ours, theirs = _runs(first), _runs(second)
    both = len(ours & theirs)
    either = len(ours) + len(theirs) - both
    return both / either if either else 0.0


def say_the_same(first: str, second: str, *, threshold: float) -> bool:
    """Whether two texts resemble each other by at least ``threshold`` and have the same figures and denials.

    A passage on exit code 139 is no repeat of the one on 137, though every other word is the same.
    """
    return resemblance(first, second) >= threshold and _telling(first) == _telling(second)


@lru_cache(maxsize=1024)
def _telling(text: str) -> frozenset[str]:
    """Words with a digit, each with the word behind it, for that may be its unit; and words that deny."""
    words = [word.strip(_AROUND) for word in text.lower().split()]
    figures = (
        " ".join(words[place : place + 2])
        for place, word in enumerate(words)
        if not word.isalpha() and any(map(str.isdigit, word))
    )
    denials = (word for word in words if word in _DENIALS or word.endswith(_SHORT_DENIALS))
    return frozenset([*figures, *denials])


@lru_cache(maxsize=1024)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    if len(words) < _RUN:
        return frozenset([tuple(words)])
    return frozenset(zip(*(words[start:] for start in range(_RUN)), strict=False))
