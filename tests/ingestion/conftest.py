"""A ledger in a file, a real Edge store, and the embedder without a model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from ingestion.ledger import Ledger
from ingestion.pipeline import Ingester, Workplace
from ingestion.settings import IngestionSettings
from ingestion.tables import METADATA
from ingestion.workers import ParsePool
from retrieval.embedders.hashing import HashingEmbedder
from retrieval.lexical import LexicalEncoder
from retrieval.store.edge import EdgeStore, open_edge_store
from tests.ingestion.parts import EMBEDDER, BrokenStore, MakeIngester


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    engine = create_async_engine(f"sqlite+aiosqlite:///{tmp_path / 'ledger.sqlite'}")
    async with engine.begin() as connection:
        await connection.run_sync(METADATA.create_all)
    yield engine
    await engine.dispose()


@pytest.fixture
def ledger(engine: AsyncEngine) -> Ledger:
    return Ledger(engine)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EdgeStore]:
    store = open_edge_store(tmp_path / "store", dim=EMBEDDER.dim, fingerprint=EMBEDDER.fingerprint)
    yield store
    store.close()


@pytest.fixture(scope="session")
def pool() -> Iterator[ParsePool]:
    """One process that parses for all tests: starting one takes most of a second."""
    with ParsePool(workers=1, timeout_seconds=60, memory_bytes=512 * 1024 * 1024) as pool:
        yield pool


@pytest.fixture
def ingester(ledger: Ledger, store: EdgeStore, pool: ParsePool) -> Ingester:
    return Ingester(
        ledger=ledger,
        store=store,
        embedder=EMBEDDER,
        lexical=LexicalEncoder(),
        settings=IngestionSettings(),
        workplace=Workplace(pool),
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.md").write_text("# Limits\n\nA pod has a memory limit.\n", "utf-8")
    (folder / "b.txt").write_text("Exit code 137 means that the container was killed.\n", "utf-8")
    return folder


@pytest.fixture
def ingester_over(pool: ParsePool) -> MakeIngester:
    def make(
        ledger: Ledger, store: EdgeStore | BrokenStore, embedder: HashingEmbedder = EMBEDDER, **changes: object
    ) -> Ingester:
        settings = IngestionSettings.model_validate(changes)
        return Ingester(
            ledger=ledger,
            store=store,
            embedder=embedder,
            lexical=LexicalEncoder(),
            settings=settings,
            workplace=Workplace(pool),
        )

    return make
