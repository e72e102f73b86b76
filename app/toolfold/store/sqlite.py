"""SQLite, the embedded default: a safe library, one writer thread, a few readers.

The writer is a synchronous Core connection on a thread of its own: see `sqlite_writer`. It takes
the write lock when its transaction begins.
Another process may write the same file meanwhile: each waits up to `BUSY_SECONDS` for the other.
"""

import asyncio
import contextlib
import functools
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool, QueuePool

from toolfold.errors import DatabaseError
from toolfold.store import dialect, migrations, statistics
from toolfold.store.exchange import SqliteExchange
from toolfold.store.readers import HeldReaders
from toolfold.store.sqlite_writer import Writer

T = TypeVar("T")

FILE_NAME = "toolfold.db"
BUSY_SECONDS = 15
PAGE_BYTES = 8192
"""Twice SQLite's default: a message's light fields and previews, in any script, then lie in the
page itself. With 4,096 a row over 1,002 bytes would cost a page of its own to list."""

READERS = 4
"""Connections that read at the same time; each has a thread."""

_PRAGMAS = (
    "PRAGMA synchronous=FULL",
    "PRAGMA foreign_keys=ON",
    "PRAGMA temp_store=MEMORY",
    "PRAGMA cache_size=-32000",
    # Pages; by default a large import would have its log copied into the file at every commit.
    "PRAGMA wal_autocheckpoint=4000",
    "PRAGMA trusted_schema=OFF",
    "PRAGMA cell_size_check=ON",
    "PRAGMA journal_size_limit=67108864",
)


class SqliteBackend:
    """One SQLite file, for `engine.Database`."""

    def __init__(self, path: Path) -> None:
        self.reader = reader_engine(path)
        self.readers = HeldReaders(self.reader, READERS)
        self._path = path
        engine = writer_engine(path)
        self._writer = Writer(engine)
        self.engines = (self.reader.sync_engine, engine)

    async def prepare(self, *, create: bool) -> None:
        """Refuse a library that is not safe, and make the file if it may be made.

        Raises:
            DatabaseError: saying what to install, or that there is no file.
        """
        require_safe_library(dialect.MODULE.sqlite_version_info)
        require_file(self._path, create=create)

    async def migrate(self) -> None:
        """Bring the schema up to date."""
        await self._writer.run(migrate, self._path)

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Return what `function` returns once its transaction is committed.

        A cancelled caller stops waiting; the transaction runs to its end all the same.
        """
        return await self._writer.write(function)

    @contextlib.asynccontextmanager
    async def exchange(self, _told: Callable[[str], None]) -> AsyncIterator[SqliteExchange]:
        """Give what sees that the file was written; no process tells another by itself."""
        opening = asyncio.ensure_future(_open_reader(self._path))
        try:
            connection = await asyncio.shield(opening)
        except asyncio.CancelledError:
            # Its thread would answer to a loop that may be closed by then.
            await (await opening).close()
            raise

        async def data_version() -> int:
            # In no transaction: in one, it would stay as it was at the beginning.
            _, ((version,),) = await connection.read("PRAGMA data_version", ())
            return int(version)

        try:
            yield SqliteExchange(data_version)
        finally:
            await connection.close()

    async def close(self) -> None:
        """Finish the writes that were asked for, then close every connection."""
        await self.readers.close()
        await self.reader.dispose()
        await self._writer.close()


def require_safe_library(version: tuple[int, ...]) -> None:
    """Refuse a SQLite that can lose committed data when a write-ahead log is reset.

    Mended in 3.51.3, and in 3.50.7 and 3.44.6 for their branches.

    Raises:
        DatabaseError: saying which version is loaded and what to install.
    """
    mended = version >= (3, 51, 3) or any(
        version[:2] == branch[:2] and version >= branch for branch in ((3, 50, 7), (3, 44, 6))
    )
    if not mended:
        raise DatabaseError(
            f"SQLite {'.'.join(map(str, version))} can lose committed data (its WAL-reset bug):"
            " install the package pysqlite3, or a Python with SQLite 3.51.3 or later."
        )


def require_file(path: Path, *, create: bool) -> None:
    """See to it that the file is there, readable by its owner alone.

    Raises:
        DatabaseError: if it is not there and not to be made, or can't be made.
    """
    if path.exists():
        return
    if not create:
        raise DatabaseError(
            f"There is no database at {path}: `toolfold serve` and `toolfold import` make one."
        )
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise DatabaseError(f"Cannot make the database {path}: {error.strerror}.") from error


def migrate(path: Path) -> None:
    """Bring the schema up to date in one transaction, unless another process did meanwhile.

    Foreign keys are off, because rebuilding a table breaks them, and are checked at the end.
    """
    engine = writer_engine(path, foreign_keys=False)
    try:
        with engine.begin() as connection:
            migrations.upgrade(connection)
            statistics.tell(connection)
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise DatabaseError(f"The migration would break references of {broken[0]}.")
    finally:
        engine.dispose()


def writer_engine(path: Path, *, foreign_keys: bool = True) -> Engine:
    """Return an engine of one connection whose transactions hold the write lock."""
    return create_engine(
        dialect.WRITER,
        creator=functools.partial(_connect_writer, path, foreign_keys=foreign_keys),
        poolclass=QueuePool,
        pool_size=1,
        max_overflow=0,
        hide_parameters=True,
    )


def reader_engine(path: Path) -> AsyncEngine:
    """Return an engine of `READERS` connections that cannot write."""
    return create_async_engine(
        dialect.READER,
        async_creator=functools.partial(_open_reader, path),
        poolclass=AsyncAdaptedQueuePool,
        pool_size=READERS,
        max_overflow=0,
        pool_use_lifo=True,
        hide_parameters=True,
    )


async def _open_reader(path: Path) -> dialect.InterruptibleConnection:
    connection = dialect.InterruptibleConnection(functools.partial(_connect_reader, path))
    await connection
    return connection


def _connect(path: Path) -> Any:
    connection = dialect.MODULE.connect(
        f"{path.absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        factory=dialect.InterruptibleDriverConnection,
    )
    for pragma in _PRAGMAS:
        connection.execute(pragma)
    # SQLite's own knows only ASCII; titles are compared by it regardless of case.
    connection.create_function("lower", 1, _lower, deterministic=True)
    return connection


def _connect_writer(path: Path, *, foreign_keys: bool) -> Any:
    connection = _connect(path)
    # It takes effect in an empty file only, and before the log is set.
    connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
    # Half of a reader's, as an import is held to little memory: it is as fast with it.
    connection.execute("PRAGMA cache_size=-16000")
    _set_write_ahead_log(connection)
    if not foreign_keys:
        connection.execute("PRAGMA foreign_keys=OFF")
    return connection


def _connect_reader(path: Path) -> Any:
    connection = _connect(path)
    connection.execute("PRAGMA query_only=ON")
    return connection


def _set_write_ahead_log(connection: Any) -> None:
    """Switch the file to its write-ahead log, which does not wait for others by itself."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except dialect.MODULE.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()
