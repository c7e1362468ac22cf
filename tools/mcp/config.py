"""``mcp.json``: the ``{"mcpServers": {...}}`` shape that MCP clients share, with our keys beside theirs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tools.errors import ToolDefinitionInvalid
from tools.types import Risk

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


class McpServerConfig(BaseModel):
    """One server: a command that speaks MCP on its standard streams, or the URL of a streamable HTTP endpoint."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    command: str = ""
    """Program to start; empty for a server behind a URL."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Environment it gets beside a short allow-list (HOME, PATH, ...); ``${NAME}`` takes ours."""
    cwd: Path | None = None
    """Its working folder."""
    url: str = ""
    """Endpoint of a streamable HTTP server."""
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    """HTTP headers sent with every request; ``${NAME}`` takes our environment."""
    type: str = ""
    """``stdio``, ``http`` or ``streamable-http`` as other clients write it; told from the other keys."""
    disabled: bool = False
    """Keep the entry and offer nothing of it."""
    trusted: bool = False
    """Believe the server's hints: its read-only tools run unasked, its idempotent ones may be tried again."""
    risks: dict[str, Risk] = Field(default_factory=dict[str, Risk])
    """Risk class by tool name, over whatever the server says."""
    timeout_seconds: float = Field(default=60.0, gt=0)
    """Time limit of one call."""

    @model_validator(mode="after")
    def _one_transport(self) -> McpServerConfig:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either 'command' or 'url'")
        return self


def read_mcp_servers(path: Path, environ: Mapping[str, str]) -> dict[str, McpServerConfig]:
    """Servers by name from ``mcp.json``; no file is no servers.

    Raises:
        ToolDefinitionInvalid: The file does not fit, or it names a variable that is not set.
    """
    if not path.is_file():
        return {}
    try:
        document = _McpFile.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ToolDefinitionInvalid(f"{str(path)!r}: {where}: {first['msg']}.") from error
    return {name: _expand(name, server, environ) for name, server in document.servers.items()}


class _McpFile(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    servers: dict[str, McpServerConfig] = Field(default_factory=dict[str, McpServerConfig], alias="mcpServers")


def _expand(name: str, server: McpServerConfig, environ: Mapping[str, str]) -> McpServerConfig:
    def expanded(values: Mapping[str, str]) -> dict[str, str]:
        return {key: _VARIABLE.sub(lambda match: value_of(match[1]), value) for key, value in values.items()}

    def value_of(variable: str) -> str:
        if variable not in environ:
            raise ToolDefinitionInvalid(f"MCP server {name!r} needs the environment variable {variable!r}; set it.")
        return environ[variable]

    update: dict[str, Any] = {"env": expanded(server.env), "headers": expanded(server.headers)}
    return server.model_copy(update=update)
