"""What ``up`` does between the start of the processes and the moment a person can ask."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from app.cli import output
from app.cli.ingest import run_ingest
from app.cli.progress import ingest_progress

if TYPE_CHECKING:
    from app.client import ApiClient
    from app.settings import Settings

SAMPLE_COLLECTION = "handbook"
SAMPLE_SERVER = "cluster"
SAMPLE_CHANGES = ("set_memory_limit", "restart_deployment", "rollback_deployment", "delete_pod")
_ANNOUNCE_SECONDS = 30.0
_ANNOUNCE_POLL_SECONDS = 0.05
_LOADING_SECONDS = 180.0
"""Longest wait for the embedded model server to load its model."""
_REMOTE_SECONDS = 10.0
"""Longest wait for a model server that somebody else runs."""
_READY_POLL_SECONDS = 0.5


async def wait_announced(settings: Settings) -> None:
    """Until the API has written where it listens, which it does an instant after it answers."""
    from app.errors import ProcessFailed
    from app.home_lock import running_api

    try:
        async with asyncio.timeout(_ANNOUNCE_SECONDS):
            while running_api(settings.home) is None:  # noqa: ASYNC110 - another process writes that file
                await asyncio.sleep(_ANNOUNCE_POLL_SECONDS)
    except TimeoutError as error:
        raise ProcessFailed(f"The API does not say where it listens; see {settings.home.logs / 'api.log'}.") from error


async def ingest_samples(client: ApiClient, settings: Settings) -> None:
    """Ingest the handbook once per home; a home whose owner deleted it stays without."""
    from app.processes import ROOT
    from app.schema import IngestRequest

    folder = ROOT / "samples" / "handbook"
    marker = settings.home.samples_marker
    if marker.exists() or not folder.is_dir():
        return
    with ingest_progress() as show:
        request = IngestRequest(paths=(str(folder),), collection=SAMPLE_COLLECTION)
        report = await run_ingest(client, request, show)
    marker.touch()
    failed = report.totals.get("failed", 0)
    remark = f"; {failed} failed" if failed else ""
    output.write_error(f"Ingested the sample handbook: {len(report.files)} documents{remark}.")


async def add_sample_cluster(client: ApiClient, settings: Settings) -> None:
    """Offer the tools of the pretend cluster, in a home that has no MCP servers and never had samples."""
    from app.processes import ROOT
    from app.tool_schema import ToolReview
    from tools.mcp.config import write_entry

    program = ROOT / "samples" / "cluster_server.py"
    if settings.home.samples_marker.exists() or settings.mcp_config.exists() or not program.is_file():
        return
    entry: dict[str, object] = {
        "command": sys.executable,
        "args": [str(program), "--database", str(settings.home.root / "sample-cluster.db")],
        "trusted": True,
        "idempotency": dict.fromkeys(SAMPLE_CHANGES, "idempotency_key"),
    }
    write_entry(settings.mcp_config, SAMPLE_SERVER, entry)
    listing = await client.tools(server=SAMPLE_SERVER, wait=True)
    for tool in listing.tools:
        await client.review_tool(
            ToolReview(server=tool.server, tool=tool.tool, fingerprint=tool.fingerprint, accept=True)
        )
    output.write_error(f"Added the tools of a pretend cluster ({SAMPLE_SERVER}): nothing in it is real.")


async def wait_ready(client: ApiClient, settings: Settings) -> str:
    """Empty once all parts are ready; otherwise, after a long wait, one sentence."""
    seconds = _REMOTE_SECONDS if settings.model.base_url else _LOADING_SECONDS
    problem = ""
    try:
        async with asyncio.timeout(seconds):
            while not (readiness := await client.readiness()).ready:
                problem = "; ".join(f"{part}: {state}" for part, state in readiness.parts.items() if state != "ready")
                await asyncio.sleep(_READY_POLL_SECONDS)
    except TimeoutError:
        return problem
    return ""
