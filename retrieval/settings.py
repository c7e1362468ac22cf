"""Settings of the retrieval layer: data only, unknown keys forbidden."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr


class EmbeddingSettings(BaseModel):
    """Which model turns text into dense vectors, and how it runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    """Name in the model store, or a model hub id."""
    threads: int = Field(default=0, ge=0)
    """Threads of one forward pass; 0 takes one per processor."""
    batch_tokens: int = Field(default=2048, gt=0)
    """Padded tokens per forward pass, of texts of like length; a question waits for at most one of them."""


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


class RerankSettings(BaseModel):
    """Whether the best candidates are looked at again, and by what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["none", "learned", "cross-encoder", "url"] = "learned"
    """``learned``: a small ranker over both legs' scores and the words of the text, without a download.
    ``cross-encoder``: a sentence-transformers model. ``url``: a server with a rerank route, such as vLLM."""
    model: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    """Of ``cross-encoder``: its folder, or its id on the model hub. Of ``url``: the name that the server knows."""
    url: str = "http://127.0.0.1:8001/v1/rerank"
    """Whole address of the rerank route; used when kind is ``url``."""
    api_key: SecretStr | None = None
    """Key of the rerank server."""
    offline: bool = True
    """Never fetch a cross-encoder: its folder is given, or it has been fetched before."""
    batch_size: int = Field(default=16, gt=0)
    """Passages that a cross-encoder or a server takes at once."""
    timeout_seconds: float = Field(default=5.0, gt=0)
    """Time limit of one reranking; then the order of the fusion stands, and the search says so."""


class SearchSettings(BaseModel):
    """How both legs are combined, and what happens to the best of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    candidates: int = Field(default=100, gt=0)
    """Hits taken from each leg before fusion."""
    limit: int = Field(default=10, gt=0)
    """Hits returned when the caller names no number."""
    fusion: Literal["minmax", "dbsf", "rrf"] = "dbsf"
    """How scores of both legs become one: by distribution, by range, or by rank."""
    dense_weight: float = Field(default=0.35, ge=0, le=1)
    """Weight of the dense leg; the lexical leg has the rest. Not used by ``rrf``."""
    pool: int = Field(default=50, gt=0)
    """Best chunks of the fusion that the steps after it look at; further down the order of the fusion stands."""
    document_support: float = Field(default=0.5, ge=0)
    """What the three best chunks of a document add to each of its chunks, in shares of their mean score; 0 is off."""
    per_document: int = Field(default=2, ge=0)
    """Chunks of one document that may stand before those of others; 0 sets no limit."""
    duplicate_threshold: float = Field(default=0.9, gt=0)
    """Resemblance from which a passage is left out as a repeat of a better one, 0 to 1; above 1 is off."""
    diversity: float = Field(default=0.0, ge=0, le=1)
    """Weight of novelty against relevance in the order of hits (maximal marginal relevance); 0 is off."""
    rerank: RerankSettings = RerankSettings()
    """Second look at the best chunks."""
