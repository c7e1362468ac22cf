from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from uuid import uuid4

import pytest
from qdrant_client import QdrantClient

from retrieval.store.protocol import VectorStore
from tests.contracts.stores import SERVER_URL, Home, edge_home, qdrant_home


@pytest.fixture(
    params=["edge", "memory", *([pytest.param("url", marks=pytest.mark.integration)] if SERVER_URL else [])]
)
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Home]:
    match request.param:
        case "edge":
            yield Home(edge_home(tmp_path / "store"), one_owner=True)
        case "memory":
            yield Home(qdrant_home(QdrantClient(":memory:"), "chunks"))
        case _:
            collection = f"groundwork-test-{uuid4()}"
            yield Home(qdrant_home(QdrantClient(url=SERVER_URL), collection))
            QdrantClient(url=SERVER_URL).delete_collection(collection)


@pytest.fixture
def store(home: Home) -> Generator[VectorStore]:
    store = home.open()
    yield store
    store.close()
