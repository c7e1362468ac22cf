"""Opens the index that a home is searched with, together with the model that it was built with."""

from __future__ import annotations

from typing import NamedTuple

from app.index_store import embedding_folder, open_index_store
from app.models.store import ModelStore
from app.settings import Settings
from ingestion.index_ledger import BASE_INDEX, Index
from retrieval.embedders.onnx import load_onnx_embedder
from retrieval.embedders.protocol import Embedder
from retrieval.errors import EmbeddingModelMismatch
from retrieval.store.protocol import VectorStore


class OpenIndex(NamedTuple):
    """A store and the embedder of its vectors."""

    embedder: Embedder
    store: VectorStore


def load_embedder(settings: Settings, models: ModelStore, model: str) -> Embedder:
    """A model by its name or folder, as the settings run it.

    Raises:
        ModelFilesMissing: It has not been pulled.
    """
    embedding = settings.embedding
    return load_onnx_embedder(
        embedding_folder(models, model),
        name=model,
        threads=embedding.threads,
        batch_tokens=embedding.batch_tokens,
    )


def load_index_embedder(settings: Settings, models: ModelStore, index: Index | None) -> Embedder:
    """The model that the active index was built with; another one that is named in the settings is refused.

    Raises:
        EmbeddingModelMismatch: The settings name another model.
        ModelFilesMissing: The model has not been pulled.
    """
    embedding = settings.embedding
    model = index.embedding_model if index else embedding.model
    if "model" in embedding.model_fields_set and embedding.model != model:
        raise EmbeddingModelMismatch(
            f"the documents are searched with {model!r}, but embedding.model is {embedding.model!r}; "
            f"run `groundwork reindex --embedding-model {embedding.model}`, or set it back"
        )
    return load_embedder(settings, models, model)


def open_index(settings: Settings, models: ModelStore, index: Index | None, *, embedder: Embedder | None) -> OpenIndex:
    """Open the active index.

    Args:
        settings: Of the home.
        models: Where embedding models are.
        index: The active one; None in a home that was never reindexed.
        embedder: Used instead of the model of the index.

    Raises:
        EmbeddingModelMismatch: The store was built with another model.
        ModelFilesMissing: The model has not been pulled.
        StoreUnavailable: The store cannot be opened.
    """
    name = index.name if index else BASE_INDEX
    used = embedder or load_index_embedder(settings, models, index)
    return OpenIndex(used, open_index_store(settings, name, dim=used.dim, fingerprint=used.fingerprint))
