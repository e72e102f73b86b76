"""PostgreSQL by asyncpg: for a team, where several processes serve one database.

Write transactions are SERIALIZABLE, so that a function which is right on SQLite, where it runs
alone, is right here too; one that PostgreSQL refuses for another's sake is run again while all
other writers wait.
"""

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from toolfold.errors import DatabaseError
from toolfold.store import migrations
from toolfold.store.exchange import PostgresqlExchange, postgresql_exchange
from toolfold.store.failures import sqlstate, told_while_connecting
from toolfold.store.postgresql_statistics import Statistics
from toolfold.store.readers import PooledReaders

_logger = logging.getLogger(__name__)

T = TypeVar("T")

MINIMUM_VERSION = 15
CONNECTIONS = 10
READERS = 8
"""How many of them read at the same time; the others are left to those who write."""

CONNECT_SECONDS = 10
RESTED_SECONDS = 10.0
"""A connection that was not used for so long is asked whether it is still there."""

ATTEMPTS = 5
"""How often a write transaction is tried before its conflict is told to the caller."""

_RETRIED = frozenset(
    {
        "40001",  # serialization_failure
        "40P01",  # deadlock_detected
        # A function that is right when it runs alone meets these only beside another that makes
        # or removes the same rows, where PostgreSQL's constraints are quicker than its snapshots.
        "23503",  # foreign_key_violation
        "23505",  # unique_violation
    }
)
_USED = "toolfold_used"
_MIGRATION_LOCK = 7878
_CONNECT_ARGUMENTS = {
    "timeout": CONNECT_SECONDS,
    # Pages are small queries: compiling them to machine code costs more than it saves.
    "server_settings": {"jit": "off", "application_name": "toolfold"},
}
# Taken first, before the transaction's view of the data is fixed, as PostgreSQL's manual says
# of LOCK TABLE. The first mode suffers its like, the second suffers readers alone.
_LOCK_BESIDE_OTHERS = "LOCK TABLE project IN ROW EXCLUSIVE MODE"
_LOCK_ALONE = "LOCK TABLE project IN EXCLUSIVE MODE"


class PostgresqlBackend:
    """One PostgreSQL database, for `engine.Database`."""

    def __init__(self, url: URL) -> None:
        self._engine = make_engine(url)
        self._writer = self._engine.execution_options(isolation_level="SERIALIZABLE")
        self.reader = self._engine.execution_options(
            isolation_level="REPEATABLE READ", postgresql_readonly=True
        )
        # A statement that is alone sees one state without a transaction, which would cost two more
        # round trips.
        single_reader = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self.readers = PooledReaders(self.reader, single_reader, READERS)
        for engine in (self.reader, single_reader):
            event.listen(engine.sync_engine, "before_cursor_execute", _replace_nul, retval=True)
        self._statistics = Statistics(_make_engine_beside(url))
        self._running: set[asyncio.Task[object]] = set()
        self.engines = (self._engine.sync_engine,)

    async def prepare(self, *, create: bool) -> None:  # noqa: ARG002 - a server is no file.
        """Refuse a server that is too old.

        Raises:
            DatabaseError: naming the version that was found, or what in the URL is not known.
        """
        try:
            async with self.reader.connect() as connection:
                text = (await connection.exec_driver_sql("SHOW server_version")).scalar_one()
        except TypeError as error:
            # asyncpg takes the URL's parameters as arguments.
            raise DatabaseError(f"TOOLFOLD_DATABASE_URL cannot be used: {error}.") from error
        require_version(text)

    async def migrate(self) -> None:
        """Bring the schema up to date in one transaction, one process after the other."""
        async with self._engine.begin() as connection:
            await connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
            await connection.run_sync(migrations.upgrade)

    async def write(self, function: Callable[[Connection], T]) -> T:
        """Return what `function` returns once its transaction is committed.

        A cancelled caller stops waiting; the transaction runs to its end all the same.
        """
        written = await asyncio.shield(self._start(self._transact(function)))
        if self._statistics.are_due():
            self._start(self._gather_statistics())
        return written

    def exchange(
        self, told: Callable[[str], None]
    ) -> AbstractAsyncContextManager[PostgresqlExchange]:
        """Give a way to the other processes, by LISTEN and NOTIFY."""
        # Not one of the pool's: it is held for as long as the process serves.
        return postgresql_exchange(_make_engine_beside(self._engine.url), told)

    async def close(self) -> None:
        """Finish the writes that were asked for, then close every connection."""
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._engine.dispose()

    def _start(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin what is to end before the backend is closed."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    async def _gather_statistics(self) -> None:
        try:
            await self._statistics.gather()
        except (DBAPIError, OSError):
            # Nobody asked for them, and the next write tells if the database is gone.
            _logger.warning("PostgreSQL's tables could not be analysed.", exc_info=True)

    async def _transact(self, function: Callable[[Connection], T]) -> T:
        lock = _LOCK_BESIDE_OTHERS
        for _ in range(ATTEMPTS - 1):
            try:
                return await self._try(function, lock)
            except DBAPIError as error:
                if not is_conflict(error):
                    raise
            lock = _LOCK_ALONE
        return await self._try(function, lock)

    async def _try(self, function: Callable[[Connection], T], lock: str) -> T:
        async with contextlib.AsyncExitStack() as stack:
            with told_while_connecting():
                connection = await stack.enter_async_context(self._writer.begin())
            await connection.exec_driver_sql(lock)
            return await connection.run_sync(function)


def is_conflict(error: DBAPIError) -> bool:
    """Say whether the transaction failed only because of another that ran beside it."""
    return sqlstate(error) in _RETRIED


def parse_url(text: str) -> URL:
    """Return the URL with asyncpg as its driver; `sslmode`, libpq's name, is asyncpg's `ssl`.

    Raises:
        DatabaseError: if it is no PostgreSQL URL. The message does not repeat it: it may hold
            a password.
    """
    try:
        url = make_url(text)
    except (ArgumentError, ValueError) as error:
        raise DatabaseError("TOOLFOLD_DATABASE_URL is not a URL.") from error
    if url.drivername not in ("postgresql", "postgresql+asyncpg"):
        raise DatabaseError(
            "TOOLFOLD_DATABASE_URL must begin with postgresql:// or postgresql+asyncpg://"
            f" (got {url.drivername}://). Without it SQLite is used."
        )
    if "sslmode" in url.query:
        ssl = url.query["sslmode"]
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": ssl})
    return url.set(drivername="postgresql+asyncpg")


def make_engine(url: URL) -> AsyncEngine:
    """Return the pool that reads and writes share."""
    engine = create_async_engine(
        url,
        pool_size=CONNECTIONS,
        max_overflow=0,
        # The connection that was used last is the likeliest to need no ping.
        pool_use_lifo=True,
        # An error is logged, and parameters hold what is in transcripts.
        hide_parameters=True,
        connect_args=_CONNECT_ARGUMENTS,
    )
    event.listen(engine.sync_engine, "checkin", _note_use)
    event.listen(engine.sync_engine, "checkout", _require_life)
    return engine


def _note_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info[_USED] = time.monotonic()


def _require_life(connection: Any, record: ConnectionPoolEntry, _proxy: Any) -> None:
    """Have a connection replaced that has ended; ask only one that has rested.

    The driver knows when the server ends a connection, but not when the way to it was cut. To ask
    takes three round trips, which SQLAlchemy's own `pool_pre_ping` takes before every read.

    Raises:
        DisconnectionError: if it is not to be used.
    """
    if connection.driver_connection.is_closed():
        raise DisconnectionError
    used = record.info.get(_USED)
    if used is not None and time.monotonic() - used > RESTED_SECONDS:
        try:
            connection.ping()
        except Exception as error:
            raise DisconnectionError from error


def _make_engine_beside(url: URL) -> AsyncEngine:
    """Return what connects anew each time, beside the pool, and is in no transaction."""
    return create_async_engine(
        url, poolclass=NullPool, isolation_level="AUTOCOMMIT", connect_args=_CONNECT_ARGUMENTS
    )


def _replace_nul(
    _connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any
) -> tuple[str, Any]:
    """Ask for U+FFFD in the place of NUL, which PostgreSQL refuses even to compare with.

    No stored text has one: it became U+FFFD on the way in.
    """
    return statement, _without_nul(parameters)


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list | tuple):
        return type(value)(map(_without_nul, value))
    return value


def require_version(text: str) -> None:
    """Refuse a server that is too old; `text` is its `server_version`, such as `15.20 (Debian)`.

    Raises:
        DatabaseError: naming the version that was found.
    """
    if int(re.split(r"\D", text, maxsplit=1)[0]) < MINIMUM_VERSION:
        raise DatabaseError(f"PostgreSQL {text} is too old: {MINIMUM_VERSION} or later is needed.")
