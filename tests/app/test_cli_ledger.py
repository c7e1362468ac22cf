from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.ingest import watch_ingest
from app.cli.watching import changes
from app.schema import IngestRequest
from ingestion.types import IngestReport
from tests.app.command_line import CommandLine, one_sentence
from tests.app.test_cli_documents import ROOT, small_platform


@pytest.fixture
def groundwork(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home", small_platform)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "calls.md").write_text("# On call\n\nA page is acknowledged within fifteen minutes.\n", encoding="utf-8")
    return folder


def test_stages_of_a_document_are_shown_to_the_last(groundwork: CommandLine, folder: Path) -> None:
    groundwork("ingest", str(folder))
    (record,) = groundwork("documents", "list", "--json").json["documents"]
    stages = groundwork("documents", "show", record["document_id"], "--stages", "--json").json["stages"]
    assert [(stage["stage"], stage["state"]) for stage in stages] == [
        (name, "done") for name in ("found", "parsed", "chunked", "embedded", "written", "verified")
    ]
    assert "verified" in groundwork("documents", "show", record["document_id"], "--stages").stdout


def test_collections_are_created_described_listed_and_deleted_with_their_documents(
    groundwork: CommandLine, folder: Path
) -> None:
    assert groundwork("collections", "create", "ops", "--description", "How we run it.").code == 0
    groundwork("ingest", str(folder), "--collection", "ops")
    groundwork("ingest", str(folder), "--collection", "other")
    listing = groundwork("collections", "list", "--json").json["collections"]
    assert [(info["name"], info["documents"], info["description"]) for info in listing] == [
        ("ops", 1, "How we run it."),
        ("other", 1, ""),
    ]
    receipt = groundwork("collections", "delete", "ops", "--json").json
    assert receipt == {"name": "ops", "documents": 1, "chunks_left": 0}
    status = groundwork("status", "--json").json
    assert (status["documents"], status["consistent"]) == (1, True)


def test_mode_of_recognition_is_checked_and_taken(groundwork: CommandLine, folder: Path) -> None:
    assert groundwork("ingest", str(folder), "--ocr", "never").code == 0
    refused = groundwork("ingest", str(folder), "--ocr", "sometimes")
    assert refused.code == 2
    assert "ocr" in refused.stderr


def test_unknown_collection_cannot_be_deleted(groundwork: CommandLine) -> None:
    outcome = groundwork("collections", "delete", "none")
    assert outcome.code == 2
    assert one_sentence(outcome.stderr)


def test_doctor_repairs_what_differs(groundwork: CommandLine, folder: Path) -> None:
    groundwork("ingest", str(folder))
    checks = groundwork("doctor", "--repair", "--json").json["checks"]
    assert {check["name"]: check["state"] for check in checks}.get("repair", "ok") == "ok"


async def test_changes_are_told_together_after_a_quiet_moment(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    batches = changes([str(tmp_path)], quiet_seconds=0.2)
    upcoming = asyncio.ensure_future(anext(batches))
    await asyncio.sleep(0.3)
    (tmp_path / "a.md").write_text("one", "utf-8")
    (tmp_path / "sub" / "b.md").write_text("two", "utf-8")
    (tmp_path / ".hidden").write_text("three", "utf-8")
    (tmp_path / "sub" / "b.md.meta.yaml").write_text("team: sre", "utf-8")
    async with asyncio.timeout(30):
        assert await upcoming == (str(tmp_path / "a.md"), str(tmp_path / "sub"), str(tmp_path / "sub" / "b.md"))
    await batches.aclose()


async def test_watching_ingests_what_changes_and_takes_out_what_goes(tmp_path: Path, folder: Path) -> None:
    from app.settings import Settings

    reports: asyncio.Queue[IngestReport] = asyncio.Queue()

    async def until(status: str) -> IngestReport:
        async with asyncio.timeout(60):
            while True:
                report = await reports.get()
                if any(file.status == status for file in report.files):
                    return report

    async with small_platform(Settings(home_path=tmp_path / "home")) as client:
        request = IngestRequest(paths=(str(folder),), prune=True)
        watching = asyncio.create_task(watch_ingest(client, request, reports.put_nowait))
        assert (await until("indexed")).totals["indexed"] == 1
        (folder / "new.md").write_text("A liveness probe restarts a container.\n", "utf-8")
        assert [Path(file.source).name for file in (await until("indexed")).files] == ["new.md"]
        (folder / "calls.md").unlink()
        assert [Path(file.source).name for file in (await until("deleted")).files] == ["calls.md"]
        watching.cancel()
        await asyncio.wait([watching])


def test_watching_ends_with_an_interrupt(tmp_path: Path, folder: Path) -> None:
    code = (
        "import sys; from app.cli.main import run; from tests.app.test_cli_documents import small_platform;"
        "sys.exit(run(sys.argv[1:], connect=small_platform))"
    )
    command = [sys.executable, "-c", code, "--home", str(tmp_path / "home"), "ingest", str(folder), "--watch", "--json"]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    assert '"indexed":1' in process.stdout.readline()
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(timeout=60) == 0
    process.stdout.close()
