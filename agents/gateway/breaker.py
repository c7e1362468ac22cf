"""A circuit breaker: a server that keeps failing is left alone for a while, then tried once."""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES = 3
"""Failures in a row that open the circuit."""
OPEN_SECONDS = 20.0
"""How long an open circuit stays open before one call may try."""


class CircuitBreaker:
    """Belongs to one event loop."""

    def __init__(
        self,
        *,
        failures: int = FAILURES,
        open_seconds: float = OPEN_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = failures
        self._open_seconds = open_seconds
        self._clock = clock
        self._failures = 0
        self._closed_again = 0.0
        self._trying = False

    @property
    def is_open(self) -> bool:
        """Whether calls are held back now; does not take the one trial."""
        return self._failures >= self._limit and (self._trying or self._clock() < self._closed_again)

    def admit(self) -> bool:
        """Whether a call may go out; one that may must report its end by ``succeeded``, ``failed`` or ``abandoned``."""
        if self.is_open:
            return False
        self._trying = self._failures >= self._limit
        return True

    def succeeded(self) -> None:
        """The server answered."""
        self._failures = 0
        self._trying = False

    def failed(self) -> None:
        """The server did not answer."""
        self._failures += 1
        self._trying = False
        if self._failures >= self._limit:
            self._closed_again = self._clock() + self._open_seconds

    def abandoned(self) -> None:
        """The caller left before anybody could tell."""
        self._trying = False
