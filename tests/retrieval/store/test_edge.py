"""What the embedded home promises beyond the contract: one owner, kept writes, errors that say what to do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from retrieval.errors import StoreLocked, StoreUnavailable
from retrieval.store.edge import EdgeStore, open_edge_store
from retrieval.types import SearchFilter
from tests.retrieval.points import EMBEDDER, LEXICAL, make_points, uuid_of

_ALL = SearchFilter()
_ROOT = Path(__file__).parents[3]

# Writes one batch after the other, says after each that it is acknowledged, and never closes.
_WRITER = """
import sys
from pathlib import Path
from retrieval.store.edge import open_edge_store
from tests.retrieval.points import EMBEDDER, make_points

store = open_edge_store(Path(sys.argv[1]), dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
for number in range(1_000_000):
    store.upsert(make_points(f"first {number}", f"second {number}", document=f"document-{number}"))
    print(number, flush=True)
"""


def _open(path: Path) -> EdgeStore:
    return open_edge_store(path, dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)


@pytest.fixture
def writer(tmp_path: Path) -> Generator[subprocess.Popen[str]]:
    """Another process that has the store in ``tmp_path`` open and writes to it."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(tmp_path)], cwd=_ROOT, stdout=subprocess.PIPE, text=True
    )
    with process:
        yield process
        process.kill()


def _acknowledged(writer: subprocess.Popen[str], count: int) -> list[int]:
    assert writer.stdout is not None
    return [int(writer.stdout.readline()) for _ in range(count)]


def test_acknowledged_writes_survive_a_killed_process(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    assert _acknowledged(writer, 20) == list(range(20))
    writer.kill()
    writer.wait()
    store = _open(tmp_path)
    for number in range(20):
        points = make_points(f"first {number}", f"second {number}", document=f"document-{number}")
        kept = SearchFilter(document_ids=(uuid_of(f"document-{number}"),))
        assert store.chunks(kept) == [point.chunk for point in points]
    found = store.search_lexical(LEXICAL.encode_query("first 7"), search_filter=_ALL, limit=1)
    assert [chunk.text for chunk in store.fetch([found[0].chunk_id])] == ["first 7"]
    store.close()


def test_a_second_process_is_told_that_the_store_is_in_use(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    _acknowledged(writer, 1)
    with pytest.raises(StoreLocked, match="another process has it open"):
        _open(tmp_path)


def test_a_store_is_free_again_once_it_is_closed(tmp_path: Path) -> None:
    first = _open(tmp_path)
    first.upsert(make_points("kept"))
    first.close()
    second = _open(tmp_path)
    assert second.count(_ALL) == 1
    second.close()


def test_a_creation_that_was_killed_half_way_is_made_good(tmp_path: Path) -> None:
    _open(tmp_path).close()
    (tmp_path / "shard").rename(tmp_path / "shard.unfinished")
    store = _open(tmp_path)
    store.upsert(make_points("pod"))
    assert store.count(_ALL) == 1
    store.close()


@pytest.mark.parametrize("content", ["", "{", '{"dim": 64}'])
def test_a_store_whose_model_is_not_known_is_not_opened(tmp_path: Path, content: str) -> None:
    _open(tmp_path).close()
    (tmp_path / "store.json").write_text(content, encoding="utf-8")
    with pytest.raises(StoreUnavailable, match=r"store\.json.*index again"):
        _open(tmp_path)


@pytest.mark.parametrize("name", ["edge_config.json", "first-index", "segment.json", "tracker.dat"])
def test_a_damaged_store_says_where_it_lies(tmp_path: Path, name: str) -> None:
    store = _open(tmp_path)
    store.upsert(make_points("pod"))
    store.close()
    for file in tmp_path.rglob(name):
        file.write_bytes(b"\xff" * min(file.stat().st_size, 4096))
    with pytest.raises(StoreUnavailable, match=str(tmp_path)):
        _open(tmp_path)


def test_a_folder_that_cannot_be_made_is_an_error_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(StoreUnavailable):
        _open(tmp_path / "file" / "store")


def test_threads_may_write_and_search_at_once(tmp_path: Path) -> None:
    store = _open(tmp_path)

    def write_and_search(number: int) -> int:
        store.upsert(make_points(f"pod {number}", f"node {number}", document=f"document-{number}"))
        vector, terms = EMBEDDER.embed_query("pod"), LEXICAL.encode_query(f"pod {number}")
        legs = store.search_legs(vector, terms, search_filter=_ALL, limit=500)
        chunks = store.fetch([scored.chunk_id for scored in legs.bm25.found])
        return sum(chunk.text == f"pod {number}" for chunk in chunks)

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(write_and_search, range(64))) == [1] * 64
    assert store.count(_ALL) == 128
    store.close()
