"""The database: opened once, read in short transactions, written by functions.

This module knows which of the two databases is in use; the store's other modules write Core
statements that run on both.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol, TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from toolfold.errors import DatabaseError
from toolfold.settings import Settings
from toolfold.store import migrations, postgresql, sqlite
from toolfold.store.exchange import Exchange
from toolfold.store.failures import told_while_connecting, told_while_running
from toolfold.store.migrations import SchemaState
from toolfold.store.readers import Readers

T = TypeVar("T")

_REFUSALS = {
    SchemaState.EMPTY: "The database is empty: `toolfold serve` and `toolfold import` set it up.",
    SchemaState.OLDER: "The database is of an older version: `toolfold migrate` upgrades it.",
    SchemaState.UNKNOWN: "The database is of another version of Toolfold than this one knows.",
    SchemaState.FOREIGN: "The database holds the tables of something other than Toolfold.",
}


class Backend(Protocol):
    """What differs between the databases."""

    @property
    def reader(self) -> AsyncEngine:
        """Makes connections that only read."""

    @property
    def readers(self) -> Readers:
        """Lends connections to those who read."""

    @property
    def engines(self) -> tuple[Engine, ...]:
        """All that send statements, for whoever listens to them."""

    async def prepare(self, *, create: bool) -> None:
        """Refuse a library or server that is not to be used; see to it that there is a file."""

    async def migrate(self) -> None:
        """Bring the schema up to date."""

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Run a function in a write transaction, to its end even if the caller is cancelled."""

    def exchange(self, told: Callable[[str], None]) -> AbstractAsyncContextManager[Exchange]:
        """Give a way to the other processes on this database."""

    async def close(self) -> None:
        """Finish the writes that were asked for and close every connection."""


class Database:
    """One open database. `dialect` is `sqlite` or `postgresql`."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.dialect = backend.reader.dialect.name
        self.engines = backend.engines

    @classmethod
    async def open(cls, settings: Settings, *, create: bool = False) -> "Database":
        """Open the database that the settings name, ready to use.

        `create` makes the SQLite file if there is none, and the schema in an empty database.

        Raises:
            DatabaseError: if it is absent, unreachable, empty and not to be created, of an
                older or unknown schema, or its server or library is of a version not to be used.
        """
        async with _connected(settings, create=create) as backend:
            state = await _schema_state(backend)
            if state is SchemaState.EMPTY and create:
                await backend.migrate()
                state = await _schema_state(backend)
            if state is not SchemaState.CURRENT:
                raise DatabaseError(_REFUSALS[state])
            return cls(backend)

    def read(self, *, single: bool = False) -> AbstractAsyncContextManager[AsyncConnection]:
        """Give a connection in a read-only transaction, which sees one state of the database.

        The transaction begins with the first statement. `single` says that a SELECT will be the
        only one, which sees one state by itself: on PostgreSQL that takes one round trip instead
        of three. Cancelling the task interrupts the statement that it waits for. Entering it, and
        what is read, raise a `DatabaseError` if the database fails or cannot be reached.
        """
        return _reading(self._backend.readers, single=single)

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Run `function` in one write transaction and return its result after the commit.

        `function` is synchronous Core code that sees the database as if it ran alone. It may
        run more than once, so it must change nothing but what it writes. It runs
        to its end even if the caller is cancelled while it waits; what it raises rolls back.

        Raises:
            DatabaseError: if the database fails, or stays locked or in conflict for too long.
        """
        with told_while_running():
            return await self._backend.write(function)

    def exchange(self, told: Callable[[str], None]) -> AbstractAsyncContextManager[Exchange]:
        """Give a way to the other processes on this database, on a connection of its own.

        `told` is called with each text that another process tells. Entering it, and what it gives,
        raise a `DatabaseError` if the database is out of reach.
        """
        return self._backend.exchange(told)

    async def close(self) -> None:
        """Finish the writes that were asked for and close every connection."""
        await self._backend.close()


async def migrate(settings: Settings) -> None:
    """Upgrade the database that the settings name to this version's schema, or make it.

    Raises:
        DatabaseError: if it cannot be reached, or is not one that can be upgraded.
    """
    async with _connected(settings, create=True) as backend:
        state = await _schema_state(backend)
        if state in (SchemaState.UNKNOWN, SchemaState.FOREIGN):
            raise DatabaseError(_REFUSALS[state])
        await backend.migrate()
        await backend.close()


@contextlib.asynccontextmanager
async def _connected(settings: Settings, *, create: bool) -> AsyncIterator[Backend]:
    """Give the backend of a version that can be used; closed if anything fails."""
    backend = _make_backend(settings)
    try:
        with told_while_connecting():
            await backend.prepare(create=create)
            yield backend
    except BaseException:
        await backend.close()
        raise


@contextlib.asynccontextmanager
async def _reading(readers: Readers, *, single: bool) -> AsyncIterator[AsyncConnection]:
    with told_while_connecting():
        connection = await readers.lend(single=single)
    try:
        with told_while_running():
            yield connection
    finally:
        await readers.take_back(connection)


def _make_backend(settings: Settings) -> Backend:
    if settings.database_url:
        return postgresql.PostgresqlBackend(postgresql.parse_url(settings.database_url))
    return sqlite.SqliteBackend(settings.data_dir / sqlite.FILE_NAME)


async def _schema_state(backend: Backend) -> SchemaState:
    async with backend.reader.connect() as connection:
        return await connection.run_sync(migrations.state)
