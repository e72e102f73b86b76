"""Databases on a PostgreSQL server for tests, made once and emptied after each test.

To copy and to drop one for each test would write some 8 MB each time.
"""

import asyncio
import contextlib
import itertools
import os
from collections.abc import Iterator
from typing import Any

import asyncpg  # type: ignore[import-untyped]  # It has no type stubs.
from sqlalchemy import delete, make_url

from toolfold.settings import Settings
from toolfold.store import engine
from toolfold.store.tables import metadata

SERVER_URL = os.environ.get(
    "TOOLFOLD_TEST_DATABASE_URL", "postgresql://postgres@127.0.0.1:5432/postgres"
)

_SHAPE = (
    "SELECT count(*), max(oid::bigint), (SELECT min(version_num) FROM alembic_version)"
    " FROM pg_class WHERE relnamespace = 'public'::regnamespace"
)
_EMPTY = "; ".join(
    [
        "SET lock_timeout = '5s'",
        *(str(delete(table)) for table in reversed(metadata.sorted_tables)),
        "INSERT INTO project VALUES ('default', 'default', '2026-01-01T00:00:00.000Z')",
    ]
)


def problem() -> str | None:
    """Return why the server cannot be used, None if it answers."""
    try:
        _fetch(SERVER_URL, "SELECT 1")
    except (OSError, TimeoutError, asyncpg.PostgresError) as error:
        return str(error)
    return None


@contextlib.contextmanager
def new_database() -> Iterator[str]:
    """Make a database for as long as the block runs and give its URL."""
    name = f"toolfold_test_{os.getpid()}_{next(_numbers)}"
    _fetch(SERVER_URL, f"CREATE DATABASE {name}")
    url = make_url(SERVER_URL).set(database=name)
    try:
        yield url.render_as_string(hide_password=False)
    finally:
        _fetch(SERVER_URL, f"DROP DATABASE {name} WITH (FORCE)")


_numbers = itertools.count()


class Pool:
    """Databases of the current schema, handed out one at a time and emptied when they return."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self._free: list[tuple[str, list[Any]]] = []

    @contextlib.contextmanager
    def database(self) -> Iterator[str]:
        """Give the URL of a database with the project `default` and nothing else."""
        url, shape = self._free.pop() if self._free else self._make()
        yield url
        # One whose schema a test has changed is not used again.
        with contextlib.suppress(asyncpg.PostgresError):
            _fetch(url, _EMPTY)
            if _fetch(url, _SHAPE) == shape:
                self._free.append((url, shape))

    def close(self) -> None:
        """Drop every database."""
        self._stack.close()

    def _make(self) -> tuple[str, list[Any]]:
        url = self._stack.enter_context(new_database())
        asyncio.run(engine.migrate(Settings(database_url=url)))
        return url, _fetch(url, _SHAPE)


def _fetch(url: str, statement: str) -> list[Any]:
    async def fetch() -> list[Any]:
        connection = await asyncpg.connect(url.replace("+asyncpg", "", 1), timeout=10)
        try:
            if ";" in statement:
                return [await connection.execute(statement)]
            return [tuple(row) for row in await connection.fetch(statement)]
        finally:
            await connection.close()

    return asyncio.run(fetch())
