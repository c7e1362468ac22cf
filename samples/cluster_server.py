"""A pretend Kubernetes cluster behind MCP: a sample to try approvals on, nothing in it is real.

    python samples/cluster_server.py [--database cluster.db]

State lives in one SQLite file, so an effect can be counted: every change appends one row to ``changes``.
"""

from __future__ import annotations

import argparse
import json
import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field

SCHEMA = """
CREATE TABLE IF NOT EXISTS deployments (
    name TEXT PRIMARY KEY, namespace TEXT, image TEXT, previous_image TEXT, revision INTEGER,
    memory_limit TEXT, memory_request TEXT, restarted_at TEXT);
CREATE TABLE IF NOT EXISTS pods (
    name TEXT PRIMARY KEY, deployment TEXT, phase TEXT, restarts INTEGER, last_reason TEXT, exit_code INTEGER,
    memory_used_mib INTEGER, cpu_used_millicores INTEGER);
CREATE TABLE IF NOT EXISTS events (pod TEXT, at TEXT, type TEXT, reason TEXT, message TEXT);
CREATE TABLE IF NOT EXISTS logs (pod TEXT, at TEXT, line TEXT);
CREATE TABLE IF NOT EXISTS changes (id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT, tool TEXT, arguments TEXT, key TEXT);
CREATE UNIQUE INDEX IF NOT EXISTS changes_by_key ON changes (key) WHERE key != '';
"""

DEPLOYMENTS = (
    ("orders-api", "shop", "orders-api:2.14.0", "orders-api:2.13.2", 41, "512Mi", "256Mi", ""),
    ("image-resizer", "media", "image-resizer:1.8.1", "image-resizer:1.8.0", 17, "1Gi", "512Mi", ""),
    ("checkout-web", "shop", "checkout-web:5.0.3", "checkout-web:5.0.2", 88, "256Mi", "128Mi", ""),
)
PODS = (
    ("orders-api-7d9f6c5b8-x2k4q", "orders-api", "Running", 6, "OOMKilled", 137, 498, 220),
    ("orders-api-7d9f6c5b8-m8w2z", "orders-api", "Running", 0, "", 0, 301, 180),
    ("image-resizer-6b8d4f9c7-q5t7n", "image-resizer", "Running", 1, "Error", 1, 640, 510),
    ("checkout-web-5c7b9d8f4-h3j6v", "checkout-web", "CrashLoopBackOff", 14, "Error", 1, 90, 15),
)
EVENTS = (
    ("orders-api-7d9f6c5b8-x2k4q", "09:41:12", "Warning", "OOMKilling", "Memory cgroup out of memory: killed java"),
    ("orders-api-7d9f6c5b8-x2k4q", "09:41:13", "Warning", "BackOff", "Back-off restarting failed container api"),
    ("orders-api-7d9f6c5b8-x2k4q", "09:41:54", "Normal", "Started", "Started container api"),
    ("checkout-web-5c7b9d8f4-h3j6v", "09:40:02", "Warning", "BackOff", "Back-off restarting failed container web"),
)
LOGS = (
    ("orders-api-7d9f6c5b8-x2k4q", "09:40:58", "INFO nightly export started, 48210 orders"),
    ("orders-api-7d9f6c5b8-x2k4q", "09:41:09", "WARN heap 487 MiB of 512 MiB container limit"),
    ("orders-api-7d9f6c5b8-x2k4q", "09:41:11", "INFO export page 212 of 964"),
    ("checkout-web-5c7b9d8f4-h3j6v", "09:40:00", "ERROR missing environment variable PAYMENT_URL"),
)

READ = ToolAnnotations(read_only_hint=True, open_world_hint=False)
WRITE = ToolAnnotations(destructive_hint=False, idempotent_hint=True, open_world_hint=False)
RESTART = ToolAnnotations(destructive_hint=False, idempotent_hint=False, open_world_hint=False)
DESTRUCTIVE = ToolAnnotations(destructive_hint=True, idempotent_hint=False, open_world_hint=False)

PodName = Annotated[str, Field(description="Full name of the pod.")]
DeploymentName = Annotated[str, Field(description="Name of the deployment.")]
IdempotencyKey = Annotated[str, Field(description="Calls with one key change the cluster once.")]


class Cluster:
    """The pretend cluster in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self.open() as connection:
            connection.executescript(SCHEMA)
            if connection.execute("SELECT count(*) FROM deployments").fetchone()[0] == 0:
                connection.executemany("INSERT INTO deployments VALUES (?,?,?,?,?,?,?,?)", DEPLOYMENTS)
                connection.executemany("INSERT INTO pods VALUES (?,?,?,?,?,?,?,?)", PODS)
                connection.executemany("INSERT INTO events VALUES (?,?,?,?,?)", EVENTS)
                connection.executemany("INSERT INTO logs VALUES (?,?,?)", LOGS)

    @contextmanager
    def open(self) -> Generator[sqlite3.Connection]:
        """One transaction."""
        connection = sqlite3.connect(self.path, timeout=10)
        connection.row_factory = sqlite3.Row
        try:
            with connection:
                yield connection
        finally:
            connection.close()

    def row(self, table: str, name: str) -> dict[str, Any]:
        """One deployment or pod; raises ``ToolError`` with the names that exist."""
        with self.open() as connection:
            found = connection.execute(f"SELECT * FROM {table} WHERE name = ?", (name,)).fetchone()
            if found is None:
                names = [row["name"] for row in connection.execute(f"SELECT name FROM {table} ORDER BY name")]
                raise ToolError(f"No {table[:-1]} {name!r}; there are: {', '.join(names)}.")
            return dict(found)

    def change(self, tool: str, arguments: dict[str, Any], key: str, statement: str, values: tuple[Any, ...]) -> bool:
        """Apply one change and log it in the same transaction; False when the key was used before."""
        with self.open() as connection:
            at = datetime.now(UTC).isoformat(timespec="seconds")
            try:
                connection.execute(
                    "INSERT INTO changes (at, tool, arguments, key) VALUES (?,?,?,?)",
                    (at, tool, json.dumps(arguments, sort_keys=True), key),
                )
            except sqlite3.IntegrityError:
                return False
            connection.execute(statement, values)
            return True


def build_server(cluster: Cluster) -> MCPServer:
    """The cluster's tools over MCP."""
    server = MCPServer("cluster", instructions="A pretend cluster for trying Groundwork; nothing here is real.")

    @server.tool(annotations=READ)
    def get_pod(name: PodName) -> dict[str, Any]:
        """State of a pod: phase, restarts, last termination reason, exit code, memory limit and image."""
        pod = cluster.row("pods", name)
        deployment = cluster.row("deployments", pod["deployment"])
        return {**pod, "memory_limit": deployment["memory_limit"], "image": deployment["image"]}

    @server.tool(annotations=READ)
    def get_events(pod: PodName) -> list[dict[str, Any]]:
        """Events of a pod, oldest first."""
        cluster.row("pods", pod)
        with cluster.open() as connection:
            return [dict(row) for row in connection.execute("SELECT * FROM events WHERE pod = ? ORDER BY at", (pod,))]

    @server.tool(annotations=READ)
    def get_logs(pod: PodName, lines: Annotated[int, Field(ge=1, le=500, description="Last lines.")] = 50) -> str:
        """Last log lines of a pod."""
        cluster.row("pods", pod)
        query = "SELECT at, line FROM logs WHERE pod = ? ORDER BY at DESC LIMIT ?"
        with cluster.open() as connection:
            rows = connection.execute(query, (pod, lines)).fetchall()
        return "\n".join(f"{row['at']} {row['line']}" for row in reversed(rows))

    @server.tool(annotations=READ)
    def top_pods() -> list[dict[str, Any]]:
        """Memory and CPU use of every pod, largest memory first."""
        with cluster.open() as connection:
            query = (
                "SELECT name, deployment, memory_used_mib, cpu_used_millicores FROM pods "
                "ORDER BY memory_used_mib DESC, name"
            )
            return [dict(row) for row in connection.execute(query)]

    @server.tool(annotations=WRITE)
    def set_memory_limit(
        deployment: DeploymentName,
        limit: Annotated[str, Field(description="New limit, 768Mi or 1Gi for example.")],
        idempotency_key: IdempotencyKey = "",
    ) -> str:
        """Set the memory limit of a deployment's containers; its pods are rolled."""
        before = cluster.row("deployments", deployment)["memory_limit"]
        if not re.fullmatch(r"[1-9][0-9]*(Mi|Gi)", limit):
            raise ToolError(f"{limit!r} is no memory quantity; write 768Mi or 1Gi.")
        arguments = {"deployment": deployment, "limit": limit}
        statement = "UPDATE deployments SET memory_limit = ?, revision = revision + 1 WHERE name = ?"
        applied = cluster.change("set_memory_limit", arguments, idempotency_key, statement, (limit, deployment))
        return f"Memory limit of {deployment} {'was' if applied else 'had been'} changed from {before} to {limit}."

    @server.tool(annotations=RESTART)
    def restart_deployment(deployment: DeploymentName, idempotency_key: IdempotencyKey = "") -> str:
        """Restart all pods of a deployment, one after the other."""
        cluster.row("deployments", deployment)
        at = datetime.now(UTC).isoformat(timespec="seconds")
        statement = "UPDATE deployments SET restarted_at = ? WHERE name = ?"
        arguments = {"deployment": deployment}
        cluster.change("restart_deployment", arguments, idempotency_key, statement, (at, deployment))
        return f"Deployment {deployment} restarts."

    @server.tool(annotations=RESTART)
    def rollback_deployment(deployment: DeploymentName, idempotency_key: IdempotencyKey = "") -> str:
        """Return a deployment to the image it ran before."""
        found = cluster.row("deployments", deployment)
        statement = (
            "UPDATE deployments SET image = previous_image, previous_image = image, revision = revision + 1 "
            "WHERE name = ?"
        )
        arguments = {"deployment": deployment}
        cluster.change("rollback_deployment", arguments, idempotency_key, statement, (deployment,))
        return f"Deployment {deployment} goes back to {found['previous_image']}."

    @server.tool(annotations=DESTRUCTIVE)
    def delete_pod(name: PodName, idempotency_key: IdempotencyKey = "") -> str:
        """Delete a pod for good."""
        cluster.row("pods", name)
        cluster.change("delete_pod", {"name": name}, idempotency_key, "DELETE FROM pods WHERE name = ?", (name,))
        return f"Pod {name} is deleted."

    return server


def main() -> None:
    """Serve the cluster on standard streams."""
    parser = argparse.ArgumentParser(description="A pretend Kubernetes cluster over MCP; nothing in it is real.")
    parser.add_argument("--database", type=Path, default=Path("cluster.db"), help="SQLite file, made when missing")
    build_server(Cluster(parser.parse_args().database)).run(transport="stdio")


if __name__ == "__main__":
    main()
