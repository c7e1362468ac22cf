"""Which versions of documents readers see: changed in one step, and only with readers that began before it gone.

A version is hidden before its first chunk is written, and the writer waits for readers that do not know so yet. When
it is whole it is shown, and the one it replaces is hidden in the same step and deleted when nobody reads it any more.
What is hidden is a set of names that costs a search nothing while it is empty. Knows no store. One process writes and
reads a home; other processes on the same Qdrant server do not see its set.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Collection, Generator
from contextlib import contextmanager

_NOTHING: frozenset[str] = frozenset()


class Visibility:
    """The set of hidden versions of one store. Safe from several threads."""

    def __init__(self) -> None:
        self._hidden = _NOTHING
        self._step = 0
        self._readers: Counter[int] = Counter()
        self._changed = threading.Condition()
        self._own = threading.local()

    @contextmanager
    def reading(self) -> Generator[frozenset[str]]:
        """What is hidden, the same until the context ends; inside another one of this thread, what that one sees."""
        outer: frozenset[str] | None = getattr(self._own, "hidden", None)
        if outer is not None:
            yield outer
            return
        with self._changed:
            hidden, step = self._hidden, self._step
            self._readers[step] += 1
        self._own.hidden = hidden
        try:
            yield hidden
        finally:
            self._own.hidden = None
            with self._changed:
                self._readers[step] -= 1
                if not self._readers[step]:
                    del self._readers[step]
                    self._changed.notify_all()

    def change(self, *, hide: Collection[str] = (), show: Collection[str] = ()) -> None:
        """Hide and show versions in one step; who reads already goes on with what was."""
        with self._changed:
            self._hidden = (self._hidden | set(hide)) - set(show)
            self._step += 1

    def drain(self, *, timeout_seconds: float) -> bool:
        """Wait for readers that began before the last change; False when some are still there after the time."""
        with self._changed:
            step = self._step
            return self._changed.wait_for(
                lambda: all(reader >= step for reader in self._readers), timeout=timeout_seconds
            )
