"""What holds for every test: no network but loopback, no settings of the person who runs them."""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncGenerator, Generator
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from sqlalchemy.ext.asyncio import create_async_engine

from app.settings import DatabaseSettings, Settings
from tests.postgres import Postgres, PostgresMissing, postgres_cluster

ROOT = Path(__file__).parents[1]

# Read once, before the guard below takes the variables away.
_DATA = Path(os.environ.get("GROUNDWORK_TEST_DATA") or ROOT.parent / "shared" / "data")
_MODEL_HOME = os.environ.get("GROUNDWORK_TEST_HOME") or os.environ.get("GROUNDWORK_HOME")
_POSTGRES = os.environ.get("GROUNDWORK_TEST_POSTGRES")
"""A ``postgresql+asyncpg://`` URL of a database that tests may empty; without it they start a server of their own."""
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


@pytest.fixture(scope="session")
def postgres() -> Generator[Postgres]:
    """A throw-away PostgreSQL for the whole session; fast, for its commits wait for no disk."""
    try:
        with postgres_cluster() as cluster:
            yield cluster
    except PostgresMissing as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def durable_postgres() -> Generator[Postgres]:
    """The same with commits that reach the disk, for tests that kill processes."""
    try:
        with postgres_cluster(durable=True) as cluster:
            yield cluster
    except PostgresMissing as error:
        pytest.skip(str(error))


@pytest.fixture
async def postgres_url(request: pytest.FixtureRequest) -> AsyncGenerator[str]:
    """URL of an empty database of the test's own; of ``GROUNDWORK_TEST_POSTGRES``, emptied, where that is set."""
    if _POSTGRES:
        await _on_postgres(_POSTGRES, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
        yield _POSTGRES
        return
    cluster: Postgres = request.getfixturevalue("postgres")
    name = f"test_{uuid4().hex}"
    await _on_postgres(cluster.url(), f"CREATE DATABASE {name}")
    yield cluster.url(name)
    await _on_postgres(cluster.url(), f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def database_settings(request: pytest.FixtureRequest, settings: Settings) -> Settings:
    """Settings with the home's SQLite file, then with an empty PostgreSQL database."""
    settings.home_path.mkdir(exist_ok=True)
    if request.param == "sqlite":
        return settings
    url: str = request.getfixturevalue("postgres_url")
    return settings.model_copy(update={"database": DatabaseSettings(url=SecretStr(url))})


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


async def _on_postgres(url: str, *statements: str) -> None:
    engine = create_async_engine(url, isolation_level="AUTOCOMMIT")
    async with engine.connect() as connection:
        for statement in statements:
            await connection.execute(sa.text(statement))
    await engine.dispose()
