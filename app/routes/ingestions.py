"""Ingest paths of this machine, for callers that hold the home's local token; and the background jobs."""

from __future__ import annotations

import asyncio
import secrets
from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Header

from app.errors import TokenRefused
from app.jobs import IngestOrder
from app.openapi import problems
from app.routes.platform import PlatformDep
from app.schema import IngestRequest, Job, JobList
from ingestion.remote import RemoteFetch
from ingestion.sources import discover, is_address

router = APIRouter(prefix="/api", tags=["jobs"])

LocalToken = Annotated[str, Header(alias="X-Groundwork-Token", description="Token of the home's `api.json`.")]


@router.post("/ingestions", status_code=202, operation_id="ingest_paths", responses=problems(403, 422))
async def ingest_paths(request: IngestRequest, platform: PlatformDep, token: LocalToken = "") -> Job:
    """Ingest files, folders and globs of the API's machine, URLs, sitemaps and buckets in the background."""
    if not secrets.compare_digest(token.encode(), platform.local_token.encode()):
        raise TokenRefused("Paths of this machine need the local token of its home; upload the files instead.")
    ingestion = platform.settings.ingestion
    exclude = (*ingestion.exclude, *request.exclude)
    addresses = tuple(path for path in request.paths if is_address(path))
    paths = tuple(path for path in request.paths if not is_address(path))
    scratch = platform.home.uploads / uuid4().hex
    order = IngestOrder(
        await asyncio.to_thread(discover, paths, exclude=exclude),
        collection=request.collection,
        prune=request.prune,
        dry_run=request.dry_run,
        scratch=scratch if addresses else None,
        addresses=addresses,
        engine=request.engine,
        settings=ingestion.model_copy(update={"ocr": request.ocr}) if request.ocr else None,
        fetching=RemoteFetch(scratch, platform.settings.remote, ingestion.max_file_bytes, exclude)
        if addresses
        else None,
    )
    return platform.jobs.submit(order)


@router.get("/jobs", operation_id="list_jobs")
async def list_jobs(platform: PlatformDep) -> JobList:
    """Background ingests since the API started, newest first."""
    return JobList(jobs=platform.jobs.list())


@router.get("/jobs/{job_id}", operation_id="get_job", responses=problems(404))
async def get_job(job_id: str, platform: PlatformDep) -> Job:
    """A background ingest as it stands."""
    return platform.jobs.get(job_id)
