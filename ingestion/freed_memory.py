"""Memory that was freed, back to the system. Knows the C library and nothing of ingestion."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import cast


def give_back() -> None:
    """Return freed memory of this process to the system where the C library can; takes milliseconds.

    glibc keeps what lies between blocks in use, in a heap for each thread. Groups of documents that come and go would
    leave more of it with every group (malloc_trim(3)).
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Callable[[int], int] | None:
    """``malloc_trim`` of glibc; None with another C library."""
    return cast("Callable[[int], int] | None", getattr(ctypes.CDLL(None), "malloc_trim", None))
