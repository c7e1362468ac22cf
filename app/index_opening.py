"""Opens the index that a home is searched with, together with the model that it was built with."""

from __future__ import annotations

from typing import NamedTuple

from app.index_store import embedding_folder, open_index_store
from app.models.store import ModelStore
from app.settings import Settings
from ingestion.index_ledger import BASE_INDEX, Index
from retrieval.embedders.onnx import load_onnx_embedder
from retrieval.embedders.precision import Precision, precision_of
from retrieval.embedders.protocol import Embedder
from retrieval.errors import EmbeddingModelMismatch
from retrieval.store.protocol import VectorStore


class OpenIndex(NamedTuple):
    """A store and the embedder of its vectors."""

    embedder: Embedder
    store: VectorStore


def load_embedder(
    settings: Settings, models: ModelStore, model: str, *, precision: Precision | None = None
) -> Embedder:
    """A model by its name or folder, as the settings run it; ``precision`` comes before ``auto`` in the settings.

    Raises:
        ModelFilesMissing: It has not been pulled, or has no variant in that precision.
    """
    embedding = settings.embedding
    return load_onnx_embedder(
        embedding_folder(models, model),
        name=model,
        threads=embedding.threads,
        batch_tokens=embedding.batch_tokens,
        precision=precision if precision and embedding.precision == "auto" else embedding.precision,
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
    return load_embedder(settings, models, model, precision=precision_of(index.fingerprint) if index else None)


def open_index(settings: Settings, models: ModelStore, index: Index | None, *, embedder: Embedder | None) -> OpenIndex:
    """Open the active index.

    Args:
        settings: Of the home.
        models: Where embedding models are.
        index: The active one; None in a home that was never reindexed.
        embedder: Used instead of the model of the index.

    Raises:
        EmbeddingModelMismatch: The store was built with another model, or in another precision than the settings name.
        ModelFilesMissing: The model has not been pulled.
        StoreUnavailable: The store cannot be opened.
    """
    name = index.name if index else BASE_INDEX
    first = embedder or load_index_embedder(settings, models, index)
    try:
        return _open(settings, name, first)
    except EmbeddingModelMismatch:
        free = embedder is None and settings.embedding.precision == "auto"
        if not free or precision_of(first.fingerprint) == "fp32":
            raise
    # Stores of versions before int8 hold vectors of fp32, and go on with it.
    return _open(settings, name, load_embedder(settings, models, settings.embedding.model, precision="fp32"))


def _open(settings: Settings, index: str, embedder: Embedder) -> OpenIndex:
    store = open_index_store(settings, index, dim=embedder.dim, fingerprint=embedder.fingerprint)
    return OpenIndex(embedder, store)
