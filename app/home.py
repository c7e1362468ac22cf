"""The home folder: every path that Groundwork keeps data under, and who owns it now."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Home:
    """Paths under ``GROUNDWORK_HOME``; nothing is created until somebody writes."""

    root: Path

    @property
    def models(self) -> Path:
        """The model store: one folder per model."""
        return self.root / "models"

    @property
    def engines(self) -> Path:
        """Environments of model servers that are no part of the application, and weights made for them."""
        return self.root / "engines"

    @property
    def store(self) -> Path:
        """The embedded vector store."""
        return self.root / "store"

    @property
    def checkpoints(self) -> Path:
        """SQLite file of parked runs; apart from the database, whose writers it must not hold up."""
        return self.root / "checkpoints.sqlite3"

    @property
    def database(self) -> Path:
        """The SQLite file of threads, runs and the document ledger."""
        return self.root / "groundwork.db"

    @property
    def uploads(self) -> Path:
        """Files that came in through the API."""
        return self.root / "uploads"

    @property
    def originals(self) -> Path:
        """PDFs that came in through the API, by their hash, for pictures of their pages."""
        return self.root / "originals"

    @property
    def logs(self) -> Path:
        """Logs of the child processes."""
        return self.root / "logs"

    @property
    def lock(self) -> Path:
        """Held by the one process that has this home open."""
        return self.root / "lock"

    @property
    def api_file(self) -> Path:
        """JSON with address, process id and local token of the API that runs for this home; mode 0600."""
        return self.root / "api.json"

    @property
    def samples_marker(self) -> Path:
        """Exists once ``up`` has ingested the sample documents."""
        return self.root / "samples-ingested"

    @property
    def receipt_key(self) -> Path:
        """Private key that signs receipts, mode 0600; made with the first receipt."""
        return self.root / "receipt-key"

    @property
    def mcp_config(self) -> Path:
        """The MCP servers, unless a setting names another file."""
        return self.root / "mcp.json"

    @property
    def mcp_logins(self) -> Path:
        """OAuth tokens of MCP servers, one file each, mode 0600."""
        return self.root / "mcp-logins"

    @property
    def agents(self) -> Path:
        """Declaration of agents, unless a setting names another file."""
        return self.root / "agents.toml"
