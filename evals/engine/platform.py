"""The API as a process of its own in front of a model server, with documents in it, as a person would run it."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from app.client import ApiClient
from app.home import Home
from app.home_lock import ApiAddress, running_api
from app.processes import ROOT
from app.schema import IngestRequest
from evals.engine.servers import Engine
from evals.errors import WorldUnusable

START_SECONDS = 120.0
STOP_SECONDS = 30.0
_POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class RunningApi:
    """An API that answers, and its typed client."""

    address: ApiAddress
    client: ApiClient

    @property
    def base_url(self) -> str:
        """Address of its OpenAI wire."""
        return f"{self.address.url}/v1"


@asynccontextmanager
async def open_api(
    engine: Engine, models: Path, documents: Path, *, environ: Mapping[str, str] | None = None
) -> AsyncGenerator[RunningApi]:
    """An API over a home that is gone afterwards, whose chat model is the engine's.

    Args:
        engine: The model server.
        models: Home that holds the embedding model.
        documents: Folder or file that is ingested first.
        environ: Settings beside those of the engine.

    Raises:
        WorldUnusable: The API did not start, or the documents could not be ingested.
    """
    with tempfile.TemporaryDirectory(prefix="groundwork-measured-") as folder:
        home = Home(Path(folder) / "home")
        home.root.mkdir()
        home.models.symlink_to(Home(models).models.resolve(), target_is_directory=True)
        log = Path(folder) / "api.log"
        with log.open("wb") as output:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "app", "--home", str(home.root), "serve", "--host", "127.0.0.1", "--port", "0",
                cwd=ROOT, env=_environ(engine) | dict(environ or {}), stdout=output, stderr=output,
            )  # fmt: skip
        try:
            address = await _address(process, home, log)
            async with ApiClient(address.url, token=address.token) as client:
                await _ingest(client, documents)
                yield RunningApi(address, client)
        finally:
            if process.returncode is None:
                process.terminate()
            async with asyncio.timeout(STOP_SECONDS):
                await process.wait()


def _environ(engine: Engine) -> dict[str, str]:
    """Nothing of the caller's own settings counts."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GROUNDWORK_")}
    return kept | {
        "GROUNDWORK_MODEL__BASE_URL": engine.base_url,
        "GROUNDWORK_MODEL__NAME": engine.model,
        "GROUNDWORK_MODEL__API_KEY": engine.api_key,
        "GROUNDWORK_MODEL__CONTEXT_TOKENS": str(engine.context_tokens),
        "GROUNDWORK_MODELS__OFFLINE": "true",
    }


async def _address(process: asyncio.subprocess.Process, home: Home, log: Path) -> ApiAddress:
    loop = asyncio.get_running_loop()
    end = loop.time() + START_SECONDS
    while loop.time() < end and process.returncode is None:
        if address := running_api(home):
            return address
        await asyncio.sleep(_POLL_SECONDS)
    last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
    raise WorldUnusable(f"The API did not start: {' '.join(last) or 'it said nothing'}")


async def _ingest(client: ApiClient, documents: Path) -> None:
    job = await client.ingest(IngestRequest(paths=(str(documents.resolve()),)))
    while job.state in ("queued", "running"):
        await asyncio.sleep(_POLL_SECONDS)
        job = await client.job(job.job_id)
    if job.state != "done":
        raise WorldUnusable(f"The documents could not be ingested: {job.error or 'see the log'}.")
