"""Settings of the ingestion layer: data only, unknown keys forbidden."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class IngestionSettings(BaseModel):
    """How files become chunks."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    chunk_tokens: int = Field(default=220, ge=32)
    """Most tokens of the embedding model in one chunk, prefix not counted."""
    overlap_tokens: int = Field(default=0, ge=0)
    """Tokens repeated from the end of the chunk before; whole sentences only."""
    max_file_bytes: int = Field(default=100 * 1024 * 1024, gt=0)
    """Larger files are refused with reason ``too_large``."""
    workers: int = Field(default=1, ge=1)
    """Processes that parse files."""
    parse_timeout_seconds: float = Field(default=120.0, gt=0)
    """Time limit for parsing one file."""
