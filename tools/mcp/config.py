"""``mcp.json``: the ``{"mcpServers": {...}}`` shape that MCP clients share, with our keys beside theirs.

Read leniently, entry by entry: a key that another client put there is kept and said to be ignored, and an entry that
does not fit costs that one server alone.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from tools.errors import ToolDefinitionInvalid
from tools.types import BUILTIN_SERVER, Risk

SERVERS_KEY = "mcpServers"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")

ProtocolMode: TypeAlias = Literal["auto", "legacy"]


class McpServerConfig(BaseModel):
    """One server: a command that speaks MCP on its standard streams, or the URL of a streamable HTTP endpoint."""

    model_config = ConfigDict(extra="allow", frozen=True)

    command: str = ""
    """Program to start; empty for a server behind a URL."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, str] = Field(default_factory=dict[str, str])
    """Environment it gets beside a short allow-list (HOME, PATH, ...)."""
    cwd: Path | None = None
    """Its working folder."""
    url: str = ""
    """Endpoint of a streamable HTTP server."""
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    """HTTP headers sent with every request."""
    type: str = ""
    """``stdio``, ``http`` or ``streamable-http`` as other clients write it; told from the other keys."""
    disabled: bool = False
    """Keep the entry and offer nothing of it."""
    trusted: bool = False
    """Believe the server's hints: its read-only tools run unasked, its idempotent ones may be tried again."""
    risks: dict[str, Risk] = Field(default_factory=dict[str, Risk])
    """Risk class by tool name, over whatever the server says."""
    idempotency: dict[str, str] = Field(default_factory=dict[str, str])
    """By tool name, the argument that takes a key under which the server acts once; the model does not see it."""
    timeout_seconds: float | None = Field(default=None, gt=0)
    """Time limit of one call; None takes ``[tools] call_timeout_seconds``."""
    scopes: tuple[str, ...] = ()
    """OAuth scopes to ask for at ``mcp login``; empty leaves it to the server."""
    protocol: ProtocolMode = "auto"
    """``legacy`` skips the question for the newest protocol, for servers that do not bear it."""

    @model_validator(mode="after")
    def _one_transport(self) -> McpServerConfig:
        if bool(self.command) == bool(self.url):
            raise ValueError("give either 'command' or 'url'")
        if self.type == "sse":
            raise ValueError("the transport 'sse' is no longer part of the protocol; use the server's /mcp address")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError("'url' must begin with http:// or https://")
        return self

    @property
    def ignored_keys(self) -> tuple[str, ...]:
        """Keys of the entry that belong to other clients."""
        return tuple(sorted(self.model_extra or ()))

    @property
    def endpoint(self) -> str:
        """What is started or called, for a person; no environment and no headers, which hold secrets."""
        return self.url or " ".join((self.command, *self.args))


@dataclass(frozen=True, slots=True)
class McpServers:
    """What a file says: servers that fit, and a sentence for each that does not."""

    servers: Mapping[str, McpServerConfig] = field(default_factory=dict[str, McpServerConfig])
    problems: Mapping[str, str] = field(default_factory=dict[str, str])


def read_mcp_servers(path: Path, environ: Mapping[str, str]) -> McpServers:
    """Servers by name from ``mcp.json``; no file is no servers.

    ``${NAME}`` in any text takes a variable of our environment, ``${NAME:-text}`` the text where it is not set.

    Raises:
        ToolDefinitionInvalid: The file as a whole cannot be read.
    """
    servers: dict[str, McpServerConfig] = {}
    problems: dict[str, str] = {}
    for name, entry in read_entries(path).items():
        try:
            check_name(name)
            servers[name] = parse_entry(name, _expanded(entry, name, environ))
        except ToolDefinitionInvalid as error:
            problems[name] = str(error)
    return McpServers(servers, problems)


def read_entries(path: Path) -> dict[str, Any]:
    """Entries as they stand in the file.

    Raises:
        ToolDefinitionInvalid: The file cannot be read, is no JSON, or is of another shape.
    """
    entries: object = _read_document(path).get(SERVERS_KEY, {})
    if not isinstance(entries, dict):
        raise ToolDefinitionInvalid(f"{str(path)!r}: {SERVERS_KEY!r} must be an object of servers by name.")
    return cast(dict[str, Any], entries)


def write_entry(path: Path, name: str, entry: Mapping[str, Any] | None) -> None:
    """Put an entry into the file, or take it out with None; whatever else stands there stays.

    The file may hold secrets: it is replaced as a whole, readable by its owner alone.
    """
    document = _read_document(path)
    entries = {other: value for other, value in read_entries(path).items() if other != name}
    if entry is not None:
        entries[name] = dict(entry)
    document[SERVERS_KEY] = entries
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    scratch.replace(path)


def parse_entry(name: str, entry: object) -> McpServerConfig:
    """One entry as a configuration.

    Raises:
        ToolDefinitionInvalid: It does not fit; names the key.
    """
    try:
        return McpServerConfig.model_validate(entry)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in ("mcpServers", name, *first["loc"]))
        raise ToolDefinitionInvalid(f"{where}: {first['msg'].removeprefix('Value error, ')}.") from error


def check_name(name: str) -> None:
    """Raise ``ToolDefinitionInvalid`` for a name that no server may have."""
    if name == BUILTIN_SERVER:
        raise ToolDefinitionInvalid(f"{name!r} is the name of the built-in tools; give the MCP server another one.")
    if not _NAME.fullmatch(name):
        raise ToolDefinitionInvalid(
            f"{name!r} is no name for an MCP server; use up to 60 letters, digits, '_', '-' and '.'."
        )


def _read_document(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        document: object = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ToolDefinitionInvalid(f"Cannot read the MCP servers from {str(path)!r}: {error}.") from error
    if not isinstance(document, dict):
        raise ToolDefinitionInvalid(f"{str(path)!r} must hold an object with the key {SERVERS_KEY!r}.")
    return cast(dict[str, Any], document)


def _expanded(value: object, name: str, environ: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _value_of(match, name, environ), value)
    if isinstance(value, list):
        return [_expanded(item, name, environ) for item in cast(list[object], value)]
    if isinstance(value, dict):
        return {key: _expanded(item, name, environ) for key, item in cast(dict[str, object], value).items()}
    return value


def _value_of(match: re.Match[str], name: str, environ: Mapping[str, str]) -> str:
    variable, fallback = match[1], match[2]
    if variable in environ:
        return environ[variable]
    if fallback is None:
        raise ToolDefinitionInvalid(f"MCP server {name!r} needs the environment variable {variable!r}; set it.")
    return fallback
