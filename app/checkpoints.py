"""Where parked runs are kept: LangGraph's own savers, over a file of the home or a schema of PostgreSQL."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from app.errors import DatabaseUnavailable
from app.settings import Settings

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from psycopg import AsyncConnection

SCHEMA = "groundwork_checkpoints"
"""Schema of the savers' tables in PostgreSQL; ours are in the connection's own."""
_MAX_CONNECTIONS = 4


@asynccontextmanager
async def open_checkpoints(settings: Settings) -> AsyncGenerator[BaseCheckpointSaver[str]]:
    """The saver, its tables made.

    Values of a checkpoint are plain JSON types; the serializer is told to load nothing else.

    Raises:
        DatabaseUnavailable: The file or the server cannot be used.
    """
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
    if settings.database.url is None:
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with aiosqlite.connect(settings.home.checkpoints) as connection:
            await connection.execute("PRAGMA synchronous=FULL")
            await connection.execute("PRAGMA busy_timeout=10000")
            saver = AsyncSqliteSaver(connection, serde=serializer)
            await saver.setup()
            yield saver
        return
    async with _postgres(settings.database.url.get_secret_value(), serializer) as saver:
        yield saver


@asynccontextmanager
async def _postgres(url: str, serializer: Any) -> AsyncGenerator[BaseCheckpointSaver[str]]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from psycopg import OperationalError
    from psycopg.rows import dict_row
    from psycopg_pool import AsyncConnectionPool

    async def use_schema(connection: AsyncConnection[Any]) -> None:
        await connection.execute(f"SET search_path TO {SCHEMA}")

    address = sa.make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)
    # Prepared statements and a transaction pooler in between do not go together.
    options = {"autocommit": True, "prepare_threshold": None, "row_factory": dict_row}
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        address,
        min_size=1,
        max_size=_MAX_CONNECTIONS,
        kwargs=options,
        configure=use_schema,
        check=AsyncConnectionPool.check_connection,
        open=False,
    )
    async with pool:
        try:
            async with pool.connection() as connection:
                await connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
            saver = AsyncPostgresSaver(pool, serde=serializer)
            await saver.setup()
        except OperationalError as error:
            raise DatabaseUnavailable(
                f"Parked runs cannot be kept in PostgreSQL ({error}); check [database] url and its rights."
            ) from error
        yield saver
