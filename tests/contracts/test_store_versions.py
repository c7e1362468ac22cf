"""One whole version of a document is seen at any moment, over every home."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from retrieval.store.edge import open_edge_store
from retrieval.store.protocol import VectorStore
from retrieval.types import IndexedChunk, SearchFilter
from tests.contracts.stores import ALL, DIM, FINGERPRINT, dense, lexical
from tests.retrieval.points import make_chunk, make_point

_VERSION_CHUNKS = 4


def _version(number: int) -> list[IndexedChunk]:
    """Four chunks of one document in one of its versions."""
    chunks = [
        make_chunk(f"pod restart in version {number} part {part}", position=part) for part in range(_VERSION_CHUNKS)
    ]
    return [make_point(replace(chunk, version=f"version-{number}")) for chunk in chunks]


def _replace(store: VectorStore, number: int, between: Callable[[], object] = lambda: None) -> None:
    """The next version in the place of this one, as an ingest does it."""
    old, new = f"version-{number}", f"version-{number + 1}"
    store.visibility.change(hide=[new])
    assert store.visibility.drain(timeout_seconds=30)
    between()
    store.upsert(_version(number + 1))
    between()
    store.visibility.change(hide=[old], show=[new])
    between()
    assert store.visibility.drain(timeout_seconds=30)
    store.delete_chunks(sorted(store.chunk_ids(SearchFilter(versions=(old,)))))
    between()
    store.visibility.change(show=[old])
    between()


def test_a_hidden_version_is_counted_and_not_found(store: VectorStore) -> None:
    store.upsert([*_version(1), *_version(2)])
    store.visibility.change(hide=["version-2"])
    seen = {point.chunk.chunk_id for point in _version(1)}
    assert {scored.chunk.chunk_id for scored in dense(store, "pod restart")} == seen
    assert {scored.chunk.chunk_id for scored in lexical(store, "pod restart")} == seen
    assert {chunk.chunk_id for chunk in store.chunks(ALL)} == seen
    assert store.count(ALL) == len(store.chunk_ids(ALL)) == 2 * _VERSION_CHUNKS
    assert store.count(SearchFilter(versions=("version-2",))) == _VERSION_CHUNKS


def _seen(store: VectorStore) -> set[str]:
    """Versions that one look at both legs and the list shows, each whole."""
    with store.visibility.reading():
        legs = [dense(store, "pod restart"), lexical(store, "pod restart")]
        chunks = [scored.chunk for leg in legs for scored in leg] + store.chunks(ALL)
    assert len(chunks) == 3 * _VERSION_CHUNKS
    return {chunk.version for chunk in chunks}


def test_between_all_steps_of_a_replacement_one_whole_version_is_seen(store: VectorStore) -> None:
    store.upsert(_version(0))
    seen: list[set[str]] = []
    _replace(store, 0, lambda: seen.append(_seen(store)))
    assert seen == [{"version-0"}] * 2 + [{"version-1"}] * 3


def test_readers_see_the_old_or_the_new_version_and_never_half(tmp_path: Path) -> None:
    # The embedded store alone: the in-memory server is not made for threads.
    store = open_edge_store(tmp_path / "store", dim=DIM, fingerprint=FINGERPRINT)
    store.upsert(_version(0))
    ended = threading.Event()

    def read() -> set[str]:
        """Search with both legs until the writer has ended; every look must show one whole version."""
        versions: set[str] = set()
        while not ended.is_set():
            seen = _seen(store)
            assert len(seen) == 1, seen
            versions |= seen
        return versions

    with ThreadPoolExecutor(2) as readers:
        looks = [readers.submit(read) for _ in range(2)]
        try:
            for number in range(12):
                _replace(store, number)
        finally:
            ended.set()
        seen = [look.result() for look in looks]
    assert all(len(versions) > 1 for versions in seen)
    assert store.count(ALL) == _VERSION_CHUNKS
    store.close()
