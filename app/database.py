"""The database of threads, runs and both ledgers: SQLite in the home folder, or PostgreSQL by URL.

Knows connections and migrations; knows nothing of what the tables mean.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from app import migrations
from app.errors import DatabaseUnavailable
from app.settings import Settings

HEAD_REVISION = "0014"
"""The newest migration; a database that is there already opens without loading Alembic."""

_BUSY_TIMEOUT_MS = 10_000
_ADVISORY_LOCK = 5_247_211
"""Any number, the same in every replica: one of them migrates, the others wait."""


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncGenerator[AsyncEngine]:
    """The engine, with the schema at its newest state.

    Raises:
        DatabaseUnavailable: The database cannot be reached, written, or is of a newer version.
    """
    engine = create_async_engine(_url(settings), pool_pre_ping=settings.database.url is not None)
    if engine.dialect.name == "sqlite":
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    try:
        try:
            await _migrate(engine)
        except (SQLAlchemyError, OSError) as error:
            raise DatabaseUnavailable(
                f"The database {engine.url.render_as_string()!r} cannot be opened ({_first_line(error)}); "
                "check [database] url, that its server runs, and free disk space."
            ) from error
        yield engine
    finally:
        await engine.dispose()


def _url(settings: Settings) -> sa.URL:
    if settings.database.url is not None:
        return sa.make_url(settings.database.url.get_secret_value())
    return sa.URL.create("sqlite+aiosqlite", database=str(settings.home.database))


def _prepare_sqlite(connection: Any, _record: object) -> None:  # SQLAlchemy types the driver's connection as Any
    cursor = connection.cursor()
    # synchronous=FULL: an event that was acknowledged survives a power cut, not only a killed process.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_BUSY_TIMEOUT_MS}", "foreign_keys=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


async def _migrate(engine: AsyncEngine) -> None:
    async with engine.begin() as connection:
        if await _revision(connection) == HEAD_REVISION:
            return
        if engine.dialect.name == "sqlite":
            # The driver opens no transaction before DDL; without one a kill would leave half a schema.
            await connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_ADVISORY_LOCK)))
        await connection.run_sync(_upgrade)


async def _revision(connection: AsyncConnection) -> str | None:
    known = await connection.run_sync(lambda sync: sa.inspect(sync).has_table("alembic_version"))
    return await connection.scalar(sa.text("SELECT version_num FROM alembic_version")) if known else None


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util.exc import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise DatabaseUnavailable(
            f"The database has a schema this version does not know ({error}); use the newer version of Groundwork."
        ) from error


def _first_line(error: BaseException) -> str:
    original = getattr(error, "orig", None) or error
    return (str(original).strip() or type(original).__name__).splitlines()[0]
