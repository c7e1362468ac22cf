"""Kills ingests at random moments with SIGKILL, and proves that nothing is lost, doubled or left behind.

Between the kills files of the corpus change, move and go. After one last run the ledger, the store and a clean ingest
into a fresh home must agree on every chunk id and every text. Run as ``python -m evals.ingest_kill``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evals.ingest_home import COLLECTION, load_embedder, open_ingest_home
from ingestion.pipeline import Ingester
from ingestion.sources import discover
from ingestion.types import IngestReport

_STARTED = "started"
_CHANGES_PER_ROUND = 3


class KillReport(BaseModel):
    """What the kills left."""

    model_config = ConfigDict(frozen=True)

    kills: int
    """Ingests that were killed while they ran."""
    finished: int
    """Ingests that were done before their kill; the corpus changed before the next."""
    files: int
    chunks: int
    chunks_written_before_last_run: int
    missing_in_store: int
    orphans_in_store: int
    differs_from_clean: int
    """Chunk ids or texts that a clean ingest of the same files does not have, or has beside."""
    agree: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class KillPlan:
    """How often and when an ingest is killed."""

    kills: int
    longest_seconds: float = 4.0
    """A kill comes at a random moment of this time after the ingest has begun."""
    seed: int = 7


async def run_kills(corpus: Path, plan: KillPlan, *, work: Path, model_folder: Path | None = None) -> KillReport:
    """Kill ingests of a copy of ``corpus``, then compare; all under the folder ``work``."""
    started = time.monotonic()
    random_ = random.Random(plan.seed)
    docs, home = work / "corpus", work / "home"
    await asyncio.to_thread(shutil.copytree, corpus, docs)
    kills = finished = 0
    while kills < plan.kills:
        after = random_.uniform(0, plan.longest_seconds)
        if await asyncio.to_thread(_ingest_and_kill, docs, home, model_folder, after):
            kills += 1
        else:
            finished += 1
            _change(docs, random_)
    embedder = await asyncio.to_thread(load_embedder, model_folder)
    async with open_ingest_home(home, embedder) as opened:
        before = len(await opened.chunk_ids())
        await _ingest(opened.ingester, docs)
        promised, held = await opened.chunk_ids(), await opened.chunks()
        status = await opened.ingester.status()
    async with open_ingest_home(work / "clean", embedder) as opened:
        await _ingest(opened.ingester, docs)
        clean = await opened.chunks()
    differs = {key for key in held.keys() | clean.keys() if held.get(key) != clean.get(key)}
    return KillReport(
        kills=kills,
        finished=finished,
        files=status.documents,
        chunks=len(promised),
        chunks_written_before_last_run=before,
        missing_in_store=len(promised - held.keys()),
        orphans_in_store=len(held.keys() - promised),
        differs_from_clean=len(differs),
        agree=status.consistent and promised == held.keys() == clean.keys() and not differs,
        seconds=time.monotonic() - started,
    )


def _ingest_and_kill(docs: Path, home: Path, model_folder: Path | None, after: float) -> bool:
    """Start an ingest and kill it; False when it had ended by itself."""
    command = [sys.executable, "-m", "evals.ingest_kill", "--child", str(home), "--corpus", str(docs)]
    command += ["--model", str(model_folder)] if model_folder else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]) as process:
        assert process.stdout is not None
        if process.stdout.readline().strip() != _STARTED:
            raise RuntimeError("The ingest did not start; run it by hand with --child for its error.")
        try:
            if process.wait(timeout=after) != 0:
                raise RuntimeError("The ingest failed by itself; run it by hand with --child for its error.")
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def _change(docs: Path, random_: random.Random) -> None:
    """Change, move and remove some files, so that the next ingest has work."""
    files = sorted(path for path in docs.rglob("*") if path.is_file())
    for path in random_.sample(files, min(len(files), 3 * _CHANGES_PER_ROUND)):
        match random_.randrange(4):
            case 0:
                path.rename(path.with_name(f"moved-{random_.randrange(10_000)}-{path.name}"))
            case 1 if len(files) > 3 * _CHANGES_PER_ROUND:
                path.unlink()
            case _:
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"\n\nChanged: {random_.random()}\n")


async def _ingest(ingester: Ingester, docs: Path) -> IngestReport:
    found = await asyncio.to_thread(discover, [str(docs)])
    return await ingester.ingest(found, collection=COLLECTION, prune=True)


async def _child(home: Path, docs: Path, model_folder: Path | None) -> None:
    """One ingest, as it is killed."""
    async with open_ingest_home(home, load_embedder(model_folder)) as opened:
        sys.stdout.write(_STARTED + "\n")
        sys.stdout.flush()
        await _ingest(opened.ingester, docs)


def main() -> int:
    """Command line of the measurement; exit code 0 when all agree."""
    parser = argparse.ArgumentParser(prog="python -m evals.ingest_kill", description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--corpus", type=Path, required=True, help="Folder of documents; a copy of it is used.")
    parser.add_argument("--model", type=Path, help="Folder of an embedding model; default: hashed words.")
    parser.add_argument("--longest", type=float, default=4.0, help="Kills come within this many seconds.")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child is not None:
        asyncio.run(_child(arguments.child, arguments.corpus, arguments.model))
        return 0
    plan = KillPlan(arguments.kills, arguments.longest, arguments.seed)
    with tempfile.TemporaryDirectory(prefix="groundwork-kills-") as work:
        report = asyncio.run(run_kills(arguments.corpus, plan, work=Path(work), model_folder=arguments.model))
    sys.stdout.write(json.dumps(report.model_dump(), indent=2) + "\n")
    return 0 if report.agree else 1


if __name__ == "__main__":
    sys.exit(main())
