from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ingestion.ledger import Ledger
from ingestion.pipeline import Ingester
from ingestion.sources import identity_of
from retrieval.store.edge import EdgeStore
from retrieval.types import SearchFilter
from tests.ingestion.parts import BrokenStore, MakeIngester, ingest, texts, totals


def id_of(path: Path) -> str:
    return identity_of(path.as_posix(), "default").document_id


async def test_lost_chunks_come_back_without_their_file(ingester: Ingester, store: EdgeStore, folder: Path) -> None:
    await ingest(ingester, folder)
    before = store.chunks(SearchFilter())
    store.delete_document(id_of(folder / "a.md"))
    (folder / "a.md").unlink()

    report = await ingester.repair()

    assert totals(report) == {"updated": 1}
    assert store.chunks(SearchFilter()) == before
    assert (await ingester.status()).consistent


async def test_orphans_go(ingester: Ingester, ledger: Ledger, store: EdgeStore, folder: Path) -> None:
    await ingest(ingester, folder)
    await ledger.remove([id_of(folder / "a.md")])

    assert totals(await ingester.repair()) == {}
    status = await ingester.status()
    assert (status.points, status.consistent) == (1, True)


async def test_document_that_was_being_replaced_is_its_old_version_again(
    ingester: Ingester, ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    await ingest(ingester, folder)
    (folder / "a.md").write_text("# Limits\n\nNew words.\n", "utf-8")
    with pytest.raises(asyncio.CancelledError):
        await ingest(ingester_over(ledger, BrokenStore(store, 0, asyncio.CancelledError())), folder)

    assert totals(await ingester.repair()) == {"updated": 1}
    assert (await ingester.status()).consistent
    assert any("memory limit" in text for text in texts(store))
    assert totals(await ingest(ingester, folder)) == {"updated": 1, "unchanged": 1}


async def test_document_whose_first_ingest_was_cut_off_failed_and_is_taken_up(
    ingester: Ingester, ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    with pytest.raises(asyncio.CancelledError):
        await ingest(ingester_over(ledger, BrokenStore(store, 0, asyncio.CancelledError())), folder)

    assert totals(await ingester.repair()) == {"failed": 2}
    assert (await ingester.status()).consistent
    assert totals(await ingest(ingester, folder)) == {"indexed": 2}
