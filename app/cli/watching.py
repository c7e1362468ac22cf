"""What changes under some paths, gathered until it is quiet. Knows no ingest."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from ingestion.loaders.sidecar import ENDING as SIDECAR_ENDING

QUIET_SECONDS = 1.0
"""An editor writes a file in several steps; what changes within this time of one another is taken together."""
_READING = frozenset(("opened", "closed_no_write"))


async def changes(paths: Sequence[str], *, quiet_seconds: float = QUIET_SECONDS) -> AsyncGenerator[tuple[str, ...]]:
    """Paths to ingest again, each time that something under these has changed and a while has passed.

    A file stands for itself; a folder that went, or a file that holds the metadata of another one, for its folder.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str] = asyncio.Queue()

    def tell(path: str) -> None:
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(queue.put_nowait, path)

    observer = Observer()
    roots = [Path(path) for path in paths]
    for root in roots:
        folder = root if root.is_dir() else root.parent
        observer.schedule(_Handler(roots, tell), str(folder), recursive=root.is_dir())
    observer.start()
    try:
        while True:
            changed = {await queue.get()}
            with suppress(TimeoutError):
                while True:
                    # Not wait_for: in Python 3.11 it loses the cancellation that comes together with a change.
                    async with asyncio.timeout(quiet_seconds):
                        changed.add(await queue.get())
            yield tuple(sorted(changed))
    finally:
        observer.stop()
        await asyncio.to_thread(observer.join)


class _Handler(FileSystemEventHandler):
    """Turns events into paths to ingest; called on the observer's thread."""

    def __init__(self, roots: Sequence[Path], tell: Callable[[str], None]) -> None:
        self._roots = roots
        self._tell = tell

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Take down what an event means."""
        if event.event_type in _READING or (event.is_directory and event.event_type == "modified"):
            return
        for given in (event.src_path, event.dest_path):
            path = Path(os.fsdecode(given)) if given else None
            if path is not None and self._is_below(path):
                whole = event.is_directory or path.name.endswith(SIDECAR_ENDING)
                self._tell(str(path.parent if whole else path))

    def _is_below(self, path: Path) -> bool:
        return any(path == root or (root in path.parents and not _is_hidden(path, root)) for root in self._roots)


def _is_hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)
