from __future__ import annotations

import hashlib
import os
from collections.abc import Generator
from pathlib import Path

import pytest

from ingestion.loaders.loader import LoadOptions
from ingestion.parse_worker import ParseResult, ParseTask
from ingestion.workers import ParsePool

MEMORY_BYTES = 256 * 1024 * 1024


@pytest.fixture(scope="module")
def pool() -> Generator[ParsePool]:
    """One worker whose child hangs, eats, crashes and ends when a file says so."""
    module = "tests.ingestion.misbehaving_worker"
    with ParsePool(workers=1, timeout_seconds=3, memory_bytes=MEMORY_BYTES, module=module) as pool:
        yield pool


def parse(pool: ParsePool, path: Path, data: bytes) -> ParseResult:
    path.write_bytes(data)
    task = ParseTask(path, path.name, 1_000_000, LoadOptions(), path.with_name("spill"))
    return pool.submit(task).result(timeout=60)


def test_a_file_becomes_a_document_with_the_hash_of_its_bytes(pool: ParsePool, tmp_path: Path) -> None:
    data = b"# Limits\n\nA pod has a memory limit.\n"
    result = parse(pool, tmp_path / "a.md", data)
    assert result.document is not None
    assert result.document.text == data.decode()
    assert (result.sha256, result.size_bytes) == (hashlib.sha256(data).hexdigest(), len(data))
    assert result.reason is None


@pytest.mark.parametrize(
    ("order", "reason", "word"),
    [
        ("hang", "timeout", "3 s"),
        ("eat", "out_of_memory", "parse_memory_bytes"),
        ("crash", "corrupt", "SIGSEGV"),
        ("exit", "internal_error", "exit code 3"),
        ("raise", "internal_error", "RecursionError"),
    ],
)
def test_a_file_that_breaks_its_process_has_a_reason_and_the_next_file_is_parsed(
    pool: ParsePool, tmp_path: Path, order: str, reason: str, word: str
) -> None:
    result = parse(pool, tmp_path / "file.bad", order.encode())
    assert (result.reason, result.document) == (reason, None)
    assert word in result.detail
    assert parse(pool, tmp_path / "next.txt", b"Good text.").document is not None


def test_files_that_cannot_be_read_have_their_reason(pool: ParsePool, tmp_path: Path) -> None:
    large = tmp_path / "large.txt"
    assert parse(pool, large, b"x" * 1_000_001).reason == "too_large"
    gone = ParseTask(tmp_path / "gone.txt", "gone.txt", 10, LoadOptions(), tmp_path / "spill")
    assert pool.submit(gone).result(timeout=60).reason == "not_found"


def test_closing_ends_a_child_that_hangs(tmp_path: Path) -> None:
    path = tmp_path / "file.bad"
    path.write_bytes(b"hang")
    pool = ParsePool(
        workers=1, timeout_seconds=3600, memory_bytes=MEMORY_BYTES, module="tests.ingestion.misbehaving_worker"
    )
    running = pool.submit(ParseTask(path, path.name, 10, LoadOptions(), tmp_path / "spill"))
    while not running.running():
        os.sched_yield()
    pool.close()
    assert running.result(timeout=0).document is None
