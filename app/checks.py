"""What ``doctor`` looks at: each check says what it found and, when that is bad, what to do."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from app.errors import PortTaken
from app.home import Home
from app.home_lock import ApiAddress, running_api
from app.schema import ModelFile, Readiness, StatusReport
from app.settings import ServerSettings, Settings
from app.supervisor import claim_port
from ingestion.types import IngestReport

PYTHON_VERSIONS = ((3, 11), (3, 12))
_SPARE_BYTES = 1_000_000_000
"""Room for the store, the logs and a model's ONNX export."""


class Check(BaseModel):
    """One finding; ``remedy`` is empty when the state is ``ok``."""

    model_config = ConfigDict(frozen=True)

    name: str
    state: Literal["ok", "warning", "failed"]
    detail: str
    remedy: str = ""


class DoctorReport(BaseModel):
    """The JSON shape of ``doctor --json``."""

    model_config = ConfigDict(frozen=True)

    healthy: bool
    """Whether no check failed."""
    checks: tuple[Check, ...]


def report(checks: Sequence[Check]) -> DoctorReport:
    """The report of these checks."""
    return DoctorReport(healthy=all(check.state != "failed" for check in checks), checks=tuple(checks))


def check_machine(settings: Settings, models: Sequence[ModelFile]) -> list[Check]:
    """Checks that need no API: Python, home, disk, models, ports."""
    api = running_api(settings.home)
    missing_bytes = sum(file.size_bytes for file in models if file.used and file.state != "present")
    return [
        _check_python(),
        _check_home(settings.home),
        _check_disk(settings.home, missing_bytes),
        *(_check_model(file) for file in models if file.used),
        *_check_ports(settings.server, api),
    ]


def check_readiness(readiness: Readiness) -> list[Check]:
    """One check for each part of the API."""
    return [
        Check(name=f"api: {part}", state="ok", detail="ready")
        if state == "ready"
        else Check(name=f"api: {part}", state="failed", detail=state, remedy="See the log of the API in the home.")
        for part, state in readiness.parts.items()
    ]


def check_consistency(status: StatusReport) -> Check:
    """Whether ledger and store hold the same chunks."""
    if status.consistent:
        detail = f"{status.documents} documents, {status.chunks} chunks; ledger and store agree"
        return Check(name="documents", state="ok", detail=detail)
    detail = f"{status.missing_chunks} chunks are missing from the store, {status.orphaned_points} are in no document"
    return Check(name="documents", state="failed", detail=detail, remedy="Run 'groundwork doctor --repair'.")


def check_repair(report: IngestReport) -> Check:
    """What a repair has mended; documents that it could not mend need their ingest again."""
    failed = [file.source for file in report.files if file.status == "failed"]
    detail = f"{len(report.files) - len(failed)} documents mended, {len(failed)} not"
    if not failed:
        return Check(name="repair", state="ok", detail=detail)
    return Check(name="repair", state="warning", detail=detail, remedy=f"Ingest again: {', '.join(failed[:5])}")


def _check_python() -> Check:
    found = sys.version_info[:2]
    detail = f"{sys.version.split()[0]} at {sys.executable}"
    if found in PYTHON_VERSIONS:
        return Check(name="python", state="ok", detail=detail)
    return Check(name="python", state="failed", detail=detail, remedy="Use Python 3.11 or 3.12.")


def _check_home(home: Home) -> Check:
    try:
        home.root.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=home.root) as probe:
            probe.write(b"written")
            probe.flush()
    except OSError as error:
        detail = f"{home.root} cannot be written: {error.strerror}"
        return Check(name="home", state="failed", detail=detail, remedy="Make it writable, or choose another --home.")
    return Check(name="home", state="ok", detail=str(home.root))


def _check_disk(home: Home, missing_bytes: int) -> Check:
    free = shutil.disk_usage(_existing(home.root)).free
    needed = missing_bytes + _SPARE_BYTES
    detail = f"{free / 1e9:.1f} GB free, {needed / 1e9:.1f} GB wanted"
    if free >= needed:
        return Check(name="disk", state="ok", detail=detail)
    state = "failed" if free < missing_bytes else "warning"
    return Check(name="disk", state=state, detail=detail, remedy="Free some space, or choose another --home.")


def _existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _check_model(file: ModelFile) -> Check:
    name = f"{file.kind} model"
    if file.state == "present":
        return Check(name=name, state="ok", detail=f"{file.name} at {file.path}")
    remedy = f"Run 'groundwork models pull {file.name}'."
    return Check(name=name, state="failed", detail=f"{file.name} is {file.state}", remedy=remedy)


def _check_ports(server: ServerSettings, api: ApiAddress | None) -> list[Check]:
    if api is not None:
        return [Check(name="api", state="ok", detail=f"runs at {api.url}, process {api.pid}")]
    return [
        Check(name="api", state="ok", detail="does not run; commands open the home themselves"),
        _check_port(server.host, server.port, "--port"),
        _check_port(server.ui_host, server.ui_port, "--ui-port"),
    ]


def _check_port(host: str, port: int, option: str) -> Check:
    try:
        claim_port(host, port, option=option)
    except PortTaken as error:
        return Check(
            name=f"port {port}", state="warning", detail=str(error), remedy=f"Start with 'groundwork up {option} ...'."
        )
    return Check(name=f"port {port}", state="ok", detail=f"free on {host}")
