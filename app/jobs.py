"""Background ingests: one after the other, so that the store has one writer. They live as long as the API."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from uuid import uuid4

from app.engines import OpenEngine, local_engine
from app.errors import JobUnknown
from app.home import Home
from app.home_lock import require_space
from app.metrics import Metrics
from app.schema import Job
from ingestion.engines.engine import EngineName
from ingestion.pipeline import Ingester
from ingestion.remote import RemoteFetch, discover_remote
from ingestion.settings import IngestionSettings
from ingestion.sources import Discovery, Source
from ingestion.types import IngestProgress

logger = logging.getLogger(__name__)

KEPT_JOBS = 200
"""Ended jobs that are still shown; older ones are forgotten."""


@dataclass(frozen=True, slots=True)
class IngestOrder:
    """What to ingest, and how.

    Attributes:
        sources: What goes in.
        addresses: URLs and buckets that go in as well; they are fetched when the job runs.
        fetching: How they are fetched; needed where there are any. Its folder is the scratch folder.
        collection: Collection the documents belong to.
        prune: Whether documents whose source is gone are removed.
        dry_run: Whether only the report is made.
        settings: Settings of this ingest alone; None takes those of the home.
        engine: Where files are parsed and embedded.
        scratch: Folder of uploaded and fetched files, removed when the job has ended.
    """

    sources: Sequence[Source]
    collection: str
    prune: bool = False
    dry_run: bool = False
    scratch: Path | None = None
    addresses: Sequence[str] = ()
    fetching: RemoteFetch | None = None
    settings: IngestionSettings | None = None
    engine: EngineName = "local"


class JobService:
    """A queue of ingests and its worker. Belongs to one event loop."""

    def __init__(self, ingester: Ingester, metrics: Metrics, home: Home, *, engines: OpenEngine = local_engine) -> None:
        self._ingester = ingester
        self._metrics = metrics
        self._home = home
        self._engines = engines
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._queue: asyncio.Queue[tuple[str, IngestOrder]] = asyncio.Queue()
        self._worker: asyncio.Task[None] | None = None

    def submit(self, order: IngestOrder) -> Job:
        """Queue an ingest and return at once."""
        progress = IngestProgress(files_done=0, files_total=len(order.sources), chunks_done=0)
        job = Job(job_id=uuid4().hex, state="queued", progress=progress)
        self._jobs[job.job_id] = job
        self._forget_old()
        self._queue.put_nowait((job.job_id, order))
        if self._worker is None:
            self._worker = asyncio.create_task(self._work(), name="ingest-jobs")
        return job

    def get(self, job_id: str) -> Job:
        """The job as it stands; raises ``JobUnknown``."""
        if job_id not in self._jobs:
            raise JobUnknown(f"There is no job {job_id!r} since the API started; GET /api/jobs lists them.")
        return self._jobs[job_id]

    def list(self) -> list[Job]:
        """All jobs, newest first."""
        return list(reversed(self._jobs.values()))

    async def close(self) -> None:
        """Stop the worker; what an unfinished job has indexed stays, and its next ingest goes on from there."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])

    async def _work(self) -> None:
        while True:
            job_id, order = await self._queue.get()
            self._change(job_id, state="running")
            try:
                require_space(self._home)
                with self._engines(order.engine) as engine:
                    report = await self._ingester.ingest(
                        await _gathered(order),
                        collection=order.collection,
                        prune=order.prune,
                        dry_run=order.dry_run,
                        on_progress=partial(self._on_progress, job_id),
                        engine=replace(engine, settings=order.settings),
                    )
            except Exception as error:
                # The job worker: a failed job must not end the queue.
                logger.exception("Ingest failed", extra={"job_id": job_id})
                self._change(job_id, state="failed", error=_sentence(error))
            else:
                self._metrics.ingest_ended(report)
                self._change(job_id, state="done", report=report)
            finally:
                if order.scratch is not None:
                    await asyncio.to_thread(shutil.rmtree, order.scratch, ignore_errors=True)

    def _on_progress(self, job_id: str, progress: IngestProgress) -> None:
        self._change(job_id, progress=progress)
        # Ends an ingest while the store still has room; what is in stays in.
        require_space(self._home)

    def _change(self, job_id: str, **changes: object) -> None:
        self._jobs[job_id] = self._jobs[job_id].model_copy(update=changes)

    def _forget_old(self) -> None:
        ended = [job.job_id for job in self._jobs.values() if job.state in ("done", "failed")]
        for job_id in ended[: max(0, len(ended) - KEPT_JOBS)]:
            del self._jobs[job_id]


async def _gathered(order: IngestOrder) -> Sequence[Source]:
    """All sources of an order, those outside this machine fetched."""
    if order.fetching is None or not order.addresses:
        return order.sources
    here = order.sources if isinstance(order.sources, Discovery) else Discovery(tuple(order.sources))
    return here.joined(await discover_remote(order.addresses, order.fetching))


def _sentence(error: Exception) -> str:
    return str(error).strip() or f"The ingest failed ({type(error).__name__}); see the log of the API."
