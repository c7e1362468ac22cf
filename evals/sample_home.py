"""A home of its own with one folder ingested: where the gate measures, whatever the person's own home holds."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Unpack

from app.client import ApiClient
from app.main import Overrides
from app.schema import IngestRequest
from app.serve import serve_embedded
from app.settings import DatabaseSettings, Settings
from evals.errors import WorldUnusable
from retrieval.settings import StoreSettings


@asynccontextmanager
async def open_sample_home(
    settings: Settings, documents: Path, **overrides: Unpack[Overrides]
) -> AsyncGenerator[ApiClient]:
    """The API over a home that is gone afterwards; models are those of the settings, store and database its own.

    Args:
        settings: Which models.
        documents: Folder that is ingested.
        overrides: Parts used instead of those of the settings.

    Raises:
        WorldUnusable: The documents are not there, or cannot be ingested.
    """
    if not documents.is_dir():
        raise WorldUnusable(f"There is no folder {str(documents)!r}; run the command in a checkout.")
    with tempfile.TemporaryDirectory(prefix="groundwork-gate-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        if settings.home.models.is_dir():
            (home / settings.home.models.name).symlink_to(settings.home.models.resolve(), target_is_directory=True)
        own = settings.model_copy(update={"home_path": home, "store": StoreSettings(), "database": DatabaseSettings()})
        async with serve_embedded(own, **overrides) as api:
            job = await api.ingest(IngestRequest(paths=(str(documents.resolve()),)))
            while job.state in ("queued", "running"):
                await asyncio.sleep(0.2)
                job = await api.job(job.job_id)
            if job.state != "done":
                raise WorldUnusable(f"The documents could not be ingested: {job.error or 'see the log'}.")
            yield api
