"""SQLAlchemy's SQLite dialects over the SQLite that Toolfold chose, one to write and one to read.

SQLAlchemy's own take the standard library's module. These take `sqlite.MODULE`, begin their
transactions themselves (the modules are left in autocommit), bind bytes as they are, and interrupt
a statement whose task was cancelled. Only `sqlite` uses them, by the names registered here.

A reader's thread is asked once for each statement: a way there and back costs as much as to read
fifty rows. So a transaction begins with its first statement, its end is not waited for, and a
statement's rows come with it. To read a single statement takes none: it sees one state by itself.
"""

import asyncio
import importlib
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from types import ModuleType, NoneType
from typing import Any, TypeVar

import aiosqlite
from sqlalchemy import Dialect, LargeBinary
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.aiosqlite import (
    AsyncAdapt_aiosqlite_connection,
    AsyncAdapt_aiosqlite_cursor,
    AsyncAdapt_aiosqlite_dbapi,
    SQLiteDialect_aiosqlite,
)
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util.concurrency import await_


def import_sqlite() -> ModuleType:
    """Return pysqlite3, or the standard module on platforms for which it has no wheel."""
    try:
        return importlib.import_module("pysqlite3.dbapi2")
    except ModuleNotFoundError:
        return importlib.import_module("sqlite3.dbapi2")


MODULE = import_sqlite()
"""The DB-API module in use: pysqlite3, which bundles a current SQLite, or the standard one."""

_INTERRUPT_AGAIN_SECONDS = 0.01

_T = TypeVar("_T")

WRITER = "sqlite+toolfold_writer://"
READER = "sqlite+toolfold_reader://"

registry.register("sqlite.toolfold_writer", __name__, "WriterDialect")
registry.register("sqlite.toolfold_reader", __name__, "ReaderDialect")


def _itself(value: _T) -> _T:
    return value


# The module takes these as they are, but only after a search for what may adapt them, and that
# costs more than to insert them.
for _kind in (NoneType, bytes):
    MODULE.register_adapter(_kind, _itself)


class _Bytes(LargeBinary):
    """Bytes that go to the module as they are, not as a view of them."""

    def bind_processor(self, _dialect: Dialect) -> None:
        """Process nothing."""


class WriterDialect(SQLiteDialect_pysqlite):
    """Takes the write lock when a transaction begins, so that none fails half-way for it."""

    driver = "toolfold_writer"
    supports_statement_cache = True
    colspecs = SQLiteDialect_pysqlite.colspecs | {LargeBinary: _Bytes}

    @classmethod
    def import_dbapi(cls) -> Any:
        """Return the chosen module."""
        return MODULE

    def do_begin(self, dbapi_connection: Any) -> None:
        """Begin the transaction that SQLAlchemy believes to be begun implicitly."""
        dbapi_connection.execute("BEGIN IMMEDIATE")


class ReaderDialect(SQLiteDialect_aiosqlite):
    """Reads on a thread per connection; each transaction sees one state of the database."""

    driver = "toolfold_reader"
    supports_statement_cache = True
    colspecs = SQLiteDialect_aiosqlite.colspecs | {LargeBinary: _Bytes}

    @classmethod
    def import_dbapi(cls) -> Any:
        """Return aiosqlite over the chosen module."""
        return _ReaderModule(aiosqlite, MODULE)

    def do_begin(self, dbapi_connection: Any) -> None:
        """Let the next statement begin the transaction."""
        dbapi_connection.driver_connection.begin()

    def do_rollback(self, dbapi_connection: Any) -> None:
        """End the transaction, which has changed nothing."""
        dbapi_connection.driver_connection.end()

    def do_commit(self, dbapi_connection: Any) -> None:
        """End the transaction, which has changed nothing."""
        dbapi_connection.driver_connection.end()


class _ReaderModule(AsyncAdapt_aiosqlite_dbapi):
    """aiosqlite as a DB-API module whose errors and version are the chosen module's."""

    def _init_dbapi_attributes(self) -> None:
        super()._init_dbapi_attributes()
        for name in vars(MODULE):
            if name.endswith("Error") or name.startswith("sqlite_version"):
                setattr(self, name, getattr(MODULE, name))

    def connect(self, *_: Any, async_creator_fn: Callable[[], Any], **__: Any) -> Any:
        """Return the connection that the engine's `async_creator` opens."""
        return await_(_ReaderConnection.create(self, async_creator_fn()))


class _Cursor(AsyncAdapt_aiosqlite_cursor):
    """A statement and all of its rows."""

    __slots__ = ("_description",)

    def __init__(self, adapt_connection: Any) -> None:
        self._adapt_connection = adapt_connection
        self._connection = adapt_connection.driver_connection
        self._description: Any = None
        self._rows = deque()

    @property
    def description(self) -> Any:
        """What the DB-API tells of the columns."""
        return self._description

    @property
    def rowcount(self) -> int:
        """Nothing: a reader changes no rows."""
        return -1

    async def _execute_async(self, operation: str, parameters: Any) -> None:
        self._description, rows = await self._connection.read(operation, parameters or ())
        self._rows = deque(rows)

    async def _async_soft_close(self) -> None:
        """Close nothing: the rows are here."""

    def close(self) -> None:
        """Forget the rows."""
        self._rows.clear()


class _ReaderConnection(AsyncAdapt_aiosqlite_connection):
    _cursor_cls = _Cursor
    __slots__ = ()


_DriverConnection: Any = MODULE.Connection


class InterruptibleDriverConnection(_DriverConnection):  # type: ignore[misc]  # known when run
    """The driver's connection, which is not interrupted while it is being closed.

    SQLite's manual: "It is not safe to call this routine with a database connection that is closed
    or might close before sqlite3_interrupt() returns." The driver's own check is too early.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_closing = False
        self._interrupting = threading.Lock()

    def interrupt(self) -> None:
        """Interrupt the statement that runs on another thread, unless that one is closing."""
        with self._interrupting:
            if not self._is_closing:
                super().interrupt()

    def close(self) -> None:
        """Close, once nobody is interrupting."""
        with self._interrupting:
            self._is_closing = True
        super().close()


class InterruptibleConnection(aiosqlite.Connection):
    """An aiosqlite connection that stops its statement when the waiting task is cancelled."""

    def __init__(self, connector: Callable[[], Any]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._begins = False
        self._has_begun = False
        self.begins_none = False
        """Whether a single statement is read, which needs no transaction."""
        # A process that ends without closing its database is not kept alive by this thread.
        self._thread.daemon = True

    def begin(self) -> None:
        """Let the next statement begin a transaction on its way, unless it is in one."""
        self._begins = not self.begins_none

    def end(self) -> None:
        """End the transaction, if there is one, before whatever is asked for next."""
        has_begun, self._begins, self._has_begun = self._has_begun, False, False
        if has_begun and self._connection is not None:
            # Nobody waits for it: it cannot fail, and what comes next is behind it in the queue.
            self._tx.put_nowait((None, partial(_end, self._connection)))

    async def read(self, sql: str, parameters: Any) -> tuple[Any, list[Any]]:
        """Return what the DB-API tells of a statement's columns, and all of its rows."""
        return await self._execute(read_rows, self._connection, sql, parameters)  # type: ignore[no-any-return]

    async def run(self, function: Callable[[Any], Any]) -> Any:
        """Return what a function makes of the driver's own connection, on its thread."""
        return await self._execute(function, self._connection)

    async def _execute(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        ended = threading.Event()
        connection, begins, self._begins = self._connection, self._begins, False
        self._has_begun |= begins

        def run() -> Any:
            try:
                if begins and connection is not None and not connection.in_transaction:
                    connection.execute("BEGIN")
                return fn(*args, **kwargs)
            finally:
                ended.set()

        try:
            # aiosqlite leaves it without types.
            return await super()._execute(run)  # type: ignore[no-untyped-call]
        except asyncio.CancelledError:
            # SQLAlchemy discards the connection now, and waits for the statement to do so.
            self._interrupt_until(ended)
            raise

    def _interrupt_until(self, ended: threading.Event) -> None:
        """Interrupt until the statement has ended: SQLite forgets an interrupt before it begins."""
        if self._connection is not None and not ended.is_set():
            self._connection.interrupt()
            loop = asyncio.get_running_loop()
            loop.call_later(_INTERRUPT_AGAIN_SECONDS, self._interrupt_until, ended)


def read_rows(
    connection: Any, sql: str, parameters: Any, make: Callable[[Any], Any] | None = None
) -> tuple[Any, Any]:
    """Read a statement's rows, or what `make` makes of them as they are read.

    Its cursor is closed here, on the connection's own thread. An error's traceback holds the
    cursor, and is dropped on any thread at any time: to reset the statement of a connection that
    another thread closes then ends the process.
    """
    cursor = connection.execute(sql, parameters)
    try:
        return cursor.description, cursor.fetchall() if make is None else make(cursor)
    finally:
        cursor.close()


def _end(connection: Any) -> None:
    if connection.in_transaction:
        connection.execute("ROLLBACK")
