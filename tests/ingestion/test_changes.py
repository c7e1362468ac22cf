from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from ingestion.ledger import Ledger
from ingestion.loaders.select import load
from ingestion.pipeline import Ingester
from ingestion.sources import identity_of
from ingestion.types import IngestReport
from retrieval.store.edge import EdgeStore
from retrieval.types import SearchFilter
from tests.ingestion.parts import CountingEmbedder, ForgetfulStore, MakeIngester, ingest, texts, totals


def mail(*attachments: tuple[str, str], body: str = "See the files.") -> bytes:
    """A mail with text files attached."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Limits", "a@example.org", "b@example.org"
    message.set_content(body)
    for name, text in attachments:
        message.add_attachment(text.encode(), maintype="text", subtype="plain", filename=name)
    return bytes(message)


def by_name(report: IngestReport) -> dict[str, str]:
    return {Path(file.source).name: file.status for file in report.files}


@pytest.mark.parametrize("prune", [True, False])
async def test_moved_file_is_unchanged_under_its_new_name_and_nothing_is_embedded(
    ingester: Ingester, ledger: Ledger, store: EdgeStore, folder: Path, prune: bool, ingester_over: MakeIngester
) -> None:
    await ingest(ingester, folder)
    (folder / "new").mkdir()
    (folder / "a.md").rename(folder / "new" / "a.md")
    (folder / "b.txt").touch()
    CountingEmbedder.embedded = []

    report = await ingest(ingester_over(ledger, store, CountingEmbedder(dim=64)), folder, prune=prune)

    assert totals(report) == {"unchanged": 2}
    assert {file.moved_from for file in report.files} == {None, (folder / "a.md").as_posix()}
    assert CountingEmbedder.embedded == []
    assert {chunk.source for chunk in store.chunks(SearchFilter())} == {
        (folder / "new" / "a.md").as_posix(),
        (folder / "b.txt").as_posix(),
    }
    status = await ingester.status()
    assert (status.documents, status.consistent) == (2, True)


async def test_copied_file_is_a_document_of_its_own(ingester: Ingester, folder: Path) -> None:
    await ingest(ingester, folder)
    (folder / "copy.md").write_bytes((folder / "a.md").read_bytes())

    assert totals(await ingest(ingester, folder)) == {"indexed": 1, "unchanged": 2}


async def test_only_changed_passages_are_embedded_again(
    ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    sections = [f"## Part {number}\n\n{f'Words of part {number}. ' * 20}\n" for number in range(5)]
    (folder / "a.md").write_text("# Limits\n\n" + "\n".join(sections), "utf-8")
    ingester = ingester_over(ledger, store, CountingEmbedder(dim=64), chunk_tokens=100)
    await ingest(ingester, folder)
    sections[2] = "## Part 2\n\nOther words.\n"
    (folder / "a.md").write_text("# Limits\n\n" + "\n".join(sections), "utf-8")
    CountingEmbedder.embedded = []

    await ingest(ingester, folder)

    assert len(CountingEmbedder.embedded) == 1
    assert "Other words." in CountingEmbedder.embedded[0]
    assert (await ingester.status()).consistent


async def test_attachments_are_documents_of_their_own_under_their_mail(
    ingester: Ingester, ledger: Ledger, folder: Path
) -> None:
    (folder / "m.eml").write_bytes(mail(("one.txt", "First file."), ("none.txt", ""), ("two.txt", "Second file.")))

    report = await ingest(ingester, folder)

    source = (folder / "m.eml").as_posix()
    holder = next(file for file in report.files if file.source == source)
    assert (holder.status, holder.children) == ("indexed", 3)
    inside = {file.source: file.status for file in report.files if file.parent_id == holder.document_id}
    assert inside == {
        f"{source}!/one.txt": "indexed",
        f"{source}!/none.txt": "failed",
        f"{source}!/two.txt": "indexed",
    }
    records = {record.source: record for record in await ledger.documents()}
    assert records[f"{source}!/one.txt"].parent_id == holder.document_id
    assert (await ingester.status()).consistent


async def test_unchanged_mail_skips_its_attachments_and_a_failed_one_is_tried_again(
    ingester: Ingester, folder: Path
) -> None:
    (folder / "m.eml").write_bytes(mail(("one.txt", "First file.")))
    (folder / "n.eml").write_bytes(mail(("two.txt", "Second file."), ("bad.txt", "")))
    await ingest(ingester, folder)

    report = await ingest(ingester, folder)

    assert totals(report) == {"unchanged": 6, "failed": 1}
    assert by_name(report)["bad.txt"] == "failed"


async def test_attachment_that_is_gone_goes_and_deleting_the_mail_takes_the_rest(
    ingester: Ingester, store: EdgeStore, folder: Path
) -> None:
    (folder / "m.eml").write_bytes(mail(("one.txt", "First file."), ("two.txt", "Second file.")))
    await ingest(ingester, folder)
    (folder / "m.eml").write_bytes(mail(("two.txt", "Second file."), body="One file less."))

    report = await ingest(ingester, folder)

    assert by_name(report) == {
        "a.md": "unchanged",
        "b.txt": "unchanged",
        "m.eml": "updated",
        "one.txt": "deleted",
        "two.txt": "unchanged",
    }
    assert not any("First" in text for text in texts(store))
    (folder / "m.eml").unlink()
    assert totals(await ingest(ingester, folder, prune=True)) == {"unchanged": 2, "deleted": 2}
    status = await ingester.status()
    assert (status.documents, status.points, status.consistent) == (2, 2, True)


async def test_moved_mail_takes_its_attachments_along(ingester: Ingester, folder: Path) -> None:
    (folder / "m.eml").write_bytes(mail(("one.txt", "First file.")))
    await ingest(ingester, folder)
    (folder / "m.eml").rename(folder / "moved.eml")

    assert totals(await ingest(ingester, folder)) == {"unchanged": 4}
    status = await ingester.status()
    assert (status.documents, status.consistent) == (4, True)


async def test_mail_with_too_many_files_inside_fails_alone(
    ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    (folder / "m.eml").write_bytes(mail(("one.txt", "First file."), ("two.txt", "Second file.")))

    report = await ingest(ingester_over(ledger, store, max_children=1), folder)

    assert totals(report) == {"indexed": 2, "failed": 1}
    assert [file.reason for file in report.files if file.status == "failed"] == ["unsafe_archive"]


async def test_stages_say_how_far_each_document_came(ingester: Ingester, ledger: Ledger, folder: Path) -> None:
    (folder / "empty.txt").write_bytes(b"\n")
    await ingest(ingester, folder)
    await ingest(ingester, folder)

    good = await ledger.stages(identity_of((folder / "a.md").as_posix(), "default").document_id)
    assert [record.stage for record in good] == ["found", "parsed", "chunked", "embedded", "written", "verified"]
    assert {(record.state, record.attempt) for record in good} == {("done", 1)}
    assert all(record.started_at <= record.finished_at for record in good)
    bad = await ledger.stages(identity_of((folder / "empty.txt").as_posix(), "default").document_id)
    assert [(record.stage, record.state, record.reason, record.attempt) for record in bad] == [
        ("found", "done", None, 2),
        ("parsed", "failed", "empty", 2),
    ]


async def test_chunks_that_the_store_dropped_are_no_success(
    ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    report = await ingest(ingester_over(ledger, ForgetfulStore(store)), folder)

    assert {(file.status, file.reason) for file in report.files} == {("failed", "store_failed")}
    stages = await ledger.stages(report.files[0].document_id)
    assert (stages[-1].stage, stages[-1].state) == ("verified", "failed")


async def test_orphans_are_reaped_by_the_next_ingest(ingester: Ingester, ledger: Ledger, folder: Path) -> None:
    await ingest(ingester, folder)
    await ledger.remove([identity_of((folder / "a.md").as_posix(), "default").document_id])
    assert (await ingester.status()).orphaned_points == 1

    await ingest(ingester, folder / "b.txt")

    status = await ingester.status()
    assert (status.points, status.consistent) == (1, True)


async def test_document_comes_back_from_the_ledger_as_it_was_parsed(
    ingester: Ingester, ledger: Ledger, folder: Path
) -> None:
    await ingest(ingester, folder)
    parsed = await ledger.parsed(identity_of((folder / "a.md").as_posix(), "default").document_id)
    assert parsed == load((folder / "a.md").read_bytes(), name="a.md").document


async def test_metadata_file_beside_a_document_is_its_metadata_and_a_change_of_it_indexes_again(
    ledger: Ledger, store: EdgeStore, folder: Path, ingester_over: MakeIngester
) -> None:
    ingester = ingester_over(ledger, store, CountingEmbedder(dim=64))
    beside = folder / "a.md.meta.yaml"
    beside.write_text("team: sre\ntags: [k8s, oom]\n", "utf-8")
    assert totals(await ingest(ingester, folder)) == {"indexed": 2}
    assert store.count(SearchFilter(metadata={"team": "sre", "tags": "oom"})) == 1
    CountingEmbedder.embedded = []

    beside.write_text("team: dev\n", "utf-8")
    assert totals(await ingest(ingester, folder)) == {"updated": 1, "unchanged": 1}

    assert CountingEmbedder.embedded == []
    assert store.count(SearchFilter(metadata={"team": "sre"})) == 0
    assert store.count(SearchFilter(metadata={"team": "dev"})) == 1
    beside.unlink()
    assert totals(await ingest(ingester, folder)) == {"updated": 1, "unchanged": 1}
    assert store.count(SearchFilter(metadata={"team": "dev"})) == 0
