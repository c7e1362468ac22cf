"""What holds for every test: no network but loopback, no settings of the person who runs them."""

from __future__ import annotations

import os
import socket
from collections.abc import Generator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy.ext.asyncio import create_async_engine

from app.settings import DatabaseSettings, Settings

ROOT = Path(__file__).parents[1]

# Read once, before the guard below takes the variables away.
_DATA = Path(os.environ.get("GROUNDWORK_TEST_DATA") or ROOT.parent / "shared" / "data")
_MODEL_HOME = os.environ.get("GROUNDWORK_TEST_HOME") or os.environ.get("GROUNDWORK_HOME")
_POSTGRES = os.environ.get("GROUNDWORK_TEST_POSTGRES")
"""A ``postgresql+asyncpg://`` URL of a database that tests may write to."""
_STRICT = bool(os.environ.get("CI")) and os.environ.get("GROUNDWORK_TEST_STRICT") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In the pipeline a part that is missing is a failure: a test that was skipped there proves nothing.

    Tests marked ``data`` may be skipped: the evaluation data is no part of the repository, nor of a system package.
    """
    report = yield
    may_skip = item.get_closest_marker("data") is not None or hasattr(report, "wasxfail")
    if _STRICT and report.skipped and not may_skip:
        report.outcome = "failed"
        report.longrepr = f"Skipped where nothing may be skipped: {report.longreprtext}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """The same for a whole module."""
    report = yield
    if _STRICT and report.skipped:
        report.outcome = "failed"
        report.longrepr = f"Skipped where nothing may be skipped: {report.longreprtext}"
    return report


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the person who runs the tests reaches them."""
    for name in list(os.environ):
        if name.startswith("GROUNDWORK_"):
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def loopback_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that leaves this machine is an error of the test."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded_connect(self: socket.socket, address: Any) -> None:  # the socket module's own type
        _require_loopback(self, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:  # the socket module's own type
        _require_loopback(self, address)
        return connect_ex(self, address)

    monkeypatch.setattr(socket.socket, "connect", guarded_connect)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_connect_ex)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Defaults with a home of their own."""
    return Settings(home_path=tmp_path / "home")


@pytest.fixture(params=["sqlite", *([pytest.param("postgresql", marks=pytest.mark.integration)] if _POSTGRES else [])])
async def database_settings(request: pytest.FixtureRequest, settings: Settings) -> Settings:
    """Settings with the home's SQLite file, then with ``GROUNDWORK_TEST_POSTGRES``, emptied, if there is one."""
    settings.home_path.mkdir(exist_ok=True)
    if request.param == "sqlite":
        return settings
    engine = create_async_engine(_POSTGRES or "")
    async with engine.begin() as connection:
        await connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        await connection.execute(sa.text("CREATE SCHEMA public"))
    await engine.dispose()
    return settings.model_copy(update={"database": DatabaseSettings(url=SecretStr(_POSTGRES or ""))})


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Folder of the evaluation data; ``GROUNDWORK_TEST_DATA`` or ``../shared/data``."""
    if not _DATA.is_dir():
        pytest.skip(f"no evaluation data at {_DATA}; set GROUNDWORK_TEST_DATA")
    return _DATA


@pytest.fixture(scope="session")
def model_home() -> Path:
    """A home whose model store is filled; ``GROUNDWORK_TEST_HOME`` or ``GROUNDWORK_HOME``."""
    if not _MODEL_HOME or not (Path(_MODEL_HOME) / "models").is_dir():
        pytest.skip("no home with models; run `groundwork models pull` and set GROUNDWORK_TEST_HOME to its home")
    return Path(_MODEL_HOME)


def _require_loopback(connection: socket.socket, address: Any) -> None:  # the socket module's own type
    if connection.family not in (socket.AF_INET, socket.AF_INET6):
        return
    host = str(address[0])
    if host != "localhost" and not ip_address(host.partition("%")[0]).is_loopback:
        pytest.fail(f"a test tried to leave this machine: {address!r}")
