"""Settings of the retrieval layer: data only, unknown keys forbidden."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from retrieval.embedders.precision import PrecisionChoice


class EmbeddingSettings(BaseModel):
    """Which model turns text into dense vectors, and how it runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    """Name in the model store, or a model hub id."""
    precision: PrecisionChoice = "auto"
    """``auto``: what the store was built with, and for a new one int8 where the model has that variant, else fp32."""
    threads: int = Field(default=0, ge=0)
    """Texts (int8) or batches (fp32) embedded at once, each on one thread; 0 takes one per processor."""
    batch_tokens: int = Field(default=1024, gt=0)
    """Padded tokens per batch in fp32, formed from texts of like length; int8 embeds each text alone."""


class StoreSettings(BaseModel):
    """Where indexed chunks live."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    home: Literal["edge", "qdrant"] = "edge"
    """``edge``: the Qdrant engine in this process, under the home folder. ``qdrant``: a server by URL."""
    url: str = "http://127.0.0.1:6333"
    """Address of the Qdrant server; used when home is ``qdrant``."""
    api_key: SecretStr | None = None
    """Key of the Qdrant server."""
    collection: str = "groundwork"
    """Name of the Qdrant collection that holds all chunks."""
    timeout_seconds: float = Field(default=30.0, gt=0)
    """Time limit of one call to the Qdrant server."""


class SearchSettings(BaseModel):
    """How both legs are combined."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: int = Field(default=100, gt=0)
    """Hits taken from each leg before fusion."""
    limit: int = Field(default=10, gt=0)
    """Hits returned when the caller names no number."""
    fusion: Literal["minmax", "dbsf", "rrf"] = "dbsf"
    """How scores of both legs become one: by distribution, by range, or by rank."""
    dense_weight: float = Field(default=0.4, ge=0, le=1)
    """Weight of the dense leg; the lexical leg has the rest. Not used by ``rrf``."""
