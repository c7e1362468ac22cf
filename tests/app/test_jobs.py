from __future__ import annotations

from pathlib import Path

import pytest

from app import home_lock
from app.client import ApiClient
from app.errors import HomeUnwritable
from app.jobs import IngestOrder
from app.schema import IngestRequest, Job
from app.settings import Settings
from app.wiring import open_platform
from ingestion.sources import Source
from retrieval.embedders.hashing import HashingEmbedder
from tests.app.conftest import Served, ended
from tests.fakes import GatedChatModel


async def test_jobs_run_one_after_the_other_in_order(served: Served, tmp_path: Path) -> None:
    jobs: list[Job] = []
    for number in range(3):
        path = tmp_path / f"{number}.md"
        path.write_text(f"# Note {number}\n\nText.\n", encoding="utf-8")
        jobs.append(served.platform.jobs.submit(IngestOrder([Source.file(path)], collection="notes")))
    assert [job.state for job in jobs] == ["queued"] * 3
    last = await ended(served.api, jobs[-1])
    assert last.state == "done"
    assert [served.platform.jobs.get(job.job_id).state for job in jobs] == ["done"] * 3


async def test_failed_job_says_why_and_the_next_one_runs(
    served: Served, handbook: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = IngestRequest(paths=(str(handbook),))
    with monkeypatch.context() as full_disk:
        full_disk.setattr(home_lock, "MIN_FREE_BYTES", 10**18)
        failed = await ended(served.api, await served.api.ingest(request))
    assert failed.state == "failed"
    assert failed.error is not None
    assert "free some" in failed.error
    assert (await ended(served.api, await served.api.ingest(request))).state == "done"


async def test_path_that_does_not_exist_is_a_failed_file_of_a_done_job(api: ApiClient, tmp_path: Path) -> None:
    job = await ended(api, await api.ingest(IngestRequest(paths=(str(tmp_path / "nothing"),))))
    assert job.report is not None
    assert [(file.status, file.reason) for file in job.report.files] == [("failed", "not_found")]


async def test_nearly_full_disk_is_refused_before_the_store_opens(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(home_lock, "MIN_FREE_BYTES", 10**18)
    with pytest.raises(HomeUnwritable, match="free some"):
        async with open_platform(settings, embedder=HashingEmbedder(), chat_model=GatedChatModel("Yes.")):
            pass
