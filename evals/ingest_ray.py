"""An ingest on a Ray cluster of two nodes on this machine, one worker killed, beside the same ingest without Ray.

Both must give the same chunk ids and texts. Run as ``python -m evals.ingest_ray``; needs ``ray``.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel, ConfigDict

from evals.ingest_home import COLLECTION, load_embedder, open_ingest_home
from ingestion.engines.ray import ParseLimits, RayEmbedder, RayParsePool
from ingestion.pipeline import Workplace
from ingestion.settings import IngestionSettings
from ingestion.sources import discover
from retrieval.embedders.protocol import Embedder
from retrieval.types import Chunk

_OBJECT_STORE_BYTES = 100 * 1024 * 1024
_WORKER_NAMES = (b"ray::_parse_on_worker", b"ray::_embed_on_worker")


class RayReport(BaseModel):
    """What both ingests gave."""

    model_config = ConfigDict(frozen=True)

    nodes: int
    killed_workers: int
    chunks: int
    same_as_local: bool
    ray_seconds: float
    local_seconds: float


def compare(corpus: Path, model_folder: Path | None, work: Path) -> RayReport:
    """Ingest a corpus both ways."""
    embedder = load_embedder(model_folder)
    started = time.perf_counter()
    local = asyncio.run(_ingest(corpus, work / "local", embedder, None))
    local_seconds = time.perf_counter() - started
    # Here, not in a thread: Ray sets signal handlers.
    cluster, nodes = _start()
    killer = _Killer()
    try:
        settings = IngestionSettings()
        limits = ParseLimits(settings.parse_timeout_seconds, settings.parse_memory_bytes)
        killer.start()
        started = time.perf_counter()
        with RayParsePool(workers=2, limits=limits) as pool:
            on_ray = RayEmbedder(embedder, partial(load_embedder, model_folder))
            found = asyncio.run(_ingest(corpus, work / "ray", on_ray, pool))
        ray_seconds = time.perf_counter() - started
    finally:
        killer.ended.set()
        _stop(cluster)
    return RayReport(
        nodes=nodes,
        killed_workers=killer.killed,
        chunks=len(found),
        same_as_local=found == local,
        ray_seconds=ray_seconds,
        local_seconds=local_seconds,
    )


async def _ingest(corpus: Path, home: Path, embedder: Embedder, pool: RayParsePool | None) -> dict[str, Chunk]:
    async with open_ingest_home(home, embedder, workplace=Workplace(pool)) as opened:
        await opened.ingester.ingest(await asyncio.to_thread(discover, [str(corpus)]), collection=COLLECTION)
        return await opened.chunks()


def _start() -> tuple[Any, int]:  # ray has no types for its test cluster
    import ray
    from ray.cluster_utils import Cluster

    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parents[1]), *sys.path]))
    node = {"num_cpus": 1, "object_store_memory": _OBJECT_STORE_BYTES, "include_dashboard": False}
    cluster: Any = Cluster(initialize_head=True, head_node_args=node)
    cluster.add_node(num_cpus=1, object_store_memory=_OBJECT_STORE_BYTES)
    ray.init(address=cluster.address, log_to_driver=False)
    nodes = cast("list[dict[str, object]]", ray.nodes())
    return cluster, sum(bool(entry["Alive"]) for entry in nodes)


def _stop(cluster: Any) -> None:  # ray has no types for its test cluster
    import ray

    ray.shutdown()
    cluster.shutdown()


class _Killer(threading.Thread):
    """Kills one worker of this user's cluster while it is at work."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.killed = 0

    def run(self) -> None:
        """Look until a worker is found busy, and kill it."""
        while not self.killed and not self.ended.wait(0.02):
            for entry in Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    busy = entry.read_bytes().startswith(_WORKER_NAMES)
                except OSError:
                    continue
                if busy and _descends_from(int(entry.parent.name), os.getpid()):
                    os.kill(int(entry.parent.name), signal.SIGKILL)
                    self.killed += 1
                    return


def _descends_from(process_id: int, ancestor: int) -> bool:
    """Whether a process was started, at any depth, by another; raylets keep their parent."""
    while process_id > 1:
        if process_id == ancestor:
            return True
        try:
            process_id = int(Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError, ValueError):
            return False
    return False


def main() -> int:
    """Command line of the comparison; exit code 0 when both are the same and a worker was killed."""
    parser = argparse.ArgumentParser(prog="python -m evals.ingest_ray", description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--model", type=Path, help="Folder of an embedding model; default: hashed words.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="groundwork-ray-") as work:
        report = compare(given.corpus, given.model, Path(work))
    sys.stdout.write(report.model_dump_json(indent=2) + "\n")
    return 0 if report.same_as_local and report.killed_workers else 1


if __name__ == "__main__":
    sys.exit(main())
