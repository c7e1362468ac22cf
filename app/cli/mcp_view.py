"""MCP servers and tools on a terminal. What servers say is stripped of control characters: it is untrusted."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.cli import output
from app.cli.approval_card import cell, plain

if TYPE_CHECKING:
    from app.tool_schema import ToolInfo, ToolListing

FINGERPRINT_CHARACTERS = 12
DESCRIPTION_CHARACTERS = 100


def print_servers(listing: ToolListing) -> None:
    """One line a server, and a sentence for what is wrong."""
    from rich.table import Table

    if listing.problem:
        output.write_error(listing.problem)
    if not listing.servers:
        output.write_text("No MCP servers; add one with groundwork mcp add.\n")
        return
    offered = Counter(tool.server for tool in listing.tools if tool.state == "offered")
    listed = Counter(tool.server for tool in listing.tools)
    table = Table("server", "state", "tools offered", "protocol", "software", "endpoint", box=None)
    for server in listing.servers:
        trusted = f"{server.state}, trusted" if server.trusted else server.state
        tools = f"{offered[server.name]} of {listed[server.name]}"
        cells = (server.name, trusted, tools, server.protocol_version, server.software, server.endpoint)
        table.add_row(*(cell(text) for text in cells))
    output.results().print(table)
    for server in listing.servers:
        if server.detail:
            output.write_text(f"{server.name}: {plain(server.detail)}\n")
        if server.ignored_keys:
            output.write_text(f"{server.name}: keys of other clients: {plain(', '.join(server.ignored_keys))}\n")


def print_tools(tools: Sequence[ToolInfo], *, definitions: bool = False) -> None:
    """Each tool with state, risk and fingerprint; a changed one with its difference."""
    for tool in tools:
        reason = f" ({plain(tool.reason)})" if tool.reason else ""
        output.write_text(f"\n{plain(tool.wire_name)}  {tool.state}{reason}\n")
        output.write_text(f"  risk         {tool.risk}: {plain(tool.risk_reason)}\n")
        output.write_text(f"  fingerprint  {tool.fingerprint[:FINGERPRINT_CHARACTERS]}\n")
        if tool.reviewed_definition is not None:
            _print_lines(_difference(tool))
        elif definitions:
            _print_lines(_json_lines(tool.definition))
        else:
            text = " ".join(plain(str(tool.definition.get("description", ""))).split())
            short = text[:DESCRIPTION_CHARACTERS] + ("..." if len(text) > DESCRIPTION_CHARACTERS else "")
            output.write_text(f"  {short}\n")


def _difference(tool: ToolInfo) -> list[str]:
    before, after = _json_lines(tool.reviewed_definition), _json_lines(tool.definition)
    return list(difflib.unified_diff(before, after, "reviewed", "now", lineterm="", n=1))


def _json_lines(definition: object) -> list[str]:
    return json.dumps(definition, indent=2, ensure_ascii=False, sort_keys=True).splitlines()


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        output.write_text(f"  {plain(line)}\n")
