from __future__ import annotations

from pathlib import Path

import pytest

from ingestion import freed_memory
from ingestion.freed_memory import give_back


def _own_kilobytes() -> int:
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))


@pytest.mark.skipif(freed_memory._trim() is None, reason="only glibc gives freed memory back when asked")  # pyright: ignore[reportPrivateUsage]
def test_memory_between_what_is_kept_goes_back_to_the_system() -> None:
    blocks = [bytearray(4096) for _ in range(16_000)]
    del blocks[::2], blocks[::3], blocks[::5], blocks[::7]
    kept = blocks[::500]
    del blocks
    before = _own_kilobytes()
    give_back()
    assert _own_kilobytes() < before - 8_000
    assert all(len(block) == 4096 for block in kept)
