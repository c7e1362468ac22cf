"""Real processes that die in the middle of a call, and what the next one makes of it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from agents.events import ApprovalNeeded, RunFinished, RunWaiting
from app.recovery import Recovery
from app.run_log import RunLog
from tests.agents.acting.dies import bench_in
from tests.agents.acting.harness import Bench
from tests.conftest import ROOT


def die(folder: Path, moment: str) -> None:
    """The first process: it proposes, is approved, and dies while it runs the call."""
    command = [sys.executable, "-m", "tests.agents.acting.dies", str(folder), moment]
    done = subprocess.run(command, cwd=ROOT, timeout=120, check=False)
    assert done.returncode == 9


async def recover(bench: Bench) -> None:
    """What the next start does for a run that its process left behind."""
    recovery = Recovery(RunLog(bench.engine, owner="test"), bench.ledger, bench.leases)
    await recovery.settle_calls("run-1")
    await bench.leases.clear("thread-1")


@pytest.mark.parametrize(("moment", "effects"), [("before_effect", 0), ("after_effect", 1)])
async def test_a_call_without_a_receipt_is_asked_about_and_not_run_again(
    tmp_path: Path, moment: str, effects: int
) -> None:
    die(tmp_path, moment)
    async with bench_in(tmp_path, "never") as bench:
        await recover(bench)
        events = await bench.attempt()
        assert isinstance(events[-1], RunWaiting)
        assert [event.state for event in events if isinstance(event, ApprovalNeeded)] == ["unknown"]
        pressed = (tmp_path / "effects.txt").read_text(encoding="utf-8").split()
        assert len(pressed) == effects
        (call,) = await bench.waiting()
        settlement = "happened" if effects else "did_not_happen"
        await bench.ledger.settle(call.call_id, settlement, actor="jo", note="looked")
        assert isinstance((await bench.attempt())[-1], RunFinished)
        assert (tmp_path / "effects.txt").read_text(encoding="utf-8").split() == pressed


async def test_a_call_with_a_receipt_is_replayed_from_it(tmp_path: Path) -> None:
    die(tmp_path, "after_receipt")
    async with bench_in(tmp_path, "never") as bench:
        await recover(bench)
        events = await bench.attempt()
        assert isinstance(events[-1], RunFinished)
        assert (tmp_path / "effects.txt").read_text(encoding="utf-8").split() == ["a"]


async def test_trying_again_takes_a_fresh_decision(tmp_path: Path) -> None:
    die(tmp_path, "before_effect")
    async with bench_in(tmp_path, "never") as bench:
        await recover(bench)
        await bench.attempt()
        (call,) = await bench.waiting()
        await bench.ledger.settle(call.call_id, "try_again", actor="jo")
        assert isinstance((await bench.attempt())[-1], RunWaiting)
        assert (tmp_path / "effects.txt").read_text(encoding="utf-8") == ""
        (call,) = await bench.waiting()
        await bench.decide(call)
        assert isinstance((await bench.attempt())[-1], RunFinished)
        assert (tmp_path / "effects.txt").read_text(encoding="utf-8").split() == ["a"]
