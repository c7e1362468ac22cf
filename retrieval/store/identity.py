"""Which embedding model a store was built with; kept in the store, checked whenever it is opened."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from retrieval.errors import EmbeddingModelMismatch


class StoreIdentity(BaseModel):
    """What must be equal between a store and the embedder that reads and writes it."""

    model_config = ConfigDict(frozen=True)

    fingerprint: str
    """The embedder's fingerprint."""
    dim: int
    """Length of the dense vectors."""


def require_same_model(stored: StoreIdentity, wanted: StoreIdentity) -> None:
    """Pass when both are one model.

    Raises:
        EmbeddingModelMismatch: They are not.
    """
    if stored != wanted:
        raise EmbeddingModelMismatch(
            f"the store was built with {stored.fingerprint!r} ({stored.dim} dimensions), but {wanted.fingerprint!r} "
            f"({wanted.dim} dimensions) is configured; "
            "set embedding.model back, or run `groundwork reindex --embedding-model NAME`"
        )
