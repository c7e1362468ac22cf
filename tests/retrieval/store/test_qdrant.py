"""What the server home promises beyond the contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from retrieval.errors import StoreUnavailable
from retrieval.store.qdrant import QdrantStore, open_qdrant_store
from retrieval.types import SearchFilter
from tests.retrieval.points import EMBEDDER, make_points


class RecordingClient(QdrantClient):
    """The in-memory double, which also keeps how large each write was and whether it waited."""

    def __init__(self) -> None:
        super().__init__(":memory:")
        self.writes: list[tuple[int, bool]] = []

    def upsert(self, *arguments: Any, **options: Any) -> models.UpdateResult:
        self.writes.append((len(arguments[1]), options["wait"]))
        return super().upsert(*arguments, **options)


def _open(client: QdrantClient) -> QdrantStore:
    return open_qdrant_store(client, collection="chunks", dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)


def test_a_large_write_is_cut_into_requests_by_number_and_each_is_waited_for() -> None:
    client = RecordingClient()
    _open(client).upsert(make_points(*(f"chunk {number}" for number in range(600))))
    assert client.writes == [(256, True), (256, True), (88, True)]


def test_a_large_write_is_cut_into_requests_by_size() -> None:
    client = RecordingClient()
    store = _open(client)
    points = make_points("a", "b", "c")
    large = [replace(point, chunk=replace(point.chunk, text="x" * 3_000_000)) for point in points]
    store.upsert(large)
    assert client.writes == [(1, True), (1, True), (1, True)]
    assert store.count(SearchFilter()) == 3


def test_two_stores_share_one_server() -> None:
    client = QdrantClient(":memory:")
    points = make_points("pod")
    _open(client).upsert(points)
    assert _open(client).chunks(SearchFilter()) == [points[0].chunk]


def test_a_server_that_does_not_answer_is_an_error_that_names_the_setting() -> None:
    client = QdrantClient(url="http://127.0.0.1:9", check_compatibility=False, timeout=1)
    with pytest.raises(StoreUnavailable, match=r"store\.url"):
        _open(client)


def test_a_collection_of_somebody_else_is_not_touched() -> None:
    client = QdrantClient(":memory:")
    client.create_collection("chunks", vectors_config=models.VectorParams(size=4, distance=models.Distance.DOT))
    with pytest.raises(StoreUnavailable, match=r"'chunks'.*store\.collection"):
        _open(client)
