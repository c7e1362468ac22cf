"""A home with what an ingest needs and nothing else: database, store, embedder. For measurements of ingestion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.database import open_database
from app.settings import Settings
from ingestion.ledger import Ledger
from ingestion.pipeline import Ingester, Workplace
from ingestion.settings import IngestionSettings
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.embedders.protocol import Embedder
from retrieval.lexical import LexicalEncoder
from retrieval.store.edge import EdgeStore, open_edge_store
from retrieval.types import Chunk, SearchFilter

COLLECTION = "default"


@dataclass(frozen=True, slots=True)
class IngestHome:
    """The open parts of a home."""

    ledger: Ledger
    store: EdgeStore
    ingester: Ingester

    async def chunk_ids(self) -> set[str]:
        """Ids of the chunks that the ledger promises."""
        return set(await self.ledger.chunk_ids())

    async def chunks(self) -> dict[str, Chunk]:
        """All chunks of the store by their ids."""
        found = await asyncio.to_thread(self.store.chunks, SearchFilter())
        return {chunk.chunk_id: chunk for chunk in found}


def load_embedder(model_folder: Path | None) -> Embedder:
    """The embedding model of a folder; without one the embedder that needs no model."""
    if model_folder is None:
        return HashingEmbedder(dim=64)
    from retrieval.embedders.onnx import load_onnx_embedder

    return load_onnx_embedder(model_folder, name=model_folder.name)


@asynccontextmanager
async def open_ingest_home(
    path: Path, embedder: Embedder, *, workplace: Workplace | None = None
) -> AsyncGenerator[IngestHome]:
    """Open a home under ``path``; it is made where there is none."""
    await asyncio.to_thread(path.mkdir, parents=True, exist_ok=True)
    async with open_database(Settings(home_path=path)) as engine:
        store = await asyncio.to_thread(
            open_edge_store, path / "store", dim=embedder.dim, fingerprint=embedder.fingerprint
        )
        try:
            ledger = Ledger(engine, owner=str(path))
            ingester = Ingester(
                ledger=ledger,
                store=store,
                embedder=embedder,
                lexical=LexicalEncoder(),
                settings=IngestionSettings(),
                workplace=workplace or Workplace(),
            )
            await ingester.recover()
            yield IngestHome(ledger, store, ingester)
            await ingester.aclose()
        finally:
            await asyncio.to_thread(store.close)
