"""A home of its own with the handbook, the pretend cluster and their tools let in: where agent tasks are played."""

from __future__ import annotations

import asyncio
import json
import socket
import sqlite3
import sys
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack, cast

from pydantic import JsonValue

from app.client import ApiClient
from app.main import Overrides
from app.schema import IngestRequest
from app.serve import answering
from app.settings import Settings
from app.wiring import Platform, open_platform
from evals.agent_tasks import Change, ClusterState
from evals.errors import WorldUnusable

SERVER = "cluster"
OPERATOR = "eval"
"""Who lets the cluster's tools in."""
_KEYED = ("set_memory_limit", "restart_deployment", "rollback_deployment", "delete_pod")
"""Tools whose effects carry the id of their call, so that each effect can be laid beside its approval."""
_STATE_TABLES = ("deployments", "pods")


class ClusterFile:
    """The cluster's SQLite file: read after a task, put back before the next."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._start = self._dump()

    def reset(self) -> None:
        """Everything as it was at the start; no changes."""
        with closing(sqlite3.connect(self._path, timeout=10)) as connection, connection:
            connection.execute("DELETE FROM changes")
            for table, rows in self._start.items():
                connection.execute(f"DELETE FROM {table}")
                for row in rows:
                    marks = ", ".join("?" for _ in row)
                    connection.execute(f"INSERT INTO {table} VALUES ({marks})", tuple(row.values()))

    def state(self) -> ClusterState:
        """Deployments and pods by name."""
        return {table: {str(row["name"]): row for row in rows} for table, rows in self._dump().items()}

    def changes(self) -> list[Change]:
        """Effects since the last reset, in order."""
        rows = self._rows("SELECT tool, arguments, key FROM changes ORDER BY id")
        return [
            Change(str(row["tool"]), cast(dict[str, JsonValue], json.loads(str(row["arguments"]))), str(row["key"]))
            for row in rows
        ]

    def _dump(self) -> dict[str, list[dict[str, JsonValue]]]:
        return {table: self._rows(f"SELECT * FROM {table}") for table in _STATE_TABLES}

    def _rows(self, query: str) -> list[dict[str, Any]]:  # SQLite's own values
        with closing(sqlite3.connect(self._path, timeout=10)) as connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(query)]


@dataclass(frozen=True, slots=True)
class AgentWorld:
    """An API over a home of its own, and the cluster behind its tools."""

    api: ApiClient
    cluster: ClusterFile
    model: str


@asynccontextmanager
async def open_world(
    settings: Settings, *, server: Path, documents: Path, **overrides: Unpack[Overrides]
) -> AsyncGenerator[AgentWorld]:
    """Open the world: models of the settings' home, nothing else of it.

    Args:
        settings: Which models, and how agents act.
        server: The cluster's MCP server, a Python file that takes ``--database``.
        documents: Folder that is ingested.
        overrides: Parts used instead of those of the settings.

    Raises:
        WorldUnusable: The server does not start, or the documents cannot be ingested.
    """
    for path in (server, documents):
        if not path.exists():
            raise WorldUnusable(f"There is no {str(path)!r}; run the command in a checkout, or name another place.")
    with tempfile.TemporaryDirectory(prefix="groundwork-agents-") as folder:
        home = Path(folder) / "home"
        database = Path(folder) / "cluster.db"
        home.mkdir()
        if settings.home.models.is_dir():
            (home / settings.home.models.name).symlink_to(settings.home.models.resolve(), target_is_directory=True)
        own = settings.model_copy(update={"home_path": home, "tools": settings.tools.model_copy(update={"policy": ()})})
        own.home.mcp_config.write_text(json.dumps(_mcp_config(server, database)), encoding="utf-8")
        async with open_platform(own, **overrides) as platform, _client(own, platform, Path(folder)) as api:
            await _let_tools_in(platform)
            await _ingest(api, documents)
            yield AgentWorld(api, ClusterFile(database), platform.chat_model.name)


def _mcp_config(server: Path, database: Path) -> Mapping[str, JsonValue]:
    entry: dict[str, JsonValue] = {
        "command": sys.executable,
        "args": [str(server.resolve()), "--database", str(database)],
        "trusted": True,
        "idempotency": dict.fromkeys(_KEYED, "idempotency_key"),
    }
    return {"mcpServers": {SERVER: entry}}


@asynccontextmanager
async def _client(settings: Settings, platform: Platform, folder: Path) -> AsyncGenerator[ApiClient]:
    path = folder / "api.sock"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    async with (
        answering(settings, platform, listener),
        ApiClient("http://localhost", token=platform.local_token, uds=path) as client,
    ):
        yield client


async def _let_tools_in(platform: Platform) -> None:
    """Review every tool of the cluster, as a person does on the tools page."""
    listing = await platform.tools.listing(server=SERVER, patient=True)
    if not listing.tools:
        detail = "; ".join(info.detail for info in listing.servers if info.detail)
        raise WorldUnusable(f"The cluster's server lists no tools ({detail or 'no reason given'}); see its log.")
    for tool in listing.tools:
        await platform.tools.review(tool.server, tool.tool, fingerprint=tool.fingerprint, actor=OPERATOR, accept=True)


async def _ingest(api: ApiClient, documents: Path) -> None:
    job = await api.ingest(IngestRequest(paths=(str(documents.resolve()),)))
    while job.state in ("queued", "running"):
        await asyncio.sleep(0.2)
        job = await api.job(job.job_id)
    if job.state != "done":
        raise WorldUnusable(f"The documents could not be ingested: {job.error or 'see the log'}.")
