from __future__ import annotations

from pathlib import Path

import pytest

from evals.ingest_kill import KillPlan, run_kills


@pytest.mark.timeout(600)
async def test_ten_kills_leave_what_a_clean_ingest_leaves(tmp_path: Path) -> None:
    corpus = tmp_path / "docs"
    corpus.mkdir()
    for number in range(120):
        body = "\n\n".join(f"## Part {part}\n\nNote {number}.{part} says why a pod restarts." for part in range(12))
        (corpus / f"note-{number:03}.md").write_text(f"# Note {number}\n\n{body}\n", encoding="utf-8")

    report = await run_kills(corpus, KillPlan(kills=10, longest_seconds=1.5), work=tmp_path / "work")

    assert report.agree, report
    assert (report.kills, report.missing_in_store, report.orphans_in_store) == (10, 0, 0)
    assert report.chunks > report.files > 0
