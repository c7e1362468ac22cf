from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from watchdog.events import FileCreatedEvent, FileSystemEventHandler

from app.cli import watching


class _Observer:
    """Watches nothing; the test tells its handler what has changed."""

    handlers: list[FileSystemEventHandler]

    def __init__(self) -> None:
        self.handlers = []

    def schedule(self, handler: FileSystemEventHandler, _folder: str, *, recursive: bool) -> None:
        assert recursive
        self.handlers.append(handler)

    def start(self) -> None: ...

    def stop(self) -> None: ...

    def join(self) -> None: ...


@pytest.mark.parametrize("turns", range(6))
async def test_cancellation_that_comes_together_with_a_change_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    observer = _Observer()
    monkeypatch.setattr(watching, "Observer", lambda: observer)
    async with aclosing(watching.changes([str(tmp_path)], quiet_seconds=30)) as batches:
        upcoming = asyncio.ensure_future(anext(batches))
        await asyncio.sleep(0)
        for name in ("first.md", "second.md"):
            observer.handlers[0].on_any_event(FileCreatedEvent(str(tmp_path / name)))
            # The second change is on its way, so many turns of the loop long, when the cancellation comes.
            for _ in range(10 if name == "first.md" else turns):
                await asyncio.sleep(0)
        upcoming.cancel()
        await asyncio.wait([upcoming], timeout=10)
        assert upcoming.cancelled()
