from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from pydantic import SecretStr

from app import migrations, tables
from app.database import HEAD_REVISION, open_database
from app.errors import DatabaseUnavailable
from app.settings import DatabaseSettings, Settings
from ingestion import tables as ingestion_tables
from tools import tables as tool_tables


@pytest.fixture(autouse=True)
def home_folder(settings: Settings) -> None:
    settings.home_path.mkdir(exist_ok=True)


async def test_migrations_make_exactly_the_tables_that_queries_use(database_settings: Settings) -> None:
    expected = sa.MetaData()
    for metadata in (tables.METADATA, ingestion_tables.METADATA, tool_tables.METADATA):
        for table in metadata.sorted_tables:
            table.to_metadata(expected)
    async with open_database(database_settings) as engine, engine.connect() as connection:
        differences = await connection.run_sync(
            lambda sync: compare_metadata(MigrationContext.configure(sync), expected)
        )
    assert differences == []


def test_head_revision_is_the_newest_migration() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrations.__file__).parent))
    config.set_main_option("path_separator", "os")
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD_REVISION


async def test_opening_twice_keeps_what_was_written(settings: Settings) -> None:
    values = {"thread_id": "t", "title": "", "origin": "chat", "created_at": "1", "updated_at": "1"}
    async with open_database(settings) as engine, engine.begin() as connection:
        await connection.execute(tables.threads.insert().values(values))
    async with open_database(settings) as engine, engine.connect() as connection:
        assert await connection.scalar(sa.select(sa.func.count()).select_from(tables.threads)) == 1


async def test_sqlite_is_durable_and_waits_for_locks(settings: Settings) -> None:
    async with open_database(settings) as engine, engine.connect() as connection:
        pragmas = {
            name: await connection.scalar(sa.text(f"PRAGMA {name}"))
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}


async def test_newer_schema_is_refused_with_what_to_do(settings: Settings) -> None:
    async with open_database(settings) as engine, engine.begin() as connection:
        await connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseUnavailable, match="newer version"):
        async with open_database(settings):
            pass


async def test_unreachable_server_is_named_without_its_password(settings: Settings) -> None:
    url = SecretStr("postgresql+asyncpg://user:hidden@127.0.0.1:1/groundwork")
    elsewhere = settings.model_copy(update={"database": DatabaseSettings(url=url)})
    with pytest.raises(DatabaseUnavailable, match=r"127\.0\.0\.1:1") as refusal:
        async with open_database(elsewhere):
            pass
    assert "hidden" not in str(refusal.value)


async def test_file_that_is_no_database_is_refused(settings: Settings) -> None:
    settings.home.database.write_bytes(b"not a database " * 100)
    with pytest.raises(DatabaseUnavailable):
        async with open_database(settings):
            pass
