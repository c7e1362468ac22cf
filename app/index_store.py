"""Where the store of an index is: the home's first one in its own place, later ones beside it."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from app.models.store import ModelStore
from app.settings import Settings
from ingestion.index_ledger import BASE_INDEX
from retrieval.store.protocol import VectorStore


def open_index_store(settings: Settings, index: str, *, dim: int, fingerprint: str) -> VectorStore:
    """Open the store of an index, or create it.

    Args:
        settings: Which kind of store, and where.
        index: Name of the index.
        dim: Length of the dense vectors.
        fingerprint: The embedder's fingerprint; compared with the one that the store was created with.

    Raises:
        StoreUnavailable: The store cannot be opened.
        EmbeddingModelMismatch: It was built with another embedding model.
    """
    match settings.store.home:
        case "edge":
            from retrieval.store.edge import open_edge_store

            path = settings.home.store if index == BASE_INDEX else settings.home.store / index
            return open_edge_store(path, dim=dim, fingerprint=fingerprint)
        case "qdrant":
            return _open_qdrant(settings, index, dim=dim, fingerprint=fingerprint)
        case _:
            assert_never(settings.store.home)


def embedding_folder(models: ModelStore, model: str) -> Path:
    """Folder of an embedding model that is named by its place or by its name in the model store.

    Raises:
        ModelFilesMissing: It has not been pulled, or is incomplete.
    """
    folder = Path(model)
    return folder if folder.is_absolute() and folder.is_dir() else models.embedding_folder(model)


def _open_qdrant(settings: Settings, index: str, *, dim: int, fingerprint: str) -> VectorStore:
    from qdrant_client import QdrantClient

    from retrieval.store.qdrant import open_qdrant_store

    server = settings.store
    client = QdrantClient(
        url=server.url,
        api_key=server.api_key.get_secret_value() if server.api_key else None,
        timeout=int(server.timeout_seconds),
        check_compatibility=False,
    )
    collection = server.collection if index == BASE_INDEX else f"{server.collection}-{index}"
    return open_qdrant_store(client, collection=collection, dim=dim, fingerprint=fingerprint)
