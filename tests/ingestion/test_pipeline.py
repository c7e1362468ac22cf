from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ingestion.ledger import Ledger
from ingestion.pipeline import Ingester
from ingestion.sources import Source, discover, identity_of
from ingestion.types import IngestProgress
from retrieval.store.edge import EdgeStore
from retrieval.types import SearchFilter
from tests.ingestion.parts import EMBEDDER, BrokenStore, MakeIngester, PickyEmbedder, ingest, texts, totals


async def test_files_go_in_and_ledger_and_store_agree(ingester: Ingester, store: EdgeStore, folder: Path) -> None:
    report = await ingest(ingester, folder)

    assert totals(report) == {"indexed": 2}
    assert set(report.totals) == {"indexed", "unchanged", "updated", "deleted", "failed", "skipped"}
    status = await ingester.status()
    assert (status.documents, status.chunks, status.points, status.consistent) == (2, 2, 2, True)
    assert (status.store, status.embedding_model) == ("edge", EMBEDDER.fingerprint)
    assert any("memory limit" in text for text in texts(store))


async def test_stored_text_slices_to_every_chunk(
    ingester: Ingester, ledger: Ledger, store: EdgeStore, folder: Path
) -> None:
    await ingest(ingester, folder)

    for chunk in store.chunks(SearchFilter()):
        text = await ledger.text(chunk.document_id)
        assert text is not None
        assert text[chunk.char_start : chunk.char_end] == chunk.text


async def test_same_content_again_is_unchanged(ingester: Ingester, folder: Path) -> None:
    await ingest(ingester, folder)

    assert totals(await ingest(ingester, folder)) == {"unchanged": 2}


async def test_changed_content_replaces_what_was_in(ingester: Ingester, store: EdgeStore, folder: Path) -> None:
    await ingest(ingester, folder)
    (folder / "a.md").write_text("# Limits\n\nNow there is a CPU limit.\n", "utf-8")

    report = await ingest(ingester, folder)

    assert totals(report) == {"updated": 1, "unchanged": 1}
    assert not any("memory limit" in text for text in texts(store))
    assert (await ingester.status()).consistent


async def test_changed_chunk_settings_index_anew(
    ingester: Ingester, ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    await ingest(ingester, folder)

    assert totals(await ingest(ingester_over(ledger, store, chunk_tokens=64), folder)) == {"updated": 2}


async def test_gone_file_stays_without_prune_and_goes_with_it(ingester: Ingester, folder: Path) -> None:
    await ingest(ingester, folder)
    (folder / "b.txt").unlink()

    assert totals(await ingest(ingester, folder)) == {"unchanged": 1}
    assert totals(await ingest(ingester, folder, prune=True)) == {"unchanged": 1, "deleted": 1}
    status = await ingester.status()
    assert (status.documents, status.consistent) == (1, True)


async def test_prune_leaves_other_roots_and_collections_alone(ingester: Ingester, folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("Elsewhere.", "utf-8")
    upload = Source.upload(other, name="a.md")
    await ingest(ingester, folder, other)
    await ingester.ingest([upload], collection="default")
    await ingester.ingest(discover([str(folder)]), collection="second")
    (folder / "a.md").unlink()
    other.unlink()

    assert totals(await ingest(ingester, folder, prune=True)) == {"unchanged": 1, "deleted": 1}
    assert (await ingester.status()).documents == 5


async def test_missing_folder_is_never_pruned(ingester: Ingester, folder: Path) -> None:
    await ingest(ingester, folder)
    folder.rename(folder.with_name("moved"))

    assert totals(await ingest(ingester, folder, prune=True)) == {"failed": 1}
    assert (await ingester.status()).documents == 2


async def test_named_file_that_is_gone_is_pruned(ingester: Ingester, folder: Path) -> None:
    await ingest(ingester, folder)
    (folder / "b.txt").unlink()

    assert totals(await ingest(ingester, folder / "b.txt", prune=True)) == {"deleted": 1}


async def test_bad_file_fails_with_its_reason_and_the_others_go_in(ingester: Ingester, folder: Path) -> None:
    (folder / "empty.txt").write_text("\n\n", "utf-8")
    (folder / "broken.docx").write_bytes(b"PK\x03\x04 cut off")
    (folder / "program").write_bytes(b"\x7fELF\x02\x01\x01\0" + b"\xff\0" * 64)

    report = await ingest(ingester, folder)

    failed = {Path(file.source).name: file.reason for file in report.files if file.status == "failed"}
    assert failed == {"empty.txt": "empty", "broken.docx": "corrupt", "program": "unsupported_type"}
    assert totals(report) == {"indexed": 2, "failed": 3}
    status = await ingester.status()
    assert {Path(record.source).name: record.reason for record in status.failed} == failed
    assert (status.documents, status.consistent) == (2, True)


async def test_failed_file_is_tried_again_without_being_asked(ingester: Ingester, folder: Path) -> None:
    (folder / "late.txt").write_bytes(b"")
    await ingest(ingester, folder)
    (folder / "late.txt").write_text("Now there is text.", "utf-8")

    assert totals(await ingest(ingester, folder)) == {"indexed": 1, "unchanged": 2}
    assert (await ingester.status()).failed == ()


async def test_file_that_became_unreadable_is_no_longer_found(
    ingester: Ingester, store: EdgeStore, folder: Path
) -> None:
    await ingest(ingester, folder)
    (folder / "a.md").write_bytes(b"")

    assert totals(await ingest(ingester, folder)) == {"failed": 1, "unchanged": 1}
    assert not any("memory limit" in text for text in texts(store))
    assert (await ingester.status()).consistent


async def test_file_over_the_size_limit_is_refused(
    ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    report = await ingest(ingester_over(ledger, store, max_file_bytes=40), folder)

    assert [(Path(file.source).name, file.reason) for file in report.files] == [("a.md", None), ("b.txt", "too_large")]


async def test_dry_run_reports_and_writes_nothing(ingester: Ingester, ledger: Ledger, folder: Path) -> None:
    (folder / "empty.txt").touch()

    report = await ingest(ingester, folder, dry_run=True)

    assert totals(report) == {"indexed": 2, "failed": 1}
    assert await ledger.documents() == []
    assert (await ingester.status()).points == 0


async def test_bad_text_fails_alone_when_the_embedder_refuses_it(
    ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    (folder / "bad.txt").write_text("This is poison.", "utf-8")
    picky = ingester_over(ledger, store, PickyEmbedder(dim=64))

    report = await ingest(picky, folder)

    assert {file.reason for file in report.files if file.status == "failed"} == {"embedding_failed"}
    assert totals(report) == {"indexed": 2, "failed": 1}


async def test_store_that_fails_is_a_reason_and_the_next_run_mends_it(
    ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    broken = BrokenStore(store, upserts_left=0)

    report = await ingest(ingester_over(ledger, broken), folder)

    assert {(file.reason, file.detail) for file in report.files} == {
        ("store_failed", "The store is down; start it again.")
    }
    assert totals(await ingest(ingester_over(ledger, store), folder)) == {"indexed": 2}
    assert (await ingester_over(ledger, store).status()).consistent


async def test_old_version_stays_searchable_when_the_store_fails(
    ingester: Ingester, ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    await ingest(ingester, folder)
    (folder / "a.md").write_text("# Limits\n\nNew.\n", "utf-8")

    await ingest(ingester_over(ledger, BrokenStore(store, upserts_left=0)), folder)

    assert any("memory limit" in text for text in texts(store))
    status = await ingester.status()
    assert (status.consistent, len(status.failed)) == (True, 1)


@pytest.mark.parametrize("kill", ["before the write", "before the old chunks go"])
async def test_run_after_a_kill_finishes_the_work(
    ingester: Ingester,
    ledger: Ledger,
    store: EdgeStore,
    folder: Path,
    kill: str,
    ingester_over: MakeIngester,
) -> None:
    await ingest(ingester, folder)
    (folder / "a.md").write_text("# Limits\n\nNew words.\n", "utf-8")
    shown = kill == "before the old chunks go"
    broken = BrokenStore(store, int(shown), asyncio.CancelledError(), deletes_fail=shown)
    with pytest.raises(asyncio.CancelledError):
        await ingest(ingester_over(ledger, broken), folder)
    assert not (await ingester.status()).consistent
    expected = "New words." if shown else "memory limit"
    assert [text for text in texts(store) if text.startswith("# Limits")] == [
        text for text in texts(store) if expected in text
    ]

    report = await ingest(ingester, folder)

    assert totals(report) == ({"unchanged": 2} if shown else {"updated": 1, "unchanged": 1})
    assert sorted(text.strip() for text in texts(store)) == [
        "# Limits\n\nNew words.",
        "Exit code 137 means that the container was killed.",
    ]
    assert (await ingester.status()).consistent


async def test_chunks_lost_by_the_store_are_written_again(ingester: Ingester, store: EdgeStore, folder: Path) -> None:
    await ingest(ingester, folder)
    store.delete_document(identity_of((folder / "a.md").as_posix(), "default").document_id)
    assert (await ingester.status()).missing_chunks == 1

    assert totals(await ingest(ingester, folder)) == {"updated": 1, "unchanged": 1}
    assert (await ingester.status()).consistent


async def test_delete_counts_what_is_left(ingester: Ingester, ledger: Ledger, folder: Path) -> None:
    await ingest(ingester, folder)
    document_id = identity_of((folder / "a.md").as_posix(), "default").document_id

    assert await ingester.delete(document_id) == 0
    assert await ledger.document(document_id) is None
    assert (await ingester.status()).points == 1


async def test_progress_ends_at_the_total(ingester: Ingester, folder: Path) -> None:
    moments: list[IngestProgress] = []

    await ingester.ingest(discover([str(folder)]), collection="default", on_progress=moments.append)

    assert [moment.files_done for moment in moments] == [1, 2]
    assert (moments[-1].files_total, moments[-1].chunks_done) == (2, 2)


async def test_many_files_are_written_in_groups(ingester: Ingester, folder: Path) -> None:
    for number in range(150):
        (folder / f"n{number:03}.txt").write_text(f"Note number {number}.", "utf-8")

    report = await ingest(ingester, folder)

    assert totals(report) == {"indexed": 152}
    assert [file.source for file in report.files] == sorted(file.source for file in report.files)
    assert (await ingester.status()).consistent
