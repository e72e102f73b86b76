"""Rows straight from the driver: the way of the statements that read many of them, or run often.

Core compiles a statement once and remembers it, and the driver's own connection runs it, in the
transaction that is under way: one hop to SQLite's thread, one round trip to PostgreSQL with a
prepared statement. Core's execution context, result and rows cost half as much again for a
thousand rows, and several times as much for one.

What is different from `connection.execute`: all rows are there at once, and they are plain named
tuples. Listeners, errors and connections that were lost are as there.
"""

# ruff: noqa: SLF001 - how Core hands a statement to its driver has no public names. Its version is
# pinned, and the store's tests compare both ways.

import asyncio
import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, Executable
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.util.concurrency import greenlet_spawn

from toolfold.store.dialect import MODULE, read_rows
from toolfold.store.packing import packed, unpacked
from toolfold.store.preparing import Plan, prepared

MakeRows = Callable[[Iterable[Any]], list[Any]]
"""Makes rows of the values of each, in the order of the columns."""

T = TypeVar("T")


class Query(NamedTuple):
    """A SELECT, the values of its `bindparam`s, and what makes something of its rows.

    `make` is given the values of each row, one after the other. It `is_long` if it takes too long
    for the event loop. A statement with a LIMIT `is_page` if it has many rows: see `packing`.
    """

    statement: Executable
    parameters: Mapping[str, Any] | None = None
    make: Callable[[Iterable[Any]], Any] | None = None
    is_long: bool = False
    is_page: bool = False


Reading = Generator[Query, Any, T]
"""Yields queries, is sent the rows of each or what was made of them, and returns a result.

It runs on SQLite's thread, so it uses nothing that belongs to the event loop.
"""


class _FailedError(Exception):
    """A query of a reading that the driver failed at."""

    def __init__(self, error: Exception, sql: str, values: tuple[Any, ...]) -> None:
        super().__init__(sql)
        self.error = error
        self.sql = sql
        self.values = values


async def fetch(
    connection: AsyncConnection,
    statement: Executable,
    parameters: Mapping[str, Any] | None = None,
    make_rows: MakeRows | None = None,
) -> list[Any]:
    """Return all rows of a SELECT; `parameters` are values of its `bindparam`s.

    Rows are named tuples, or what `make_rows` makes of them.

    Raises:
        DBAPIError: as `connection.execute`.
    """
    core = connection.sync_connection
    if core is None or core.invalidated:
        # Core says what is wrong.
        core_rows = (await connection.execute(statement, parameters)).all()
        return list(core_rows) if make_rows is None else make_rows(core_rows)
    plan, sql, values = _asked(core, Query(statement, parameters))
    adapter: Any = core.connection.dbapi_connection
    try:
        found = await _run(core, adapter, sql, values)
    except BaseException as error:  # noqa: BLE001 - Core tells it, and gives up what is not to be used.
        await greenlet_spawn(_raise, core, adapter, error, sql, values)
    rows: list[Any] = plan.rows(found, make_rows)
    return rows


async def run(connection: AsyncConnection, reading: Reading[T]) -> T:
    """Return what a reading comes to; all of it takes one hop to SQLite's thread.

    Raises:
        DBAPIError: as `connection.execute`.
        Exception: whatever the reading raises.
    """
    core = connection.sync_connection
    if core is None or core.invalidated or core.dialect.name != "sqlite":
        return await _run_here(connection, reading)
    adapter: Any = core.connection.dbapi_connection
    driver = adapter.driver_connection
    driver.begin()
    try:
        result: T = await driver.run(partial(_run_there, core, reading))
    except _FailedError as failed:
        await greenlet_spawn(_raise, core, adapter, failed.error, failed.sql, failed.values)
    except asyncio.CancelledError as error:
        await greenlet_spawn(_raise, core, adapter, error, None, None)
    return result


async def _run_here(connection: AsyncConnection, reading: Reading[T]) -> T:
    try:
        query = next(reading)
        while True:
            statement, parameters, make, is_long, _ = query
            made = await fetch(connection, statement, parameters, None if is_long else make)
            if make is not None and is_long:
                made = await asyncio.to_thread(make, made)
            query = reading.send(made)
    except StopIteration as end:
        result: T = end.value
        return result


def _run_there(core: Connection, reading: Reading[T], raw: Any) -> T:
    """Run a reading on the thread of `raw`, the driver's own connection."""
    try:
        query = next(reading)
        while True:
            query = reading.send(_made_there(core, query, raw))
    except StopIteration as end:
        result: T = end.value
        return result


def _made_there(core: Connection, query: Query, raw: Any) -> Any:
    plan, sql, values = _asked(core, query)
    if query.is_page and plan.columns:
        # Whatever this fails at, the rows one by one fail at too, and tell; but for bytes where
        # the column is of text.
        with contextlib.suppress(MODULE.Error, ValueError):
            _, rows = read_rows(raw, packed(sql, plan.columns), values, unpacked)
            return plan.rows(rows, query.make)
    try:
        return read_rows(raw, sql, values, partial(plan.rows, make=query.make))[1]
    except MODULE.Error as error:
        raise _FailedError(error, sql, values) from error


def _asked(core: Connection, query: Query) -> tuple[Plan, str, Any]:
    """Return what a query needs, its SQL and its values, once those who listen have seen them."""
    plan: Plan
    plan, sql, values = prepared(core, query.statement, query.parameters or {})
    for told in core.dispatch.before_cursor_execute:
        sql, values = told(core, None, sql, values, None, False)  # noqa: FBT003 - as Core calls them.
    return plan, sql, values


async def _run(core: Connection, adapter: Any, sql: str, values: tuple[Any, ...]) -> Any:
    driver = adapter.driver_connection
    if core.dialect.name == "sqlite":
        driver.begin()
        _, rows = await driver.read(sql, values)
        return rows
    if adapter._transaction is None:
        await adapter._start_transaction()
    # It keeps the statements that it has prepared.
    return await driver.fetch(sql, *values)


def _raise(core: Connection, adapter: Any, error: BaseException, sql: str, values: Any) -> None:
    """Raise an error of the driver as Core does, which invalidates a connection that is lost."""
    try:
        if isinstance(error, Exception):
            adapter._handle_exception(error)
    except Exception as translated:  # noqa: BLE001 - the same error as the DB-API has it.
        error = translated
    try:
        # Core looks for it among what is being handled, and a cancelled task's is of no driver.
        raise error
    except BaseException:  # noqa: BLE001 - Core raises it.
        core._handle_dbapi_exception(error, sql, values, None, None)
