from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.integration
@pytest.mark.timeout(600)
def test_cluster_of_two_nodes_gives_what_this_machine_gives_though_a_worker_is_killed(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra ray is not installed")
    for number in range(30):
        body = "\n\n".join(f"## Part {part}\n\nNote {number}.{part} says why a pod restarts." for part in range(8))
        (tmp_path / f"note-{number:02}.md").write_text(f"# Note {number}\n\n{body}\n", encoding="utf-8")
    # In a process of its own: Ray starts servers and sets signal handlers.
    command = [sys.executable, "-m", "evals.ingest_ray", "--corpus", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
