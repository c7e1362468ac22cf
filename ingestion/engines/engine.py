"""What an engine gives an ingest in place of this process's own: where files are parsed, who embeds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ingestion.settings import IngestionSettings
from ingestion.workers import ParsePool
from retrieval.embedders.protocol import Embedder

EngineName: TypeAlias = Literal["local", "ray"]
"""``local``: processes of this machine. ``ray``: tasks of a Ray cluster."""


@dataclass(frozen=True, slots=True)
class Engine:
    """Parts of one ingest.

    Attributes:
        pool: Parses, not closed by the ingester; None for the ingester's own.
        embedder: Embeds; the same model as the ingester's. None for the ingester's own.
        settings: How files become chunks; None for the ingester's own.
    """

    pool: ParsePool | None = None
    embedder: Embedder | None = None
    settings: IngestionSettings | None = None


LOCAL = Engine()
